import { RowView } from '../../storage/row-view.ts'
import type { Snapshot } from '../../storage/snapshot.ts'
import { uriKey } from '../../storage/wire-value.ts'
import type { SavedEntity, SaveResult } from '../../write/requests.ts'
import { finishAnswer, startAnswer } from './answer.ts'
import type { Projection } from './projection.ts'
import { NOT_STORED, type RowWriter } from './row-writer.ts'

/** An element of the answer: the entity on the server, what went wrong, or both. */
interface Outcome {
  row: RowView | undefined
  rowId: number
  failure: SavedEntity['failure']
}

/**
 * The answer to a save: the entities as they are on the server, one for each element of the body, in `__ENTITIES` when
 * the body was an array. One that was not saved has `__STATUS` and `__ERROR` behind its attributes.
 * @param snapshot the state after the save; relations that `$expand` names are read from it
 * @returns UTF-8 JSON, valid until the next answer in this thread
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE}
 * Source: base specification, 4.4 and 7; protocol notes, 3.5, 5.3, 5.4.
 */
export function writeSaved(result: SaveResult, projection: Projection, snapshot: Snapshot): Uint8Array {
  const rows = startAnswer(projection, snapshot)
  const { layout } = projection.entity
  const outcomes = result.entities.map(
    ({ row, rowId = NOT_STORED, failure }): Outcome => ({ row: row && new RowView(layout, row), rowId, failure }),
  )
  rows.prepare(
    projection.entity,
    outcomes.flatMap(({ row, rowId }) => (row ? [[rowId, row] as const] : [])),
  )
  const { out } = rows
  const start = out.length
  const uri = `,"uri":"/rest/${encodeURIComponent(projection.entity.dataClass.name)}(`
  if (result.many) out.ascii('{"__ENTITIES":[')
  for (const [i, outcome] of outcomes.entries()) {
    if (i > 0) out.ascii(',')
    writeOutcome(outcome, rows, uri)
  }
  if (result.many) out.ascii(']}')
  return finishAnswer(rows, start)
}

/** @param uri of the entity, up to its key. What is encoded as an address has nothing in it that JSON would escape */
function writeOutcome({ row, rowId, failure }: Outcome, rows: RowWriter, uri: string): void {
  const { out, projection } = rows
  out.ascii('{')
  if (row) {
    rows.key(row)
    rows.stamp(row)
    out.ascii(`${uri}${uriKey(row.key)})"`)
    rows.timestamp(row)
    rows.attributes(projection.entity, row, rowId)
  }
  if (failure) {
    if (row) out.ascii(',')
    out.text(`"__STATUS":${JSON.stringify({ ...failure.status, success: false })}`)
    out.text(`,"__ERROR":${JSON.stringify(failure.error.entries)}`)
  }
  out.ascii('}')
}
