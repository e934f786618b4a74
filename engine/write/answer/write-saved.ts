import type { RowLayout } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import { uriKey } from '../../row-format/wire-value.ts'
import type { SavedEntity, SaveFailure, SaveResult } from '../contract/requests.ts'
import { type AnswerContext, type AnswerShape, finishAnswer, startAnswer } from '../../query/serialise/answer.ts'
import type { ByteWriter } from '../../answer/byte-writer.ts'
import type { Projection } from '../../query/serialise/projection.ts'
import { BatchWriter } from '../../query/serialise/batch-writer.ts'
import { type RowWriter, unsavedId } from '../../query/serialise/row-writer.ts'

/** An element of the answer: the entity on the server, its failure, or both. */
interface Outcome {
  row: RowView | undefined
  rowId: number
  failure: SavedEntity['failure']
}

/**
 * Writes the answer to a save: the entities as they are on the server, one for each element of the body, in `__ENTITIES` or a bare
 * array (`$asArray=true`) if the body was an array. Unsaved entities have `__STATUS`, `__ERROR` and, if the body was an array, their
 * `__INDEX` after their attributes.
 * @param snapshot the state after the save; relations that `$expand` names are read from it
 * @returns UTF-8 JSON, or the part that has not been written to the sink; valid until the next answer in this thread
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE}
 * Source: base specification, 4.4 and 7; protocol notes, 3.5, 5.3, 5.4.
 */
export function writeSaved(
  { entities, many }: SaveResult,
  projection: Projection,
  snapshot: Snapshot,
  context: AnswerContext = {},
): Uint8Array {
  const batches = BatchWriter.start(projection, snapshot, context)
  const { out, rows } = batches
  const { layout, dataClass } = projection.entity
  const isArray = projection.form === 'array'
  const uri = `,"uri":"${dataClass.uri}(`
  let end = 0
  do {
    const start = end
    context.budget?.examine(0)
    end = Math.min(start + batches.batchRows, entities.length)
    const outcomes = entities.slice(start, end).map(
      ({ row, rowId, failure }, i): Outcome => ({
        row: row && new RowView(layout, row),
        rowId: rowId ?? unsavedId(start + i),
        failure,
      }),
    )
    if (start > 0) out.closeAt(0)
    if (projection.entity.related.length > 0) {
      const rowEntries = outcomes.flatMap(({ row, rowId }) => (row ? [[rowId, row] as const] : []))
      batches.prepare(projection.entity, rowEntries, true)
    }
    out.open()
    if (start === 0 && many) out.ascii(isArray ? '[' : '{"__ENTITIES":[')
    for (let i = 0; i < outcomes.length; i++) {
      if (start + i > 0) out.ascii(',')
      writeOutcome(outcomes[i]!, many ? start + i : undefined, rows, uri)
    }
  } while (end < entities.length)
  if (many) out.ascii(isArray ? ']' : ']}')
  return finishAnswer()
}

/**
 * @param index position in the batch
 * @param uri start of the entity's address, up to its key; an encoded address needs no escaping in JSON
 */
function writeOutcome({ row, rowId, failure }: Outcome, index: number | undefined, rows: RowWriter, uri: string): void {
  const { out, projection } = rows
  out.ascii('{')
  if (row) {
    rows.key(row)
    rows.stamp(row)
    if (projection.form === 'array') {
      rows.attributes(projection.entity, row, rowId)
      out.ascii(`,"__GlobalStamp":${row.globalStamp}`)
    } else {
      out.ascii(`${uri}${uriKey(row.key)})"`)
      rows.timestamp(row)
      rows.attributes(projection.entity, row, rowId)
    }
  }
  if (failure) {
    if (row) out.ascii(',')
    writeFailure(failure, index, out)
  }
  out.ascii('}')
}

/** @param index position in the batch */
function writeFailure(failure: SaveFailure, index: number | undefined, out: ByteWriter): void {
  out.text(`"__STATUS":${JSON.stringify({ ...failure.status, success: false })},`)
  writeErrors(failure, index, out)
}

/** @param index position in the batch */
function writeErrors(failure: SaveFailure, index: number | undefined, out: ByteWriter): void {
  out.text(`"__ERROR":${JSON.stringify(failure.error.entries)}`)
  if (index !== undefined) out.ascii(`,"__INDEX":${index}`)
}

/**
 * Writes the answer to a save that asks for no entities: `{"__COUNT":3,"__SAVED":2,"__ENTITIES":[…]}`, the numbers of entities in the
 * body and of those that were saved, and the failures, if there are any: key and stamp of an existing entity, `__STATUS`, `__ERROR` and,
 * if the body was an array, `__INDEX`.
 * @param shape `isPartial`: entities without a failure were saved although others failed
 * @returns the same as {@link writeSaved}
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE}
 */
export function writeCounts(
  { entities, many }: SaveResult,
  layout: RowLayout,
  { isPartial, ...shape }: AnswerShape & { readonly isPartial: boolean },
  context: AnswerContext = {},
): Uint8Array {
  const out = startAnswer(shape, context.sink)
  out.open()
  const failureCount = entities.reduce((sum, { failure }) => (failure ? sum + 1 : sum), 0)
  const savedCount = isPartial || failureCount === 0 ? entities.length - failureCount : 0
  out.ascii(`{"__COUNT":${entities.length},"__SAVED":${savedCount}`)
  let count = 0
  for (const [index, { row, failure }] of entities.entries()) {
    if (!failure) continue
    if (count % FAILURES_AT_ONCE === 0) context.budget?.examine(0)
    out.ascii(count++ === 0 ? ',"__ENTITIES":[{' : ',{')
    if (row) {
      const { key, stamp } = new RowView(layout, row)
      out.text(`"__KEY":${JSON.stringify(key)},"__STAMP":${stamp},`)
    }
    writeFailure(failure, many ? index : undefined, out)
    out.ascii('}')
  }
  out.ascii(count === 0 ? '}' : ']}')
  return finishAnswer()
}

/** Number of failures between two checks of the budget. */
const FAILURES_AT_ONCE = 1024

/**
 * Writes the answer to a validation: `{"ok":true}`, or the errors of the entities that could not be saved, each with its index if
 * the body was an array.
 * @returns the same as {@link writeSaved}
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE}
 * Source: protocol notes, 5.6.
 */
export function writeProblems(
  { entities, many }: SaveResult,
  shape: AnswerShape,
  context: AnswerContext = {},
): Uint8Array {
  const out = startAnswer(shape, context.sink)
  out.open()
  let count = 0
  for (const [index, { failure }] of entities.entries()) {
    if (!failure) continue
    if (count % FAILURES_AT_ONCE === 0) context.budget?.examine(0)
    out.ascii(count++ === 0 ? '{"__ENTITIES":[{' : ',{')
    writeErrors(failure, many ? index : undefined, out)
    out.ascii('}')
  }
  out.ascii(count === 0 ? '{"ok":true}' : ']}')
  return finishAnswer()
}
