import type { SharedDatabase } from './shared-database.ts'

/** A session as the table has it. */
export interface SharedSession {
  /** Hash of the id. */
  readonly handle: string
  /** Counts changes of the record. */
  readonly version: number
  /** JSON. */
  readonly record: string
  /** Milliseconds since 1970. */
  readonly expires: number
}

/** A session as it is written. */
interface SessionContent extends Pick<SharedSession, 'handle' | 'record' | 'expires'> {
  /** Name of the group against whose maximum the session counts. */
  readonly owner: string
  readonly isGuest: boolean
}

/** A secret that identifies a session: a further id, or a one-time token. Stored under its hash. */
interface SessionSecret {
  readonly kind: 'alias' | 'token'
  readonly hash: string
  readonly expires: number
}

const COLUMNS = 's.handle, s.version, s.record, s.expires'
/** Maximum number of rows that one statement removes or lists. */
const SLICE = 1_000

/** Sessions of all servers. */
export class SessionTable {
  constructor(private readonly database: SharedDatabase) {}

  /** A session that has not expired, by its handle or the hash of a further id. */
  async find(hash: string, now: number): Promise<SharedSession | undefined> {
    const [cells] = await this.database.query(
      `SELECT ${COLUMNS} FROM tesser.session s WHERE s.handle = $1 AND s.expires > $2::bigint
       UNION ALL SELECT ${COLUMNS} FROM tesser.session_secret a JOIN tesser.session s ON s.handle = a.session
       WHERE a.hash = $1 AND a.kind = 'alias' AND a.expires > $2::bigint AND s.expires > $2::bigint`,
      hash,
      String(now),
    )
    return cells && sessionOf(cells)
  }

  /**
   * Adds a session.
   * @param most maximum number of sessions of its owner
   * @returns handles of the oldest sessions, which were ended to make room; undefined if a session with this handle exists
   */
  async add(
    session: SessionContent,
    secrets: readonly SessionSecret[],
    most: number,
    now: number,
  ): Promise<string[] | undefined> {
    const { handle, record, expires, owner, isGuest } = session
    return this.database.transaction(async run => {
      const insertedRows = await run({
        text: `INSERT INTO tesser.session AS s (handle, record, expires, owner, is_guest) VALUES ($1, $2, $3::bigint, $4, $5::boolean)
          ON CONFLICT (handle) DO UPDATE SET record = excluded.record, expires = excluded.expires, version = 1
          WHERE s.expires <= $6::bigint RETURNING true`,
        values: [handle, record, String(expires), owner, String(isGuest), String(now)],
      })
      if (insertedRows.length === 0) return undefined
      for (const secret of secrets) await run(secretStatement(handle, secret))
      const excess = await run({
        text: `DELETE FROM tesser.session WHERE handle IN (
            SELECT handle FROM tesser.session WHERE owner = $1 ORDER BY made_at DESC OFFSET $2::int
          ) RETURNING handle`,
        values: [owner, String(most)],
      })
      return excess.map(([handle]) => handle!)
    })
  }

  /**
   * Changes a session if it still has the given version.
   * @returns false if it has another version, or has ended
   */
  async change(session: SessionContent, version: number, secrets: readonly SessionSecret[]): Promise<boolean> {
    const { handle, record, expires } = session
    const update = {
      text: `UPDATE tesser.session SET record = $2, expires = $3::bigint, version = version + 1
        WHERE handle = $1 AND version = $4::bigint RETURNING true`,
      values: [handle, record, String(expires), String(version)],
    }
    if (secrets.length === 0) return (await this.database.query(update.text, ...update.values)).length > 0
    return this.database.transaction(async run => {
      const isDone = (await run(update)).length > 0
      if (isDone) for (const secret of secrets) await run(secretStatement(handle, secret))
      return isDone
    })
  }

  async addSecret(handle: string, secret: SessionSecret): Promise<void> {
    const { text, values } = secretStatement(handle, secret)
    await this.database.query(text, ...values)
  }

  /** Extends the life of a session. */
  async extend(handle: string, expires: number): Promise<void> {
    await this.database.query(
      'UPDATE tesser.session SET expires = $2::bigint WHERE handle = $1 AND expires < $2::bigint',
      handle,
      String(expires),
    )
  }

  async remove(handle: string): Promise<void> {
    await this.database.query('DELETE FROM tesser.session WHERE handle = $1', handle)
  }

