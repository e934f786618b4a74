import type { TableSnapshot } from '../../data/snapshot.ts'
import { isExpected } from '../../write/contract/expected-version.ts'
import type { DeleteRequest } from '../../write/contract/requests.ts'

type Conditions = Pick<DeleteRequest, 'stamps' | 'ifMatch'>

/**
 * Versions that a deletion expects. Its events may change the rows that it deletes, such as a playlist that counts its tracks: a row that
 * had the expected version before the events still passes.
 */
export class ExpectedRows {
  /** Ids of rows with the expected versions, by their positions in the request. */
  private readonly fitting: ReadonlyMap<number, number>

  /** @param table snapshot of the table before the events */
  constructor(
    private readonly request: Conditions & Pick<DeleteRequest, 'rowIds'>,
    table: TableSnapshot,
  ) {
    const { rowIds, stamps, ifMatch } = request
    const all = stamps || ifMatch ? [...rowIds.entries()] : []
    this.fitting = new Map(
      all.filter(([i, rowId]) => {
        const row = table.row(rowId)
        return row && (stamps?.[i] ?? row.stamp) === row.stamp && isExpected(ifMatch, row)
      }),
    )
  }

  /** @param table snapshot of the table after the events, in the same transaction */
  after(table: TableSnapshot): Conditions {
    const { stamps, ifMatch } = this.request
    const now = new Map(Array.from(this.fitting, ([i, rowId]) => [i, table.row(rowId)?.stamp] as const))
    const versions = Array.from(this.fitting.values(), rowId => table.row(rowId)?.version ?? [])
    return {
      ...(stamps && { stamps: stamps.map((stamp, i) => now.get(i) ?? stamp) }),
      ...(ifMatch && { ifMatch: ifMatch === 'any' ? ifMatch : [...ifMatch, ...versions.flat()] }),
    }
  }
}
