import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { Cells } from '../postgres/sql/statement.ts'
import type { SharedDatabase } from './shared-database.ts'

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** An entity set as the table has it, without its members. Times are milliseconds since 1970. */
export interface SetRow {
  readonly id: string
  readonly dataClass: string
  /** True if the set has no members and only its saved query is kept. */
  readonly hasEnded: boolean
  readonly timeoutSeconds: number
  readonly expires: number
  /** JSON. */
  readonly queryJson: string | undefined
  readonly creator: string | undefined
  /** Network of the guest who created the set, and the bytes that count against its bounds. */
  readonly network: string | undefined
  readonly bytes: number
  readonly size: number
  readonly isOrdered: boolean
}

/** A set that was found. */
export interface FoundSet extends SetRow {
  /** Counts changes of its members. */
  readonly version: number
  readonly madeAt: number
  /** Undefined if the caller already has the members of this version. */
  readonly members: Uint8Array | undefined
}

interface PutLimits {
  readonly now: number
  /** Maximum number of sets of its creator. */
  readonly most: number
  /** Maximum bytes of the sets of its network. */
  readonly networkBytes: number
}

const COLUMNS =
  'id, data_class, has_ended, timeout_seconds, expires, saved, creator, network, bytes, size, is_ordered, version, (extract(epoch FROM made_at) * 1000)::bigint'
const MAX_MEMBER_BYTES = 2 ** 28
/** Maximum number of rows that one statement removes. */
const SLICE = 500

/** Entity sets of all servers. Members are compressed. */
export class SetTable {
  constructor(private readonly database: SharedDatabase) {}

  /** @param version known version, whose members are not sent again; 0: none */
  async find(id: string, version: number): Promise<FoundSet | undefined> {
    const [cells] = await this.database.query(
      `SELECT ${COLUMNS}, CASE WHEN version = $2::bigint THEN NULL ELSE encode(members, 'base64') END FROM tesser.entity_set WHERE id = $1`,
      id,
      String(version),
    )
    if (!cells) return undefined
    const packedMembers = cells.at(-1)
    return { ...rowOf(cells), members: packedMembers == null ? undefined : await unpack(packedMembers) }
  }

  /**
   * Adds a set, or replaces one with the same id. The oldest sets of its network end when the network exceeds its maximum.
   * @returns its version; undefined if its creator has too many sets
   */
  async put(set: SetRow, members: Uint8Array, { now, most, networkBytes }: PutLimits): Promise<number | undefined> {
    const { id, dataClass, timeoutSeconds, expires, queryJson, creator, network, bytes, size, isOrdered } = set
    const packedMembers = await deflate(Buffer.from(members), { level: 1 })
    const values = [
      id,
      dataClass,
      timeoutSeconds,
      expires,
      queryJson,
      creator,
      network,
      bytes,
      size,
      isOrdered,
      now,
      most,
    ]
    const [cells] = await this.database.query(
      `INSERT INTO tesser.entity_set AS s (id, data_class, timeout_seconds, expires, saved, creator, network, bytes, size, is_ordered, members)
       SELECT $1, $2, $3::bigint, $4::bigint, $5, $6, $7, $8::bigint, $9::bigint, $10::boolean, decode($13, 'base64')
       WHERE $6::text IS NULL OR EXISTS (SELECT FROM tesser.entity_set WHERE id = $1)
         OR (SELECT count(*) FROM tesser.entity_set WHERE creator = $6 AND NOT has_ended AND expires > $11::bigint) < $12::int
       ON CONFLICT (id) DO UPDATE SET data_class = $2, has_ended = false, timeout_seconds = $3::bigint, expires = $4::bigint,
         saved = $5, creator = $6, network = $7, bytes = $8::bigint, size = $9::bigint, is_ordered = $10::boolean,
         members = excluded.members, version = s.version + 1
       RETURNING version`,
      ...values.map(value => (value === undefined ? null : String(value))),
      packedMembers.toString('base64'),
    )
    if (cells && network !== undefined) await this.endExcess(network, networkBytes)
    return cells && Number(cells[0])
  }

  /** Restarts the lifetime of a set. */
  async use(id: string, expires: number, timeoutSeconds: number): Promise<void> {
    await this.database.query(
      'UPDATE tesser.entity_set SET expires = $2::bigint, timeout_seconds = $3::bigint WHERE id = $1 AND NOT has_ended',
      id,
      String(expires),
      String(timeoutSeconds),
    )
  }