  /** Redeems a one-time token. @returns its session */
  async redeem(hash: string, now: number): Promise<SharedSession | undefined> {
    const [cells] = await this.database.query(
      `WITH used AS (DELETE FROM tesser.session_secret WHERE hash = $1 AND kind = 'token' AND expires > $2::bigint RETURNING session)
       SELECT ${COLUMNS} FROM used JOIN tesser.session s ON s.handle = used.session WHERE s.expires > $2::bigint`,
      hash,
      String(now),
    )
    return cells && sessionOf(cells)
  }

  /** Sessions in the order of their handles. @param after skips sessions up to and including this handle */
  async list(after: string, limit = SLICE): Promise<SharedSession[]> {
    const rows = await this.database.query(
      `SELECT ${COLUMNS} FROM tesser.session s WHERE s.handle > $1 ORDER BY s.handle LIMIT $2::int`,
      after,
      String(limit),
    )
    return rows.map(sessionOf)
  }

  /** Handles among the given ones that have no session. */
  async findMissing(handles: readonly string[]): Promise<string[]> {
    const rows = await this.database.query(
      `SELECT h FROM json_array_elements_text($1::json) h WHERE NOT EXISTS (SELECT FROM tesser.session s WHERE s.handle = h)`,
      JSON.stringify(handles),
    )
    return rows.map(([handle]) => handle!)
  }

  async count(): Promise<{ guests: number; users: number }> {
    const [[guests, all] = []] = await this.database.query(
      'SELECT count(*) FILTER (WHERE is_guest), count(*) FROM tesser.session',
    )
    return { guests: Number(guests), users: Number(all) - Number(guests) }
  }

  /**
   * Removes a slice of the expired sessions and secrets, and of the guest sessions above a maximum, unless another server is doing so.
   * @returns handles of sessions that have ended
   */
  async sweep(now: number, maxGuests: number): Promise<string[]> {
    const endedRows = await this.database.alone(async run => {
      await run({
        text: `DELETE FROM tesser.session_secret WHERE hash IN (
          SELECT hash FROM tesser.session_secret WHERE expires <= $1::bigint LIMIT ${SLICE})`,
        values: [String(now)],
      })
      const expiredRows = await run({
        text: `DELETE FROM tesser.session WHERE expires <= $1::bigint AND handle IN (
          SELECT handle FROM tesser.session WHERE expires <= $1::bigint LIMIT ${SLICE}) RETURNING handle`,
        values: [String(now)],
      })
      const excess = await run({
        text: `DELETE FROM tesser.session WHERE handle IN (
          SELECT handle FROM tesser.session WHERE is_guest ORDER BY made_at DESC OFFSET $1::int LIMIT ${SLICE}) RETURNING handle`,
        values: [String(maxGuests)],
      })
      const [locks] = await run({ text: `SELECT to_regclass('tesser.entity_lock') IS NOT NULL`, values: [] })
      if (locks?.[0] === 't') await run({ text: LEFT_LOCKS, values: [] })
      return [...expiredRows, ...excess]
    })
    return (endedRows ?? []).map(([handle]) => handle!)
  }

  /** A secret that all servers share; the first server that asks for it creates it. */
  async secret(name: string, proposedSecret: string): Promise<string> {
    await this.database.query(
      'INSERT INTO tesser.setting VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
      name,
      proposedSecret,
    )
    const [cells] = await this.database.query('SELECT value FROM tesser.setting WHERE name = $1', name)
    return cells![0]!
  }
}

/** Adds a secret, and drops the oldest secrets of the same kind above the maximum. */
const secretStatement = (session: string, { kind, hash, expires }: SessionSecret) => ({
  text: `WITH added AS (
      INSERT INTO tesser.session_secret (hash, kind, session, expires) VALUES ($1, $2, $3, $4::bigint)
    ) DELETE FROM tesser.session_secret WHERE hash IN (
      SELECT hash FROM tesser.session_secret WHERE session = $3 AND kind = $2 ORDER BY made_at DESC OFFSET $5::int)`,
  values: [hash, kind, session, String(expires), String(MAX_SECRETS[kind] - 1)],
})

/** Removes expired locks, and locks of sessions that no longer exist: the server that ended a session may not have removed its locks. */
const LEFT_LOCKS = `DELETE FROM tesser.entity_lock l WHERE expires <= clock_timestamp()
  OR (expires = 'infinity' AND made_at < clock_timestamp() - interval '1 minute'
    AND NOT EXISTS (SELECT FROM tesser.session s WHERE s.handle = l.owner))`

/** Maximum numbers of secrets of a session. */
const MAX_SECRETS = { alias: 32, token: 16 } as const

const sessionOf = ([handle, version, record, expires]: readonly (string | null)[]): SharedSession => ({
  handle: handle!,
  version: Number(version),
  record: record!,
  expires: Number(expires),
})
