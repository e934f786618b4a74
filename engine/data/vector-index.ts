import type { StorageAttribute, VectorMetric } from '../catalog/attribute.ts'
import type { Catalog } from '../catalog/dataclass.ts'

/** An index of the vectors of an attribute, as the planners of all threads see it. */
export interface VectorIndex {
  readonly metric: VectorMetric
  /** Expected time to find the nearest of them, in microseconds. */
  cost(count: number): number
  /** Finds the nearest `count` rows. Undefined if this thread cannot search the index. */
  readonly nearest?: (vector: Float32Array, count: number) => Nearest
}

/** Result of a search in an index. Some rows may have been deleted. */
export interface Nearest {
  /** Row ids, the nearest first. */
  readonly near: readonly number[]
  /** Minimum and maximum possible score of each; undefined if not known. */
  readonly bounds: Float64Array | undefined
  /** Row ids that are not in the index yet: any of them may be near. */
  readonly unknown: readonly number[]
}

/**
 * Request to find the nearest `count` rows, as plain data for the thread that has the indexes. Handled in
 * `engine/threads/vector-thread.ts`.
 */
export interface VectorSearch {
  readonly dataClass: string
  readonly attribute: string
  readonly vector: Float32Array
  readonly count: number
}

/** Distances of vectors longer than this, or shorter than its inverse, can leave the range of a Float32: an index cannot order them. */
const MAX_LENGTH = 1e15

/** True if an index can find the neighbours of a vector of this length. */
export const isComparable = (length: number): boolean => length <= MAX_LENGTH && length >= 1 / MAX_LENGTH

/** The indexes of vectors that can be used now. */
export interface VectorIndexes {
  find(attribute: StorageAttribute): VectorIndex | undefined
  /** Count that this thread's last search for all rows above a threshold needed, as a first guess for the next search. */
  readonly neededCounts: Map<StorageAttribute, number>
}

export const indexedVectors = (catalog: Catalog): StorageAttribute[] =>
  catalog.dataClasses
    .filter(({ place }) => place.isStore)
    .flatMap(({ attributes }) => attributes)
    .filter(
      (attribute): attribute is StorageAttribute =>
        attribute.kind === 'storage' && attribute.vector?.hnsw !== undefined,
    )

/**
 * Status of each index, published by the thread that has the indexes: whether it can be searched now, and how long a search takes.
 */
export class IndexStatus implements VectorIndexes {
  readonly neededCounts = new Map<StorageAttribute, number>()
  private readonly slots: ReadonlyMap<StorageAttribute, number>

  /** @param words from {@link IndexStatus.allocate}, shared by all threads */
  constructor(
    catalog: Catalog,
    private readonly words: Int32Array,
  ) {
    this.slots = new Map(indexedVectors(catalog).map((attribute, i) => [attribute, i]))
  }

  static allocate(catalog: Catalog): Int32Array {
    return new Int32Array(new SharedArrayBuffer(4 * indexedVectors(catalog).length))
  }

  find(attribute: StorageAttribute): VectorIndex | undefined {
    const microseconds = Atomics.load(this.words, this.slots.get(attribute)!)
    if (microseconds === 0) return undefined
    return { metric: attribute.vector!.metric, cost: count => costOf(microseconds, count) }
  }

  /** @param microseconds duration of a search for {@link MEASURED_COUNT}; 0 if the index cannot be used */
  set(attribute: StorageAttribute, microseconds: number): void {
    Atomics.store(this.words, this.slots.get(attribute)!, Math.ceil(microseconds))
  }

  /** Marks all indexes as unusable, after the thread that had them has ended. */
  clear(): void {
    for (const slot of this.slots.values()) Atomics.store(this.words, slot, 0)
  }
}

/** Number of neighbours to search for when measuring the duration of a search. */
export const MEASURED_COUNT = 100

/**
 * Number of candidates of a search, as a multiple of the number for {@link MEASURED_COUNT}: the more neighbours are wanted, the harder they
 * are to find. A search visits about as many vectors as it has candidates.
 */
export const effortOf = (count: number): number => (count <= MEASURED_COUNT ? 1 : (1.5 * count) / MEASURED_COUNT)

/** Value instead of a duration in microseconds for an index that is used regardless of its cost. */
export const FREE = 1

export const costOf = (microseconds: number, count: number): number =>
  microseconds === FREE ? 0 : microseconds * effortOf(count)
