import type { Value } from '../catalog/value.ts'
import { RowSet } from '../row-set/row-set.ts'
import type { Bounds, SecondaryIndex } from '../storage/snapshot.ts'
import { fold } from '../text/fold.ts'
import { candidateCount, candidateRows } from './posting-index.ts'
import type { SharedHeap } from './shared-heap.ts'
import type { SharedTexts } from './text-pool.ts'
import { hashNumber } from './text-key.ts'

/** A value as columns have it: a number, or the address of a text; undefined for a text that no row has. */
export type Cell = number | bigint | undefined

/** The column of an index in one version. */
export interface IndexedColumn {
  readonly isText: boolean
  /** Whether the row exists and has the value. */
  has(rowId: number, cell: number | bigint): boolean
  /** All rows that do, by a look at each. */
  scan(cell: number | bigint): RowSet
  scanNull(): RowSet
}

/** Equality by the hash table in shared memory; order by the index in LMDB. */
export class SharedIndex implements SecondaryIndex {
  constructor(
    private readonly heap: SharedHeap,
    private readonly texts: SharedTexts,
    private readonly table: number,
    private readonly column: IndexedColumn,
    /** The index in LMDB, undefined when that has gone on to another commit. */
    private readonly ordered: () => SecondaryIndex | undefined,
    /** The same, or an error that makes the query start again. */
    private readonly orderedOrRestart: () => SecondaryIndex,
  ) {}

  equal(value: Value): RowSet {
    if (value === null) return this.column.scanNull()
    const cell = this.cell(value)
    if (cell === undefined) return RowSet.empty
    const rows = candidateRows(this.heap, this.table, this.hash(cell))
    return rows ? RowSet.fromIds(rows.filter(rowId => this.column.has(rowId, cell))) : this.column.scan(cell)
  }

  /** A row that has the value; of a unique attribute the only one. */
  first(value: Value): number | undefined {
    const cell = this.cell(value)
    if (cell === undefined) return undefined
    const rows = candidateRows(this.heap, this.table, this.hash(cell))
    return rows ? rows.find(rowId => this.column.has(rowId, cell)) : this.column.scan(cell).slice(0, 1)[0]
  }

  range(bounds: Bounds): RowSet {
    return this.orderedOrRestart().range(bounds)
  }

  prefix(prefix: string): RowSet {
    return this.orderedOrRestart().prefix(prefix)
  }

  estimate(what: { equal: Value } | Bounds | { prefix: string }, limit: number): number {
    // "Too many": the column is in memory, so that looking at each row is not slow.
    if (!('equal' in what)) return this.ordered()?.estimate(what, limit) ?? limit
    if (what.equal === null) return limit
    const cell = this.cell(what.equal)
    return cell === undefined ? 0 : Math.min(limit, candidateCount(this.heap, this.table, this.hash(cell)))
  }

  private cell(value: Value): Cell {
    switch (typeof value) {
      case 'string':
        return (this.column.isText && this.texts.find(fold(value))) || undefined
      case 'boolean':
        return Number(value)
      case 'number':
      case 'bigint':
        return this.column.isText ? undefined : value
      default:
        return undefined
    }
  }

  private hash(cell: number | bigint): number {
    return this.column.isText ? this.texts.hash(cell as number) : hashNumber(cell)
  }
}
