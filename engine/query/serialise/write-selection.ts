import type { Snapshot } from '../../storage/snapshot.ts'
import type { QueryBudget } from '../execute/query-budget.ts'
import { finishAnswer, startAnswer } from './answer.ts'
import type { Projection } from './projection.ts'
import type { RowWriter } from './row-writer.ts'
import { SerialiseErrors } from './serialise-errors.ts'

/** The rows of a page, in order. Those that do not exist any more are sent as `{"__STAMP":0}`. */
export interface PageRows {
  /** Size of the whole selection. */
  count: number
  /** Position of the page in it. */
  first: number
  rowIds: Uint32Array
}

export interface CollectionOptions {
  /** Of the entity set that the request made. */
  entitySetUri?: string | undefined
  /** The selection is an entity set, made by this request or before: the answer has `__DATACLASS` then. */
  isEntitySet?: boolean
}

const COMMA = 0x2c
/** Between two looks at the budget. */
const ROWS_AT_ONCE = 1024
const DEAD_ROW = Buffer.from('{"__STAMP":0}')

/**
 * The answer for an entity selection.
 * @param description members that stand in front of all others
 * @returns UTF-8 JSON, valid until the next answer in this thread
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE} {@link QueryErrors.TIMEOUT}
 * Source: base specification, 2.6; protocol notes, 3.6.
 */
export function writeCollection(
  page: PageRows,
  projection: Projection,
  snapshot: Snapshot,
  { entitySetUri, isEntitySet = entitySetUri !== undefined }: CollectionOptions = {},
  budget?: QueryBudget,
  description?: object,
): Uint8Array {
  const rows = startAnswer(projection, snapshot, budget)
  const read = rows.loadPage(projection.entity, page.rowIds)
  const { out } = rows
  const start = out.length
  const name = JSON.stringify(projection.entity.dataClass.name)
  out.ascii('{')
  for (const [member, value] of Object.entries(description ?? {})) out.text(`"${member}":${JSON.stringify(value)},`)
  if (entitySetUri !== undefined) out.text(`"__ENTITYSET":${JSON.stringify(entitySetUri)},`)
  if (isEntitySet) out.text(`"__DATACLASS":${name},`)
  out.text(`"__entityModel":${name},"__GlobalStamp":${snapshot.globalStamp}`)
  out.ascii(`,"__COUNT":${page.count},"__FIRST":${page.first},"__ENTITIES":`)
  writeRows(page.rowIds, rows, read)
  out.ascii(`,"__SENT":${page.rowIds.length}}`)
  return finishAnswer(rows, start)
}

/**
 * The answer for an entity selection with `$asArray=true`. The projection has to be bound for the array form.
 * @returns UTF-8 JSON, valid until the next answer in this thread
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE} {@link QueryErrors.TIMEOUT}
 * Source: base specification, 2.5 and 4.3; protocol notes, 3.7.
 */
export function writeArray(
  page: Pick<PageRows, 'rowIds'>,
  projection: Projection,
  snapshot: Snapshot,
  budget?: QueryBudget,
): Uint8Array {
  const rows = startAnswer(projection, snapshot, budget)
  const read = rows.load(projection.entity, page.rowIds)
  const start = rows.out.length
  writeRows(page.rowIds, rows, read)
  return finishAnswer(rows, start)
}

/**
 * The answer for one entity.
 * @param rowId undefined: there is none
 * @returns UTF-8 JSON, valid until the next answer in this thread
 * @throws {SerialiseErrors.NO_ENTITY} when there is none
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE} {@link QueryErrors.TIMEOUT}
 * Source: base specification, 2.6; protocol notes, 3.5.
 */
export function writeEntity(
  rowId: number | undefined,
  projection: Projection,
  snapshot: Snapshot,
  budget?: QueryBudget,
): Uint8Array {
  const template = projection.entity
  const rows = startAnswer(projection, snapshot, budget)
  const row = rowId === undefined ? undefined : rows.load(template, [rowId])(rowId)
  if (!row) throw SerialiseErrors.NO_ENTITY(template.dataClass.name)
  const { out } = rows
  const start = out.length
  out.copy(template.opening)
  rows.members(template, row, rowId!)
  out.ascii('}')
  return finishAnswer(rows, start)
}

function writeRows(rowIds: Uint32Array, rows: RowWriter, read: ReturnType<RowWriter['load']>): void {
  const { out, projection } = rows
  out.ascii('[')
  for (let i = 0; i < rowIds.length; ) {
    if (i > 0) out.byte(COMMA)
    const copied = rows.copyEntities(projection.entity, rowIds.subarray(i, i + ROWS_AT_ONCE), i)
    i += copied
    if (copied > 0) continue
    const rowId = rowIds[i++]!
    const row = read(rowId)
    if (row) rows.entity(projection.entity, row, rowId)
    else out.copy(DEAD_ROW)
  }
  out.ascii(']')
}
