import type { CellForm } from '../../catalog/types/descriptor.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { SEGMENT_ROWS, SEGMENT_WORDS } from '../../data/snapshot.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import { readsSegments } from '../scan/cell-reader.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { segmentFilter } from '../scan/filter-column.ts'

/**
 * Rows that include the first `count` of an order by an own number, and a few others. A pass over the segments keeps the best values so
 * far, and selects from each further segment only rows that are at least as good as the last of these. After some segments, hardly any rows
 * are selected.
 * @param rows may include deleted rows, which are sorted like null, as in every order
 * @returns `rows` when the selection would not pay off, or is not possible for this key
 */
export function topCandidates(key: SortKey, rows: RowSet, count: number, { snapshot, budget }: QueryContext): RowSet {
  const { attribute, relations, descending } = key
  const table = snapshot.table(attribute.dataClass)
  if (attribute.kind !== 'storage' || relations.length > 0 || !NUMBERS.has(TYPES[attribute.type].cell)) return rows
  if (rows.size < 4 * count || !readsSegments(table, rows.size)) return rows
  const column = table.column(attribute)
  const words = new Uint32Array(Math.ceil(table.rowIdLimit / SEGMENT_ROWS) * SEGMENT_WORDS)
  const sign = descending ? -1 : 1
  const best = new Best(count)
  rows.forEachBlock(SEGMENT_WORDS, (index, bits) => {
    budget.examine(SEGMENT_ROWS)
    const segment = column.segment(index)
    const { presence: present, values } = segment as typeof segment & { kind: 'number' }
    const last = best.last
    const withValue = words.subarray(index * SEGMENT_WORDS, (index + 1) * SEGMENT_WORDS)
    for (let word = 0; word < SEGMENT_WORDS; word++) withValue[word] = bits[word]! & present[word]!
    if (last !== Number.POSITIVE_INFINITY) {
      const [lower, upper] = descending ? [-last, Number.POSITIVE_INFINITY] : [Number.NEGATIVE_INFINITY, last]
      const numbers = { lower, upper, inside: true }
      withValue.set(segmentFilter({ whenNull: false, matches: () => false, numbers })(segment, withValue))
    }
    for (let word = 0; word < SEGMENT_WORDS; word++) {
      for (let rest = withValue[word]!; rest !== 0; rest &= rest - 1) {
        best.add(sign * values[word * 32 + (31 - Math.clz32(rest & -rest))]!)
      }
      // Null is the lowest value: first in ascending order; in descending order needed only if there are too few other values.
      const nulls = bits[word]! & ~present[word]!
      if (nulls === 0 || (descending && last !== Number.POSITIVE_INFINITY)) continue
      withValue[word] = withValue[word]! | nulls
      for (let rest = nulls; rest !== 0; rest &= rest - 1) {
        best.add(descending ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY)
      }
    }
  })
  return RowSet.fromWords(words)
}

/** Forms of cells whose segments always hold numbers. */
const NUMBERS: ReadonlySet<CellForm> = new Set(['double', 'date', 'bit'])

/** The `count` lowest of the added values, in a heap with the highest of them on top. */
export class Best {
  private readonly heap: Float64Array
  private length = 0

  constructor(count: number) {
    this.heap = new Float64Array(count)
  }

  /** Highest of the kept values; Infinity while there are fewer than `count`. */
  get last(): number {
    return this.length < this.heap.length ? Number.POSITIVE_INFINITY : this.heap[0]!
  }

  add(value: number): void {
    const { heap } = this
    if (this.length < heap.length) this.siftUp(value)
    else if (value < heap[0]!) this.siftDown(value)
  }

  private siftUp(value: number): void {
    const { heap } = this
    let hole = this.length++
    for (let parent = (hole - 1) >>> 1; hole > 0 && heap[parent]! < value; parent = (hole - 1) >>> 1) {
      heap[hole] = heap[parent]!
      hole = parent
    }
    heap[hole] = value
  }

  private siftDown(value: number): void {
    const { heap } = this
    let hole = 0
    for (let child = 1; child < heap.length; child = 2 * hole + 1) {
      if (child + 1 < heap.length && heap[child + 1]! > heap[child]!) child++
      if (heap[child]! <= value) break
      heap[hole] = heap[child]!
      hole = child
    }
    heap[hole] = value
  }
}
