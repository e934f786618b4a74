import type { SessionChanges, SessionData } from './session-data.ts'

/** Caller that waits for an answer. */
export interface Caller {
  readonly aborted: boolean
  /** Calls back once when the caller has stopped waiting. */
  onAborted(callback: () => void): void
  /** Told how many rows a query has looked at, also one that failed; for quotas. */
  examined?: ((rows: number) => void) | undefined
  /** Called with the number of rows that a page has. */
  sent?: ((rows: number) => void) | undefined
  /** Called after each piece of work that another thread did for it. */
  ran?: ((work: WorkElsewhere) => void) | undefined
  /** `traceparent` of the W3C, when the caller sent a valid one; otherwise empty or undefined. */
  readonly traceparent?: string | undefined
  /** Session of the caller, for code that runs for it; undefined: the server itself. */
  session?: (() => CallerSession) | undefined
}

/** Id of the trace that a caller belongs to, for log lines; undefined: it has named none. */
export const traceOf = (caller: Pick<Caller, 'traceparent'> | undefined): string | undefined =>
  caller?.traceparent ? caller.traceparent.slice(3, 35) : undefined

/** Work in another thread, and how long it waited for that thread. */
export interface WorkElsewhere {
  readonly where: 'pool' | 'vector' | 'function' | 'writer'
  readonly waitedMs: number
  readonly ranMs: number
}

/** The session of a request, for the code that runs for it. */
export interface CallerSession {
  readonly data: SessionData
  /** Network of a guest; undefined for others. */
  readonly guestNetwork?: string | undefined
  /** Told what the code has done to it, before the request is answered. @throws {ProtocolError} that cannot be */
  change(changes: SessionChanges): Promise<void>
}