  /** Dataclasses of those of some sets that are live. */
  async findLive(ids: readonly string[], now: number): Promise<Map<string, string>> {
    const rows = await this.database.query(
      `SELECT id, data_class FROM tesser.entity_set WHERE id IN (SELECT json_array_elements_text($1::json)) AND NOT has_ended AND expires > $2::bigint`,
      JSON.stringify(ids),
      String(now),
    )
    return new Map(rows.map(([id, dataClass]) => [id!, dataClass!]))
  }

  /** Ends sets. Their saved queries are kept for a while. */
  async release(ids: readonly string[], savedUntil: number): Promise<void> {
    const values = [JSON.stringify(ids), String(savedUntil)]
    const text = `UPDATE tesser.entity_set SET ${ENDED}, expires = $2::bigint
      WHERE id IN (SELECT json_array_elements_text($1::json)) AND NOT has_ended AND saved IS NOT NULL`
    await this.database.transaction(async run => {
      await run({ text, values })
      await run({
        text: 'DELETE FROM tesser.entity_set WHERE id IN (SELECT json_array_elements_text($1::json)) AND saved IS NULL',
        values: [values[0]!],
      })
    })
  }

  /** Number of live sets, and the first `limit` of them. */
  async list(limit: number, now: number): Promise<{ count: number; sets: SetRow[] }> {
    const clause = 'FROM tesser.entity_set WHERE NOT has_ended AND expires > $1::bigint'
    const [[count] = []] = await this.database.query(`SELECT count(*) ${clause}`, String(now))
    const rows = await this.database.query(
      `SELECT ${COLUMNS} ${clause} ORDER BY id LIMIT $2::int`,
      String(now),
      String(limit),
    )
    return { count: Number(count), sets: rows.map(rowOf) }
  }

  /**
   * Removes a slice of the expired sets, and of the guests' sets above a number of bytes, unless another server is doing so.
   * @returns true if more sets may have expired
   */
  async sweep(now: number, savedMs: number, guestBytes: number): Promise<boolean> {
    const slice = (condition: string): string =>
      `WHERE ${condition} AND id IN (SELECT id FROM tesser.entity_set WHERE ${condition} LIMIT ${SLICE})`
    const values = [String(now)]
    const expiryCondition = 'expires <= $1::bigint'
    const removedCount = await this.database.alone(async run => {
      await run({
        text: `UPDATE tesser.entity_set SET ${ENDED}, expires = expires + $2::bigint ${slice(`${expiryCondition} AND NOT has_ended AND saved IS NOT NULL`)}`,
        values: [...values, String(savedMs)],
      })
      const deletedRows = await run({
        text: `DELETE FROM tesser.entity_set ${slice(`${expiryCondition} AND (has_ended OR saved IS NULL)`)} RETURNING true`,
        values,
      })
      await run({ text: excessOf('network IS NOT NULL', '$1'), values: [String(guestBytes)] })
      return deletedRows.length
    })
    return removedCount === SLICE
  }

  private async endExcess(network: string, bytes: number): Promise<void> {
    await this.database.query(excessOf('network = $2', '$1'), String(bytes), network)
  }
}

const ENDED = "has_ended = true, members = '', size = 0, bytes = 2048 + octet_length(saved)"

/** SQL that removes the oldest sets, which exceed a total number of bytes. */
const excessOf = (condition: string, bytes: string): string =>
  `DELETE FROM tesser.entity_set WHERE id IN (
    SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY made_at DESC, id) AS taken FROM tesser.entity_set WHERE ${condition}) s
    WHERE taken > ${bytes}::bigint)`

/** Unpacks members into memory that all threads share. */
async function unpack(packedMembers: string): Promise<Uint8Array> {
  const bytes = await inflate(Buffer.from(packedMembers, 'base64'), { maxOutputLength: MAX_MEMBER_BYTES })
  const members = new Uint8Array(new SharedArrayBuffer(bytes.length))
  members.set(bytes)
  return members
}

function rowOf(cells: Cells): Omit<FoundSet, 'members'> {
  const [
    id,
    dataClass,
    hasEnded,
    timeout,
    expires,
    queryJson,
    creator,
    network,
    bytes,
    size,
    isOrdered,
    version,
    madeAt,
  ] = cells
  return {
    id: id!,
    dataClass: dataClass!,
    hasEnded: hasEnded === 't',
    timeoutSeconds: Number(timeout),
    expires: Number(expires),
    queryJson: queryJson ?? undefined,
    creator: creator ?? undefined,
    network: network ?? undefined,
    bytes: Number(bytes),
    size: Number(size),
    isOrdered: isOrdered === 't',
    version: Number(version),
    madeAt: Number(madeAt),
  }
}
