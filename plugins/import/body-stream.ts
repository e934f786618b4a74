import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RestRequest } from '../../kernel/api.ts'

/** Maximum number of bytes that wait to be read; beyond it, the client has to wait. */
const HELD_BYTES = 2 ** 20
/** Number of bytes read in one step: other requests are answered between steps. */
const PIECE_BYTES = 16 * 1024
/** Limits of a body: none for its size, since rows are saved as they arrive. */
const LIMITS = { bodyBytes: Number.MAX_SAFE_INTEGER, totalTimeoutMs: 24 * 3_600_000 }

/**
 * The body of a request, in small pieces. Call it before the first `await`.
 * @param signal ends the stream
 * @returns `end`: to be called when reading ends
 */
export function receiveRows(request: RestRequest, signal: AbortSignal): { bytes: AsyncIterable<Buffer>; end(): void } {
  const stream = new PassThrough({ highWaterMark: HELD_BYTES })
  const endController = new AbortController()
  /** Shared by the pieces that were received before the client was told to wait. */
  let drain: Promise<void> | undefined
  // The bytes of a piece are valid during the call.
  const take = (piece: Uint8Array): undefined | Promise<void> => {
    if (stream.destroyed || stream.write(Buffer.from(piece))) return
    drain ??= once(stream, 'drain', { signal: endController.signal })
      .catch(() => {})
      .then(() => {
        drain = undefined
      })
    return drain
  }
  request.streamBody(take, LIMITS).then(
    () => stream.end(),
    error => stream.destroy(error),
  )
  const end = (): void => {
    endController.abort()
    stream.destroy()
  }
  signal.addEventListener('abort', end, { once: true })
  // The reader handles failures.
  stream.on('error', () => {})
  return { bytes: pieces(stream, signal), end }
}

async function* pieces(stream: PassThrough, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        yield chunk.subarray(at, at + PIECE_BYTES)
        await nextTurn()
      }
    }
  } catch (error) {
    // The rows that have arrived are saved.
    if (!signal.aborted) throw error
  }
}
