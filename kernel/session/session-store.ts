import type { Session, SessionRecord } from './session.ts'

/** A one-time token of a session, by its hash. */
export interface NewToken {
  readonly hash: string
  readonly seconds: number
}

/** Called with a session that must end because a quota is exceeded, or that has ended by another server. */
export type OnEnded = (session: Session) => void

/** A place in which sessions with a record are, and those that this server has in memory. */
export interface SessionStore {
  /**
   * Brings the session with a handle, or the hash of a further id, into memory. Until it is there, {@link find} does not know it. Absent
   * if that finds all.
   * @returns undefined if it is there, or is known not to exist
   */
  fetch?(hash: string): Promise<void> | undefined
  /** A session in memory, by its handle. */
  inMemory(handle: string): Session | undefined
  /** A session by its handle, or the hash of a further id. @param id if the caller knows it */
  find(hash: string, id?: string): Session | undefined
  /**
   * Changes the record of a session and stores it, also one that has no record yet. One that has ended stays ended. Resolves when it is
   * durable.
   * @param change called again if another server has changed the record meanwhile
   */
  update(session: Session, change: (record: SessionRecord) => void, tokens?: readonly NewToken[]): Promise<void>
  /** Stores the time until which a session lasts. */
  extend(session: Session): Promise<void>
  /** Takes a session out of memory; {@link remove} must follow. */
  forget(handle: string): void
  /** Removes the record of a session, if there is one, with its secrets. Resolves when that is durable. */
  remove(session: Session): Promise<void>
  /** Uses up a one-time token. Resolves when that is durable. @returns its session; undefined if it is not valid */
  redeem(hash: string): Promise<Session | undefined>
  /** Gives a session a further id. */
  addAlias(session: Session): Promise<string>
  /** All sessions, including those that have ended. The caller may wait after each. */
  all(): AsyncIterable<Session>
  list(limit: number): Session[] | Promise<Session[]>
  /** Number of sessions; those of an earlier run, and of other servers, are counted within a minute. */
  readonly count: { guests: number; users: number }
  /** Removes what has expired. @param end ends a session */
  sweep(end: (session: Session) => Promise<void>): Promise<void>
  /** Stores the latest uses. */
  close(): Promise<void>
}
