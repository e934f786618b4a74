import { EdgeErrors } from './edge-errors.ts'
import type { TransportRequest } from './transport.ts'

/** Headers that are read by what answers a request. */
const HEADERS = [
  'accept',
  'content-type',
  'cookie',
  'host',
  'if-none-match',
  'if-range',
  'origin',
  'range',
  'user-agent',
]

/**
 * A request whose head and body can still be read after an `await`: its headers are copied and its body is asked for now,
 * whole, with the limits of `body()`, also when it is going to be wanted in pieces.
 */
export function keepForTurns(request: TransportRequest): TransportRequest {
  const { method, path, query, remoteAddress } = request
  const headers = new Map(HEADERS.map(name => [name, request.header(name)]))
  const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
  const body = hasBody ? request.body() : Promise.resolve(new Uint8Array(0))
  // Its failure is for whoever asks for it.
  body.catch(() => {})
  return {
    method,
    path,
    query,
    remoteAddress,
    header: name => headers.get(name) ?? '',
    body: () => body,
    async streamBody(take, { bodyBytes }) {
      const whole = await body
      if (whole.length > bodyBytes) throw EdgeErrors.BODY_TOO_LARGE(bodyBytes)
      if (whole.length > 0) await take(whole)
    },
    get aborted() {
      return request.aborted
    },
    onAborted: callback => request.onAborted(callback),
    examined: rows => request.examined?.(rows),
  }
}
