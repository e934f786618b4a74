import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import { Suspended } from '../../data/suspended.ts'
import type { Nearest, VectorIndex, VectorIndexes, VectorSearch } from '../../data/vector-index.ts'

/** Search with its result. */
export interface Searched extends VectorSearch {
  /** Undefined if the index became unusable. */
  readonly found: Found | undefined
}

/** Result of a search, with the global stamp of the state for which it is valid. */
export interface Found extends Nearest {
  readonly stamp: number
}

/** Maximum number of searches of a query, which then continues without indexes. */
const MAX_SEARCHES = 32

/** The indexes of vectors for one query in a thread that does not have them. */
class SearchedIndexes implements VectorIndexes {
  /** @param stamp of the state that the query sees */
  constructor(
    private readonly indexes: VectorIndexes,
    private readonly searchResults: readonly Searched[],
    private readonly stamp: number,
  ) {}

  get neededCounts(): VectorIndexes['neededCounts'] {
    return this.indexes.neededCounts
  }

  find(attribute: StorageAttribute): VectorIndex | undefined {
    const { searchResults, stamp } = this
    const index = searchResults.length < MAX_SEARCHES ? this.indexes.find(attribute) : undefined
    const searches = searchResults.filter(each => isOf(each, attribute))
    if (!index || searches.some(({ found }) => !found)) return undefined
    return {
      ...index,
      nearest(vector, count) {
        const search = searches.find(each => each.count >= count && isEqual(each.vector, vector))
        if (search) return firstOf(search.found!, count, stamp)
        const missingSearch = { dataClass: attribute.dataClass.name, attribute: attribute.name, vector, count }
        throw new Suspended({ kind: 'searches', searches: [missingSearch] })
      },
    }
  }
}

/** Lets a query search indexes. @param indexes undefined if there are none @param searchResults results of its earlier searches */
export function searchIn(
  snapshot: Snapshot,
  indexes: VectorIndexes | undefined,
  searchResults: readonly Searched[] = [],
): void {
  snapshot.vectorIndexes = indexes && new SearchedIndexes(indexes, searchResults, snapshot.globalStamp)
}

const isOf = (search: VectorSearch, { name, dataClass }: StorageAttribute): boolean =>
  search.attribute === name && search.dataClass === dataClass.name

const isEqual = (a: Float32Array, b: Float32Array): boolean =>
  a.length === b.length && a.every((number, i) => number === b[i])

/** Returns the first `count` rows. Rows found in another state remain candidates, but their scores may differ now. */
function firstOf({ near, bounds, unknown, stamp }: Found, count: number, ofQuery: number): Nearest {
  return {
    near: near.slice(0, count),
    bounds: stamp === ofQuery ? bounds?.subarray(0, 2 * count) : undefined,
    unknown,
  }
}

// Layout: stamp, whether there are bounds, number of near rows; near rows, their bounds, unknown rows.
const HEADER = 3

/** @param result undefined if the index cannot be used */
export function encodeFound(result: Found | undefined): Uint8Array {
  if (!result) return new Uint8Array()
  const { near, bounds, unknown, stamp } = result
  const numbers = new Float64Array(HEADER + near.length + (bounds?.length ?? 0) + unknown.length)
  numbers.set([stamp, bounds ? 1 : 0, near.length])
  numbers.set(near, HEADER)
  if (bounds) numbers.set(bounds, HEADER + near.length)
  numbers.set(unknown, numbers.length - unknown.length)
  return new Uint8Array(numbers.buffer)
}

export function decodeFound({ buffer, byteOffset, byteLength }: Uint8Array): Found | undefined {
  if (byteLength === 0) return undefined
  const numbers = new Float64Array(buffer, byteOffset, byteLength / Float64Array.BYTES_PER_ELEMENT)
  const [stamp, hasBounds, count] = numbers as unknown as [number, number, number]
  const boundsAt = HEADER + count
  const unknownAt = boundsAt + (hasBounds ? 2 * count : 0)
  return {
    stamp,
    near: Array.from(numbers.subarray(HEADER, boundsAt)),
    bounds: hasBounds ? numbers.subarray(boundsAt, unknownAt) : undefined,
    unknown: Array.from(numbers.subarray(unknownAt)),
  }
}
