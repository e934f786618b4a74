import type { Snapshot } from '../../data/snapshot.ts'
import type { Table } from '../contract/request.ts'
import { type AnswerContext, finishAnswer } from './answer.ts'
import { BatchWriter } from './batch-writer.ts'
import type { Projection } from './projection.ts'
import type { MemberPage } from './row-writer.ts'
import { SerialiseErrors } from '../../answer/serialise-errors.ts'

/** The rows of a page, in order. Deleted ones are sent as `{"__STAMP":0}`. */
interface PageRows {
  /** Size of the whole selection. */
  count: number
  /** Position of the page in the selection. */
  first: number
  rowIds: Uint32Array
}

interface CollectionOptions {
  /** URI of the entity set that the request created. */
  entitySetUri?: string | undefined
  /** True if the selection is an entity set, created by this request or before: the answer then has `__DATACLASS`. */
  isEntitySet?: boolean
}

/**
 * Writes the answer for an entity selection.
 * @param description members in front of all others
 * @returns UTF-8 JSON, or its rest that was not written to the sink; valid until the next answer in this thread
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE} {@link QueryErrors.TIMEOUT}
 * Source: base specification, 2.6; protocol notes, 3.6.
 */
export function writeCollection(
  page: PageRows,
  projection: Projection,
  snapshot: Snapshot,
  { entitySetUri, isEntitySet = entitySetUri !== undefined }: CollectionOptions = {},
  context: AnswerContext = {},
  description?: object,
): Uint8Array {
  const batches = BatchWriter.start(projection, snapshot, context)
  const { out } = batches
  batches.page(page.rowIds, () => {
    const name = JSON.stringify(projection.entity.dataClass.name)
    out.ascii('{')
    for (const [member, value] of Object.entries(description ?? {})) out.text(`"${member}":${JSON.stringify(value)},`)
    if (entitySetUri !== undefined) out.text(`"__ENTITYSET":${JSON.stringify(entitySetUri)},`)
    if (isEntitySet) out.text(`"__DATACLASS":${name},`)
    out.text(`"__entityModel":${name},"__GlobalStamp":${snapshot.globalStamp}`)
    out.ascii(`,"__COUNT":${page.count},"__FIRST":${page.first},"__ENTITIES":[`)
  })
  out.ascii(`],"__SENT":${page.rowIds.length}}`)
  return finishAnswer()
}

/**
 * Writes the answer for an entity selection with `$asArray=true`. The projection has to be bound for the array form.
 * @returns UTF-8 JSON, or its rest that was not written to the sink; valid until the next answer in this thread
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE} {@link QueryErrors.TIMEOUT}
 * Source: base specification, 2.5 and 4.3; protocol notes, 3.7.
 */
export function writeArray(
  page: Pick<PageRows, 'rowIds'>,
  projection: Projection,
  snapshot: Snapshot,
  context: AnswerContext = {},
): Uint8Array {
  const batches = BatchWriter.start(projection, snapshot, context)
  batches.page(page.rowIds, () => batches.out.ascii('['))
  batches.out.ascii(']')
  return finishAnswer()
}

/**
 * Writes the answer for an entity selection as a table. The projection has to be bound for it.
 * @returns UTF-8 JSON, or its rest that was not written to the sink; valid until the next answer in this thread
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE} {@link QueryErrors.TIMEOUT}
 * Source: protocol notes, 6.8.
 */
export function writeTable(
  page: PageRows,
  { schema, filtersApplied }: Table,
  projection: Projection,
  snapshot: Snapshot,
  context: AnswerContext = {},
): Uint8Array {
  const batches = BatchWriter.start(projection, snapshot, context)
  batches.page(page.rowIds, () =>
    batches.out.text(`{"__COUNT":${page.count},"__FIRST":${page.first},"schema":${JSON.stringify(schema)},"rows":[`),
  )
  batches.out.ascii(`],"filtersApplied":${filtersApplied}}`)
  return finishAnswer()
}

/**
 * Writes the answer for one entity.
 * @param rowId undefined if the entity does not exist
 * @param selectedPage page of the related entities, when they are a selection of their own
 * @returns UTF-8 JSON, or its rest that was not written to the sink; valid until the next answer in this thread
 * @throws {SerialiseErrors.NO_ENTITY} when the entity does not exist
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE} {@link QueryErrors.TIMEOUT}
 * Source: base specification, 2.6; protocol notes, 3.5.
 */
export function writeEntity(
  rowId: number | undefined,
  projection: Projection,
  snapshot: Snapshot,
  context: AnswerContext = {},
  selectedPage?: MemberPage,
): Uint8Array {
  const template = projection.entity
  const batches = BatchWriter.start(projection, snapshot, context, selectedPage)
  const row = rowId === undefined ? undefined : batches.load(template, [rowId], true)(rowId)
  if (!row) throw SerialiseErrors.NO_ENTITY(template.dataClass.name)
  const { out } = batches
  out.open()
  out.copy(template.opening)
  batches.rows.members(template, row, rowId!)
  out.ascii('}')
  return finishAnswer()
}
