/** A client that disconnects this soon after its request has probably sent another one, on which the builds close the connection. */
const SOON_MS = 5
const REPORT_PAUSE_MS = 3_600_000

/**
 * Tells operators why answers may be missing: the builds of uWebSockets.js close a connection on which a request arrives before the
 * previous one is answered (pipelining). They report that like a client that disconnects. The library does so before it calls JavaScript, and
 * its author does not intend to change it (issues 277 and 1301 of uWebSockets.js).
 */
export class PipeliningHint {
  #reportedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly transport: string,
    private readonly onWarning: ((text: string) => void) | undefined,
  ) {}

  /** @param startedAt time of the request that cannot be answered; 0 if it is not known */
  aborted(startedAt: number): void {
    const now = performance.now()
    if (startedAt === 0 || now - startedAt > SOON_MS || now - this.#reportedAt < REPORT_PAUSE_MS) return
    this.#reportedAt = now
    this.onWarning?.(
      `a connection ended right after a request, before its answer: if its client does not wait for answers (pipelining), set server.transport to node-http; ${this.transport} closes such connections`,
    )
  }
}
