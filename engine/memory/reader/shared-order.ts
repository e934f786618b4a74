import type { Value } from '../../catalog/value.ts'
import type { IndexRange, RowOrder, Span } from '../../data/snapshot.ts'
import { fold } from '../../base/text/fold.ts'
import { type ColumnValue, compareValues } from '../index/column-reader.ts'
import { positionOf, rowCountOf, rowsBetween } from '../index/order-tree.ts'
import type { Address } from '../heap/address.ts'
import type { SharedHeap } from '../heap/shared-heap.ts'
import type { SharedTexts } from '../text/text-pool.ts'

/** Compares a value with the searched one: less than 0 when it comes before, 0 when it is equal. */
type Probe = (value: number | bigint) => number

/** An order in one version of the shared memory. */
export class SharedOrder implements RowOrder {
  readonly size: number

  constructor(
    private readonly heap: SharedHeap,
    /** Set for a column of texts. */
    private readonly texts: SharedTexts | undefined,
    private readonly root: Address,
    private readonly read: (rowId: number) => ColumnValue,
  ) {
    this.size = rowCountOf(heap.words, root)
  }

  find(range: IndexRange): Span {
    if ('prefix' in range) return this.texts ? this.between(this.texts.prefixComparer(range.prefix) as Probe) : NOWHERE
    if ('equal' in range) return range.equal === null ? this.nulls : this.between(this.probe(range.equal))
    const { lower, upper } = range
    const start = lower ? this.position(this.probe(lower.value), lower.inclusive ? -1 : 0) : this.nulls.end
    const end = upper ? this.position(this.probe(upper.value), upper.inclusive ? 0 : -1) : this.size
    return { start, end: Math.max(start, end) }
  }

  same(rowId: number): Span {
    return this.ofValue(this.read(rowId))
  }

  /** Span of the rows that have a value, given as stored in the column. */
  ofValue(value: ColumnValue): Span {
    return value === undefined ? this.nulls : this.between(other => compareValues(other, value, this.texts))
  }

  isSame(a: number, b: number): boolean {
    return compareValues(this.read(a), this.read(b), this.texts) === 0
  }

  rowIds({ start, end }: Span): Uint32Array {
    return rowsBetween(this.heap, this.root, start, end)
  }

  private get nulls(): Span {
    return { start: 0, end: positionOf(this.heap, this.root, rowId => this.read(rowId) === undefined) }
  }

  private between(probe: Probe): Span {
    return { start: this.position(probe, -1), end: this.position(probe, 0) }
  }

  /** Number of rows that are null or have a value for which the probe returns at most `most`. */
  private position(probe: Probe, most: -1 | 0): number {
    return positionOf(this.heap, this.root, rowId => {
      const value = this.read(rowId)
      return value === undefined || (most === 0 ? probe(value) <= 0 : probe(value) < 0)
    })
  }

  private probe(target: Value): Probe {
    if (this.texts) return this.texts.comparerTo(fold(String(target))) as Probe
    const number = typeof target === 'boolean' ? Number(target) : (target as number | bigint)
    return value => (value < number ? -1 : value > number ? 1 : 0)
  }
}

const NOWHERE: Span = { start: 0, end: 0 }
