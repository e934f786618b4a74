import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DamagedLogError } from '../../log/commit-log.ts'
import { readSegments, type SegmentFile, segmentsOf } from '../../log/read-segments.ts'
import { decodeRecord } from '../../log/record.ts'
import { RowView } from '../../row-format/row-view.ts'
import { type Environment, getBytes } from '../environment.ts'
import { rowKey } from '../keys.ts'
import { LOG_FOLDER } from '../store-folder.ts'
import { readPosition } from '../store-log.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'

/** Last state of a row in the log. */
interface LoggedRow {
  readonly layout: RowLayout
  readonly rowId: number
  /** Undefined if the row was deleted. */
  readonly row: { readonly digest: string; readonly layoutVersion: number } | undefined
}

/**
 * Checks that the log of a store that no server uses is complete, and that the store has the last state of each row in the log. Rows that a
 * changed model has rewritten since are skipped.
 */
export function* checkLog(environment: Environment, layouts: Iterable<RowLayout>): Generator<string> {
  const folder = join(environment.path, LOG_FOLDER)
  if (!existsSync(folder)) return
  try {
    const rows = loggedRows(environment, segmentsOf(folder), layouts)
    for (const { layout, rowId, row } of rows) {
      const { name, tableNumber } = layout.dataClass
      if (row && row.layoutVersion !== layout.version) continue
      const storedRow = getBytes(environment.rows, rowKey(tableNumber, rowId))
      if ((storedRow && digestOf(storedRow)) === row?.digest) continue
      const problem = storedRow
        ? row
          ? 'is not as the log has it'
          : 'exists, but the log has its deletion'
        : 'is missing'
      yield `${name}, row ${rowId}: ${problem}`
    }
  } catch (error) {
    if (!(error instanceof DamagedLogError)) throw error
    yield error.message
  }
}

/** Rows in the records up to the last commit of the store; none if the store is not in a state of this log. */
function loggedRows(
  environment: Environment,
  segments: readonly SegmentFile[],
  layouts: Iterable<RowLayout>,
): Iterable<LoggedRow> {
  const byTable = new Map([...layouts].map(layout => [layout.dataClass.tableNumber, layout]))
  const rows = new Map<string, LoggedRow>()
  const position = readPosition(environment)
  let isContinued = false
  const [oldest] = segments
  for (const entry of oldest ? readSegments(segments, oldest.first - 1, { withStart: true }) : []) {
    const { sequence, hash, record } = entry
    // A data file that was put back from a backup has another record at its place, or none.
    if (sequence === position.sequence) isContinued = Buffer.compare(hash, position.hash) === 0
    else if (record.length === 0) isContinued = false
    // The store contains nothing of an earlier history.
    if (record.length === 0) rows.clear()
    if (record.length === 0 || sequence > position.sequence) continue
    for (const effect of decodeRecord(record).effects) {
      if (effect.kind !== 'row') continue
      const { tableNumber, rowId, row } = effect.change
      const layout = byTable.get(tableNumber)
      if (!layout) continue
      const { layoutVersion = 0 } = row ? new RowView(layout, row) : {}
      rows.set(`${tableNumber} ${rowId}`, { layout, rowId, row: row && { digest: digestOf(row), layoutVersion } })
    }
  }
  return isContinued ? rows.values() : []
}

const digestOf = (row: Uint8Array): string => createHash('sha256').update(row).digest('base64')
