import type { Session, SessionRecord } from './session.ts'

/** A one-time token of a session, by its hash. */
export interface NewToken {
  readonly hash: string
  readonly seconds: number
}

/** Called with a session that must end because a quota is exceeded, or that another server has ended. */
export type OnEnded = (session: Session) => void

/** A store of sessions with a record, some of which this server has in memory. */
export interface SessionStore {
  /**
   * Loads the session with a handle, or the hash of a further id, into memory. {@link find} does not find it before that. Absent if that
   * method finds all sessions.
   * @returns undefined if it is in memory, or is known not to exist
   */
  fetch?(hash: string): Promise<void> | undefined
  /** A session in memory, by its handle. */
  inMemory(handle: string): Session | undefined
  /** Finds a session by its handle, or the hash of a further id. @param id id of the session, if the caller knows it */
  find(hash: string, id?: string): Session | undefined
  /**
   * Changes the record of a session and stores it, even if the session has no record yet. An ended session stays ended. Resolves when it is
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
  /** Number of sessions; sessions of an earlier run, and of other servers, are included after a minute at most. */
  readonly count: { guests: number; users: number }
  /** Removes expired sessions and secrets. @param end ends a session */
  sweep(end: (session: Session) => Promise<void>): Promise<void>
  /** Stores the latest uses. */
  close(): Promise<void>
}
