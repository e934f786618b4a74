import type { Test } from 'tap'
import { ProtocolError } from '../../../engine/base/errors.ts'
import { errorResponse } from '../../../kernel/transport/answer.ts'
import { selectTransport } from '../../../kernel/transport/select.ts'
import type {
  Transport,
  TransportHandler,
  TransportLimits,
  TransportName,
  TransportOptions,
  TransportRequest,
  TransportResponse,
} from '../../../kernel/transport/transport.ts'

export const testLimits: TransportLimits = {
  // The default of the option: the first `selectTransport` of a process decides what the current uWebSockets.js accepts.
  headerBytes: 64 * 1024,
  bodyBytes: 16 * 1024 * 1024,
  requestTimeoutMs: 30_000,
  idleTimeoutMs: 10_000,
  refuseChunked: false,
  answerTimeoutMs: 10_000,
  minAnswerRate: 0,
}

/** Transports that load on this machine. */
export const loadableTransports = (['uws', 'uws-node20', 'node-http'] as const).filter(name => {
  try {
    selectTransport(name, testLimits.headerBytes)
    return true
  } catch {
    return false
  }
})

/** Wraps a handler so that errors of the protocol become answers, as in the kernel. */
export function answeringErrors(handler: (request: TransportRequest) => Promise<TransportResponse>): TransportHandler {
  return request =>
    handler(request).catch(error => {
      if (error instanceof ProtocolError) return errorResponse(error)
      throw error
    })
}

/** A server on a free port of 127.0.0.1 that stops with the test. */
export async function startTransport(
  t: Test,
  name: TransportName,
  handler: TransportHandler,
  {
    limits,
    ...options
  }: Partial<Omit<TransportOptions, 'limits'>> & { limits?: Partial<TransportLimits> | undefined } = {},
): Promise<Transport> {
  const { start } = selectTransport(name, testLimits.headerBytes)
  const transport = await start(
    { host: '127.0.0.1', port: 0, ...options, limits: { ...testLimits, ...limits } },
    handler,
  )
  t.teardown(() => transport.close(0))
  return transport
}
