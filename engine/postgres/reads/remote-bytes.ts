import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { BytesFound, BytesRead } from '../../backend/backend.ts'
import type { Views } from '../../permission/views.ts'
import { QueryErrors } from '../../query/contract/query-errors.ts'
import type { QueryCache } from '../../query/plan/query-cache.ts'
import { planPage, runPage } from '../../query/source/select.ts'
import { keyText } from '../../row-format/row-layout.ts'
import type { StatementLimits } from '../database/database.ts'
import type { Databases } from '../tables/databases.ts'
import type { RemoteReads } from './remote-reads.ts'
import { bytesStatement } from '../sql/bytes-statement.ts'

/** Runs work on the newest state of the store, and again whenever data of a database have arrived. */
export type Repeat = <T>(work: (reads: RemoteReads) => T) => Promise<T>

/** A request for bytes. Plain data. */
export interface RemoteBytes extends BytesRead {
  /** Set for work of code, which has already determined what it may see. */
  readonly isCode?: boolean
}

interface Surroundings {
  readonly views: Views
  readonly queries: QueryCache
  readonly databases: Databases
  readonly repeat: Repeat
  readonly limits: StatementLimits
}

/** Stamp of a version whose table has no stamps. */
const NO_STAMP = -1

/** @throws {ProtocolError} also if there is no entity */
export async function readBytes(
  { read, attribute: name, start, end }: RemoteBytes,
  { views, queries, databases, repeat, limits }: Surroundings,
): Promise<BytesFound> {
  const view = views.of(read.access)
  const dataClass = view.dataClass(read.dataClass)
  const attribute = view.attribute(dataClass, name) as StorageAttribute
  const { key, rows } = await repeat(reads => {
    const { context } = reads
    const selection = planPage({ ...read, output: { form: 'entity' } }, view, queries, context!)
    const { rowIds } = runPage(selection, view, context!)
    return { key: reads.keyOf(dataClass, rowIds[0]!), rows: reads.rowsOf(dataClass) }
  })
  const statement = bytesStatement(rows.table, attribute, key, start, end)
  const [cells] = await databases.run({ connection: dataClass.remote!.connection, statement }, limits)
  if (!cells) throw QueryErrors.UNKNOWN_ENTITY(keyText(rows.layout, key), dataClass.name)
  const { row } = rows.encode(cells)
  const [size, bytes, digest] = cells.slice(-3)
  if (bytes == null) return { key: row.key, value: undefined }
  const version = digest == null ? row.version : `${row.version}-${digest}`
  const stamp = digest == null ? row.stamp : NO_STAMP
  return { key: row.key, value: { bytes: bytesOf(bytes), size: Number(size), stamp, version } }
}

/** Bytes of `\x00ff`. */
const bytesOf = (text: string): Uint8Array => Buffer.from(text.slice(2), 'hex')
