import type { SessionChanges, SessionData } from './session-data.ts'

/** A caller that waits for an answer. */
export interface Caller {
  readonly aborted: boolean
  /** Calls `callback` once when the caller stops waiting. */
  onAborted(callback: () => void): void
  /** Called with the number of rows that a query has examined, even if it failed; for quotas. */
  examined?: ((rows: number) => void) | undefined
  /** Called with the number of rows of a page. */
  sent?: ((rows: number) => void) | undefined
  /** Called after each piece of work that another thread did for the caller. */
  ran?: ((work: WorkElsewhere) => void) | undefined
  /** `traceparent` (W3C) if the caller sent a valid one; otherwise empty or undefined. */
  readonly traceparent?: string | undefined
  /** Session of the caller, for code that runs for it; undefined for the server itself. */
  session?: (() => CallerSession) | undefined
}

/** Name of a caller's user; empty for a guest and for the server itself. */
export const userOf = (caller: Caller | undefined): string => caller?.session?.().data.userName ?? ''

/** Id of a caller's trace, for log lines; undefined: it sent none. */
export const traceOf = (caller: Pick<Caller, 'traceparent'> | undefined): string | undefined =>
  caller?.traceparent ? caller.traceparent.slice(3, 35) : undefined

/** Work in another thread, with the time that it waited for the thread. */
export interface WorkElsewhere {
  readonly where: 'pool' | 'vector' | 'function' | 'remote' | 'writer'
  readonly waitedMs: number
  readonly ranMs: number
}

/** The session of a request, for the code that runs for it. */
export interface CallerSession {
  readonly data: SessionData
  /** Network of a guest; undefined for others. */
  readonly guestNetwork?: string | undefined
  /** Applies changes by the code, before the request is answered. @throws {ProtocolError} if they cannot be applied */
  change(changes: SessionChanges): Promise<void>
}
