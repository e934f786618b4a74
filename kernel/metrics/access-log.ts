import type { Logger } from 'pino'
import { traceOf } from '../../engine/index.ts'
import type { Visit } from '../session/sessions.ts'
import type { FinishedRequest, TransportRequest, TransportResponse } from '../transport/transport.ts'
import { shownPath } from '../url/shown-path.ts'

/** Maximum number of characters of a `User-Agent` in a line: browsers send up to 200. */
const MAX_AGENT = 300

/** Facts of a request that cannot be read when it is over. */
interface Arrival {
  readonly agent: string
  readonly visit?: Visit
  /** Name of the user at the beginning; a logout ends the session. */
  readonly user?: string | undefined
}

/**
 * Writes a line for each request when it is over, and for each request that a plugin makes within the server. The lines contain names of
 * users and keys, but no session, key, password or query string.
 */
export class AccessLog {
  private readonly arrivals = new WeakMap<TransportRequest, Arrival>()

  constructor(private readonly log: Logger) {}

  /** To be called with each request while its headers can be read. */
  arrive(request: TransportRequest): void {
    this.arrivals.set(request, { agent: request.header('user-agent').slice(0, MAX_AGENT).toWellFormed() })
    // The address of a peer is unknown when the connection has ended; the client remembers it.
    void request.client
  }

  /** To be called when the caller is known. */
  identify(request: TransportRequest, visit: Visit): void {
    this.arrivals.set(request, { agent: '', ...this.arrivals.get(request), visit, user: userOf(visit) })
  }

  finish(request: FinishedRequest, ms: number): void {
    const { status, aborted, answerBytes: bytes } = request
    const { agent, visit, user } = this.arrivals.get(request) ?? {}
    this.write(request, {
      user: (visit && userOf(visit)) ?? user,
      status: aborted ? 'aborted' : status,
      ms,
      bytes,
      agent: agent || undefined,
    })
  }

  /** @param outer request of the client */
  finishInner(
    request: TransportRequest,
    outer: TransportRequest,
    visit: Visit,
    { status, body }: TransportResponse,
    ms: number,
  ): void {
    this.write(request, { user: userOf(visit), status, ms, bytes: sizeOf(body), within: outer.path })
  }

  private write(
    request: TransportRequest,
    {
      user,
      status,
      ms,
      ...more
    }: { user: string | undefined; status: number | string; ms: number; [more: string]: unknown },
  ): void {
    const { client, method, path } = request
    this.log.info(
      {
        client: client.address,
        user,
        method,
        path: shownPath(path),
        status,
        ms: Math.round(ms * 1000) / 1000,
        ...more,
        trace: traceOf(request),
      },
      'request',
    )
  }
}

const userOf = ({ session }: Visit): string | undefined => (session.isGuest ? undefined : session.userName || undefined)

/** Bytes of a body; undefined for a stream, whose length is not known. */
function sizeOf(body: TransportResponse['body']): number | undefined {
  if (typeof body === 'string') return Buffer.byteLength(body)
  if (body instanceof Uint8Array) return body.byteLength
  return 'size' in body ? body.size : undefined
}
