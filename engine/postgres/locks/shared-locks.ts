import { setTimeout as delay } from 'node:timers/promises'
import type { LockHolder, LockInfo } from '../../caller/lock-holder.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import type { HeldLock, ListLocksResult, LockResult } from '../../write/contract/requests.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import type { Database, StatementLimits } from '../database/database.ts'
import type { Databases } from '../tables/databases.ts'
import { LOCKED_CODE, LOCKS_EXIST, MAKE_LOCKS } from './lock-schema.ts'
import type { Parameters } from '../sql/parameters.ts'
import type { Cells, Statement } from '../sql/statement.ts'

/** Creates the condition under which an entity may be changed: that no other session has locked it. */
export type LockGuard = (key: Value) => (parameters: Parameters) => string

/** True for the error of a statement that the condition has refused. */
export const isLocked = (error: unknown): boolean => (error as { code?: string }).code === LOCKED_CODE

/** Pause before the next attempt, and number of attempts, while a change of an entity in the same bucket is in progress. */
const BUSY_MS = 20
const MAX_TRIES = 100
/** Maximum number of owners whose locks remain to be freed in an unavailable database. */
const MAX_PENDING = 10_000

/**
 * Locks of entities that several servers respect, in the database of the entities: a save finds them in the statement that changes the
 * entity. Source: protocol notes, 8.8.
 */
export class SharedLocks {
  private readonly creations = new Map<Database, Promise<void>>()
  /** Owners whose locks are to be freed, by database. */
  private readonly pending = new Map<Database, Set<string>>()

  constructor(
    private readonly databases: Databases,
    private readonly connections: readonly string[],
  ) {}

  /** @param owner session of the change */
  async guard(
    { name }: DataClass,
    owner: string | undefined,
    database: Database,
    limits: StatementLimits,
  ): Promise<LockGuard> {
    await this.make(database, limits)
    return key => parameters => {
      const parts = [name, String(key), owner ?? ''].map(text => parameters.add(text, 'text'))
      return `(SELECT tesser.unlocked(${parts.join(', ')}))`
    }
  }

  async lock(dataClass: DataClass, key: Value, holder: LockHolder, limits: StatementLimits): Promise<LockResult> {
    const { owner, info, lastsMs } = holder
    const values = [
      dataClass.name,
      String(key),
      owner,
      JSON.stringify(info),
      lastsMs === undefined ? null : String(lastsMs),
    ]
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const [cells] = await this.run(
        dataClass,
        { text: 'SELECT tesser.lock($1, $2, $3, $4, $5::bigint)', values },
        limits,
      )
      switch (cells![0]) {
        case 'taken':
          return { kind: 'lock', result: true }
        case 'many':
          throw WriteErrors.TOO_MANY_LOCKS()
        case 'held': {
          const blocker = await this.blocker(dataClass, key, owner, limits)
          if (blocker) return { kind: 'lock', result: false, blocker }
          break
        }
        default:
          await delay(BUSY_MS)
      }
    }
    throw RemoteErrors.CHANGING(dataClass.name).retryAfter(1)
  }

  async unlock(dataClass: DataClass, key: Value, { owner }: LockHolder, limits: StatementLimits): Promise<LockResult> {
    const text = 'DELETE FROM tesser.entity_lock WHERE class = $1 AND key = $2 AND owner = $3 RETURNING true'
    const deletedRows = await this.run(dataClass, { text, values: [dataClass.name, String(key), owner] }, limits)
    if (deletedRows.length > 0) return { kind: 'lock', result: true }
    const blocker = await this.blocker(dataClass, key, owner, limits)
    return blocker ? { kind: 'lock', result: false, blocker } : { kind: 'lock', result: true, wasNotLocked: true }
  }

  /** Frees all locks of a session that has ended. In an unavailable database, they are freed when the next session ends. */
  async freeAll(owner: string, limits: StatementLimits): Promise<void> {
    await Promise.all(this.connections.map(name => this.free(this.databases.database(name), owner, limits)))
  }

  /** Number of all locks, and the first of them. */
  async list(limit: number, limits: StatementLimits): Promise<ListLocksResult> {
    const result: ListLocksResult = { kind: 'listLocks', count: 0, locks: [] }
    for (const name of this.connections) {
      const database = this.databases.database(name)
      await this.make(database, limits)
      const rows = await database.query({ text: LIST, values: [String(limit)] }, limits)
      result.count += Number(rows[0]?.[0] ?? 0)
      result.locks.push(...rows.slice(0, limit - result.locks.length).map(heldLock))
    }
    return result
  }

  private async free(database: Database, owner: string, limits: StatementLimits): Promise<void> {
    const owners = this.pending.get(database) ?? new Set()
    if (owners.size < MAX_PENDING) this.pending.set(database, owners.add(owner))
    const freedOwners = [...owners]
    await this.make(database, limits)
    const text = 'DELETE FROM tesser.entity_lock WHERE owner IN (SELECT json_array_elements_text($1::json))'
    await database.query({ text, values: [JSON.stringify(freedOwners)] }, limits)
    for (const each of freedOwners) owners.delete(each)
  }

  private async blocker(
    dataClass: DataClass,
    key: Value,
    owner: string,
    limits: StatementLimits,
  ): Promise<LockInfo | undefined> {
    const text =
      'SELECT info FROM tesser.entity_lock WHERE class = $1 AND key = $2 AND owner <> $3 AND expires > clock_timestamp()'
    const [cells] = await this.run(dataClass, { text, values: [dataClass.name, String(key), owner] }, limits)
    return cells && (JSON.parse(cells[0]!) as LockInfo)
  }

  private async run({ remote }: DataClass, statement: Statement, limits: StatementLimits): Promise<Cells[]> {
    const database = this.databases.database(remote!.connection)
    await this.make(database, limits)
    try {
      return await database.query(statement, limits)
    } catch (error) {
      this.handleFailure(database, error)
      throw error
    }
  }

  /** To be called with the error of a statement that has a {@link LockGuard}. */
  handleFailure(database: Database, error: unknown): void {
    if ((error as Error).name === 'REMOTE.OUTDATED') this.creations.delete(database)
  }

  private make(database: Database, limits: StatementLimits): Promise<void> {
    let creation = this.creations.get(database)
    if (!creation) {
      creation = makeLocks(database, limits)
      this.creations.set(database, creation)
      creation.catch(() => this.creations.delete(database))
    }
    return creation
  }
}

const LIST = `
  SELECT count(*) OVER (), class, key, owner, info, CASE WHEN expires < 'infinity' THEN (extract(epoch FROM expires) * 1000)::bigint END
  FROM tesser.entity_lock WHERE expires > clock_timestamp() ORDER BY made_at LIMIT $1::int`

function heldLock([, dataClass, key, owner, info, expires]: Cells): HeldLock {
  const lock = { dataClass: dataClass!, key: key!, owner: owner!, info: JSON.parse(info!) as LockInfo }
  return expires === null ? lock : { ...lock, expires: Number(expires) }
}

async function makeLocks(database: Database, limits: StatementLimits): Promise<void> {
  const [row] = await database.query(LOCKS_EXIST, limits)
  if (row?.[0] === 't') return
  try {
    await database.session(limits, async run => {
      await run({ text: 'BEGIN', values: [] })
      for (const each of MAKE_LOCKS) await run(each)
      await run({ text: 'COMMIT', values: [] })
    })
  } catch (error) {
    throw database.errorOf(error, limits.signal)
  }
}
