import type { DataClass } from '../../catalog/dataclass.ts'
import { fingerprintsOf } from '../../catalog/calculated.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { CalculatedRequest, CalculatedRow } from '../../write/contract/requests.ts'

/** How far the rows of a dataclass have got the values of new code. */
export interface CalculatedSlice {
  /** Rows that have them. */
  readonly done: number
  readonly total: number
}

/** Rows of one transaction. */
const SLICE = 2_000

/**
 * Tells the writer the values that stored calculated attributes of the next rows have now. The last rows
 * come with the fingerprints of the code, so that a start that is interrupted begins again.
 * @param from rows that have them already
 * @param valuesOf JSON by attribute name
 */
export function nextSlice(
  dataClass: DataClass,
  snapshot: Snapshot,
  from: number,
  valuesOf: (rowId: number) => Record<string, unknown>,
): { request: CalculatedRequest; slice: CalculatedSlice } {
  const table = snapshot.table(dataClass)
  const rowIds = table.live.slice(from, SLICE)
  const rows = Array.from(rowIds, (rowId): CalculatedRow => {
    const seen = table.row(rowId)!.stamp
    return { rowId, seen, values: valuesOf(rowId) }
  })
  const slice = { done: from + rows.length, total: table.live.size }
  const isLast = slice.done >= slice.total
  const request: CalculatedRequest = {
    kind: 'calculated',
    dataClass: dataClass.name,
    rows,
    ...(isLast && { fingerprints: fingerprintsOf(dataClass) }),
  }
  return { request, slice }
}
