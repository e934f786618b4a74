import type { Value } from '../../catalog/value.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { Bounds, IndexRange, SecondaryIndex } from '../../data/snapshot.ts'
import { fold } from '../../base/text/fold.ts'
import { candidateCount, candidateRows, onlyCandidate } from '../index/posting-index.ts'
import type { Address } from '../heap/address.ts'
import type { SharedHeap } from '../heap/shared-heap.ts'
import type { SharedOrder } from './shared-order.ts'
import type { SharedTexts } from '../text/text-pool.ts'
import { hashNumber } from '../text/text-key.ts'

/** A value as stored in columns: a number, or the address of a text; undefined for a text that no row has. */
type Cell = number | bigint | undefined

/** Rows found in a hash table, in the state of one version. */
export interface CandidateRows {
  /** Prefetches the values of rows, so that the processor waits for many of them at a time. */
  touch(rowIds: Uint32Array): void
  /** True if a row exists and has the value. */
  have(rowId: number, cell: number | bigint): boolean
  /** All rows of a value that has too many to be listed. */
  ofMany(cell: number | bigint): Uint32Array
}

/** Rows of a value, found by a hash table in shared memory: candidates that are compared with the column of one version. */
export class SharedHash {
  constructor(
    private readonly heap: SharedHeap,
    /** Set for a column of texts. */
    private readonly texts: SharedTexts | undefined,
    private readonly table: Address,
    private readonly candidates: CandidateRows,
  ) {}

  /** Rows that have the value, in any order. */
  rows(value: Value): Uint32Array {
    const cell = this.cell(value)
    if (cell === undefined) return new Uint32Array(0)
    return this.rowsOf(cell, this.hash(cell))
  }

  /** A row that has the value; the only one for a unique attribute. */
  first(value: Value): number | undefined {
    const cell = this.cell(value)
    if (cell === undefined) return undefined
    const hash = this.hash(cell)
    const only = onlyCandidate(this.heap, this.table, hash)
    if (only !== undefined) return this.candidates.have(only, cell) ? only : undefined
    return this.rowsOf(cell, hash)[0]
  }

  /** Upper bound for the number of rows; Infinity when there are too many. */
  count(value: Value): number {
    const cell = this.cell(value)
    return cell === undefined ? 0 : candidateCount(this.heap, this.table, this.hash(cell))
  }

  private rowsOf(cell: number | bigint, hash: number): Uint32Array {
    const { candidates } = this
    const rowIds = candidateRows(this.heap, this.table, hash)
    if (!rowIds) return candidates.ofMany(cell)
    candidates.touch(rowIds)
    let count = 0
    for (let i = 0; i < rowIds.length; i++) {
      const rowId = rowIds[i]!
      if (candidates.have(rowId, cell)) rowIds[count++] = rowId
    }
    return rowIds.subarray(0, count)
  }

  private cell(value: Value): Cell {
    switch (typeof value) {
      case 'string':
        return this.texts?.find(fold(value)) || undefined
      case 'boolean':
        return Number(value)
      case 'number':
      case 'bigint':
        return this.texts ? undefined : value
      // Hash tables do not contain null, and objects have no index.
      case 'object':
        return undefined
      default:
        return value satisfies never
    }
  }

  private hash(cell: number | bigint): number {
    return this.texts ? this.texts.hash(cell as Address) : hashNumber(cell)
  }
}

/** Equality by the hash table, everything else by the order. */
export class SharedIndex implements SecondaryIndex {
  constructor(
    private readonly hash: SharedHash,
    readonly order: SharedOrder,
  ) {}

  equal(value: Value): RowSet {
    // Rows with the same value are in ascending order.
    if (value === null) return RowSet.fromSorted(this.order.rowIds(this.order.find({ equal: null })))
    return RowSet.fromIds(this.hash.rows(value))
  }

  range(bounds: Bounds): RowSet {
    return RowSet.fromIds(this.order.rowIds(this.order.find(bounds)))
  }

  prefix(prefix: string): RowSet {
    return RowSet.fromIds(this.order.rowIds(this.order.find({ prefix })))
  }

  estimate(what: IndexRange, limit: number): number {
    const count = 'equal' in what && what.equal !== null ? this.hash.count(what.equal) : Number.POSITIVE_INFINITY
    if (count < Number.POSITIVE_INFINITY) return Math.min(limit, count)
    const { start, end } = this.order.find(what)
    return Math.min(limit, end - start)
  }
}
