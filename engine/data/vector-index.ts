import type { StorageAttribute, VectorMetric } from '../catalog/attribute.ts'
import type { Catalog } from '../catalog/dataclass.ts'

/** An index of the vectors of an attribute, as the planner of any thread knows it. */
export interface VectorIndex {
  readonly metric: VectorMetric
  /** Expected time to find the nearest of them, in microseconds. */
  cost(count: number): number
  /** The nearest `count`. Undefined: this thread cannot ask. */
  readonly nearest?: (vector: Float32Array, count: number) => Nearest
}

/** Result of an index. Some rows may have been deleted. */
export interface Nearest {
  /** Row ids, the nearest first. */
  readonly near: readonly number[]
  /** Minimum and maximum possible score of each. Undefined: not known. */
  readonly bounds: Float64Array | undefined
  /** Row ids that the index does not know yet: they may be anywhere. */
  readonly unknown: readonly number[]
}

/** Distances between longer and shorter vectors can leave the range of a Float32: an index cannot tell which are nearer. */
const MAX_LENGTH = 1e15

/** Whether an index can tell what is near to a vector of this length. */
export const isComparable = (length: number): boolean => length <= MAX_LENGTH && length >= 1 / MAX_LENGTH

/** The indexes of vectors that can be used now. */
export interface VectorIndexes {
  find(attribute: StorageAttribute): VectorIndex | undefined
  /** Nearest that the last search for all above a threshold had to ask for, in this thread: the next is probably like it. */
  readonly needed: Map<StorageAttribute, number>
}

export const indexedVectors = (catalog: Catalog): StorageAttribute[] =>
  catalog.dataClasses
    .flatMap(({ attributes }) => attributes)
    .filter(
      (attribute): attribute is StorageAttribute =>
        attribute.kind === 'storage' && attribute.vector?.hnsw !== undefined,
    )

/**
 * Published by the thread that has the indexes, about each: whether it can be asked now, and how long a search takes.
 */
export class IndexStatus implements VectorIndexes {
  readonly needed = new Map<StorageAttribute, number>()
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

  /** @param microseconds of a search for {@link MEASURED_COUNT}; 0: the index cannot be used */
  set(attribute: StorageAttribute, microseconds: number): void {
    Atomics.store(this.words, this.slots.get(attribute)!, Math.ceil(microseconds))
  }

  /** The thread that had them is gone. */
  clear(): void {
    for (const slot of this.slots.values()) Atomics.store(this.words, slot, 0)
  }
}

/** How many nearest are searched for to see what a search takes. */
export const MEASURED_COUNT = 100

/**
 * Candidates of a search, as a multiple of those of one for {@link MEASURED_COUNT}: of more they are harder to find. A search
 * visits about as many vectors as it has candidates.
 */
export const effortOf = (count: number): number => (count <= MEASURED_COUNT ? 1 : (1.5 * count) / MEASURED_COUNT)

/** Stands for microseconds of searches that are used whatever they take. */
export const FREE = 1

export const costOf = (microseconds: number, count: number): number =>
  microseconds === FREE ? 0 : microseconds * effortOf(count)
