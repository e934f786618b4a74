import { TYPES } from '../catalog/types/registry.ts'
import type { StorageAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import { RowSet } from '../row-set/row-set.ts'
import { fold } from '../base/text/fold.ts'
import type { Environment } from './environment.ts'
import { attributeRange, indexPrefix, prefixEnd, textIndexPrefix } from './keys.ts'
import { isCut } from '../row-format/index-key.ts'
import { estimatePostings, firstPosting, postingCount, postings, postingsInRange } from './postings.ts'
import type { Bounds, IndexRange, SecondaryIndex } from '../data/snapshot.ts'

interface KeyRange {
  start: Buffer
  end: Buffer
  /** Filters texts that share a key; undefined when keys suffice to tell them apart. */
  recheck?: (foldedText: string) => boolean
}

/** The index in LMDB: the rows of each value, in the order of the values. */
export class LmdbIndex implements SecondaryIndex {
  constructor(
    private readonly environment: Environment,
    private readonly attribute: StorageAttribute,
    /** Returns the whole folded text of a row, for texts that are longer than keys. */
    private readonly foldedText: (rowId: number) => string | undefined,
  ) {}

  equal(value: Value): RowSet {
    const { start, end, recheck } = this.equalRange(value)
    // Rows with the same value are ordered by their ids.
    return RowSet.fromSorted(
      start.equals(end) ? NO_ROWS : this.recheckRows(postings(this.environment.index, start), recheck),
    )
  }

  /** The first row that {@link equal} finds; the only one for a unique attribute. */
  first(value: Value): number | undefined {
    const { start, end, recheck } = this.equalRange(value)
    const { index } = this.environment
    if (recheck) return this.recheckRows(postings(index, start), recheck)[0]
    return start.equals(end) ? undefined : firstPosting(index, start)
  }

  range(bounds: Bounds): RowSet {
    return RowSet.fromIds(this.rowIds(this.boundsRange(bounds)))
  }

  prefix(prefix: string): RowSet {
    return RowSet.fromIds(this.rowIds(this.prefixRange(prefix)))
  }

  estimate(what: IndexRange, limit: number): number {
    const { index } = this.environment
    if ('equal' in what) {
      const { start, end } = this.equalRange(what.equal)
      return start.equals(end) ? 0 : Math.min(limit, postingCount(index, start))
    }
    const { start, end } = 'prefix' in what ? this.prefixRange(what.prefix) : this.boundsRange(what)
    return limit <= 0 || start.compare(end) >= 0 ? 0 : estimatePostings(index, start, end, limit)
  }

  private equalRange(value: Value): KeyRange {
    const nearest = value === null ? null : nearestIndexed(this.attribute, value)
    const start = indexPrefix(this.attribute, nearest)
    // No row has a value that the index cannot hold.
    if (nearest !== null && (nearest < value! || nearest > value!)) return { start, end: start }
    const range: KeyRange = { start, end: prefixEnd(start) }
    if (isCutValue(nearest)) {
      const foldedText = fold(nearest as string)
      range.recheck = text => text === foldedText
    }
    return range
  }

  private boundsRange({ lower, upper }: Bounds): KeyRange {
    const { valuesStart, end } = attributeRange(this.attribute.dataClass.tableNumber, this.attribute.position)
    const range: KeyRange = { start: valuesStart, end }
    if (lower) {
      const nearest = nearestIndexed(this.attribute, lower.value)
      const prefix = indexPrefix(this.attribute, nearest)
      const inclusive = nearest > lower.value! || (lower.inclusive && !(nearest < lower.value!))
      range.start = inclusive || isCutValue(nearest) ? prefix : prefixEnd(prefix)
    }
    if (upper) {
      const nearest = nearestIndexed(this.attribute, upper.value)
      const prefix = indexPrefix(this.attribute, nearest)
      const inclusive = nearest < upper.value! || (upper.inclusive && !(nearest > upper.value!))
      range.end = inclusive || isCutValue(nearest) ? prefixEnd(prefix) : prefix
    }
    if (isCutValue(lower?.value) || isCutValue(upper?.value)) {
      const low = lower && { ...lower, value: fold(lower.value as string) }
      const high = upper && { ...upper, value: fold(upper.value as string) }
      range.recheck = foldedText =>
        (!low || foldedText > low.value || (low.inclusive && foldedText === low.value)) &&
        (!high || foldedText < high.value || (high.inclusive && foldedText === high.value))
    }
    return range
  }

  private prefixRange(prefix: string): KeyRange {
    const start = textIndexPrefix(this.attribute, prefix)
    const range: KeyRange = { start, end: prefixEnd(start) }
    if (isCut(prefix)) range.recheck = foldedText => foldedText.startsWith(prefix)
    return range
  }

  private rowIds({ start, end, recheck }: KeyRange): Uint32Array {
    return start.compare(end) >= 0
      ? NO_ROWS
      : this.recheckRows(postingsInRange(this.environment.index, start, end), recheck)
  }

  private recheckRows(rowIds: Uint32Array, recheck: KeyRange['recheck']): Uint32Array {
    if (!recheck) return rowIds
    return rowIds.filter(rowId => {
      const foldedText = this.foldedText(rowId)
      return foldedText !== undefined && recheck(foldedText)
    })
  }
}

const NO_ROWS = new Uint32Array(0)

type Ordered = string | number | bigint | boolean

const isCutValue = (value: Value | undefined): boolean => typeof value === 'string' && isCut(fold(value))

const MIN_LONG64 = -(2n ** 63n)
const MAX_LONG64 = 2n ** 63n - 1n

/** The value, or the nearest value that the attribute's index can hold. A bound stays exact if the caller compares the two. */
function nearestIndexed(attribute: StorageAttribute, value: Value): Ordered {
  if (TYPES[attribute.type].cell === 'integer' && (typeof value === 'number' || typeof value === 'bigint')) {
    if (value <= MIN_LONG64) return MIN_LONG64
    if (value >= MAX_LONG64) return MAX_LONG64
    return BigInt(typeof value === 'number' ? Math.trunc(value) : value)
  }
  return typeof value === 'bigint' ? Number(value) : (value as Ordered)
}
