import type { DataClass } from '../../catalog/dataclass.ts'
import { fingerprintsOf } from '../../catalog/calculated.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { CalculatedRequest, CalculatedRow } from '../../write/contract/requests.ts'

/** Progress of computing the rows of a dataclass with new code. */
export interface CalculatedSlice {
  /** Number of rows that have the new values. */
  readonly done: number
  readonly total: number
}

/** Number of rows in one transaction. */
const SLICE = 2_000

/**
 * Makes the writer request with new values of stored calculated attributes for the next rows. The last slice carries the
 * fingerprints of the code, so an interrupted start begins again.
 * @param from number of rows that have the new values
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
    const stamp = table.row(rowId)!.stamp
    return { rowId, seenStamp: stamp, values: valuesOf(rowId) }
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
