import type { HierarchicalNSW } from 'hnswlib-node'
import type { VectorMetric, VectorOptions } from '../../catalog/attribute.ts'
import { effortOf, isComparable, MEASURED_COUNT, type Nearest } from '../../data/vector-index.ts'

export type Hnswlib = { HierarchicalNSW: typeof HierarchicalNSW }

const SPACES = { cosine: 'cosine', dot: 'ip', euclidean: 'l2' } as const satisfies Record<VectorMetric, string>
const FIRST_CAPACITY = 1024

/**
 * A nearest-neighbour graph of vectors, by row ids. Rows that have changed since they were put in are pending, and part of every
 * search. Belongs to one thread: hnswlib-node shares nothing.
 */
export class HnswGraph {
  /** Rows added, changed or deleted since they were last put in. */
  readonly pending = new Set<number>()
  /** Rows that cannot be in a graph. */
  private readonly unindexable = new Set<number>()
  private readonly members = new Set<number>()
  /** Number of deleted rows: they stay in the graph as marks, which cost a search as much as vectors. */
  private deletedCount = 0
  private capacity = 0
  private readonly numbers: number[] = []

  private constructor(
    private readonly hnsw: HierarchicalNSW,
    private readonly metric: VectorMetric,
    private readonly dimension: number,
  ) {}

  static create({ HierarchicalNSW }: Hnswlib, { dimension, metric, hnsw }: VectorOptions): HnswGraph {
    const graph = new HnswGraph(new HierarchicalNSW(SPACES[metric], dimension), metric, dimension)
    graph.hnsw.initIndex(FIRST_CAPACITY, hnsw!.m, hnsw!.efConstruction)
    graph.capacity = FIRST_CAPACITY
    return graph
  }

  /** @param path of a file that {@link save} wrote @param state what it returned @throws {Error} when the file cannot be read */
  static load(
    { HierarchicalNSW }: Hnswlib,
    { dimension, metric }: VectorOptions,
    path: string,
    { beside, waiting, deleted }: GraphState,
  ): HnswGraph {
    const graph = new HnswGraph(new HierarchicalNSW(SPACES[metric], dimension), metric, dimension)
    graph.hnsw.readIndexSync(path)
    graph.capacity = graph.hnsw.getMaxElements()
    const deletedIds = new Set(deleted)
    for (const rowId of graph.hnsw.getIdsList()) if (!deletedIds.has(rowId)) graph.members.add(rowId)
    for (const rowId of beside) graph.unindexable.add(rowId)
    for (const rowId of waiting) graph.pending.add(rowId)
    graph.deletedCount = deleted.length
    return graph
  }

  get size(): number {
    return this.members.size
  }

  /** True if so large a share of the graph's entries are marks of deleted rows that a rebuild pays off. */
  get needsRebuild(): boolean {
    return this.deletedCount > MAX_DELETED_SHARE * Math.max(FIRST_CAPACITY, this.members.size)
  }

  /** @param vector current vector of the row; undefined if it has none */
  put(rowId: number, vector: Float32Array | undefined, length: number): void {
    this.pending.delete(rowId)
    this.unindexable.delete(rowId)
    const hasDirection = length > 0 || this.metric !== 'cosine'
    const isExtreme = length > 0 && !isComparable(length)
    if (!vector || !hasDirection || isExtreme) {
      if (vector && isExtreme) this.unindexable.add(rowId)
      if (this.members.delete(rowId)) {
        this.hnsw.markDelete(rowId)
        this.deletedCount++
      }
      return
    }
    if (this.hnsw.getCurrentCount() === this.capacity) {
      this.capacity *= 2
      this.hnsw.resizeIndex(this.capacity)
    }
    this.hnsw.addPoint(this.toNumbers(vector), rowId)
    this.members.add(rowId)
  }

  /** @param candidates minimum number of entries examined: more is slower, with better recall */
  nearest(vector: Float32Array, count: number, candidates: number): Nearest {
    const unknown = [...this.pending, ...this.unindexable]
    const wantedCount = Math.min(this.members.size, count)
    const query = this.toNumbers(vector)
    // Some of the pending rows are in the graph too, perhaps with earlier values.
    for (let more = 0; ; more = 2 * more + 16) {
      const k = Math.min(this.members.size, wantedCount + Math.min(more, this.pending.size))
      if (k === 0) return { near: [], bounds: undefined, unknown }
      this.hnsw.setEf(Math.max(candidates, Math.ceil(MEASURED_COUNT * effortOf(k))))
      const { neighbors, distances } = this.hnsw.searchKnn(query, k)
      if (this.pending.size === 0) return { near: neighbors, bounds: this.scoreBounds(distances), unknown }
      const isKnown = (_: unknown, i: number): boolean => !this.pending.has(neighbors[i]!)
      const near = neighbors.filter(isKnown)
      if (near.length >= wantedCount || k === this.members.size || more > this.pending.size) {
        return { near, bounds: this.scoreBounds(distances.filter(isKnown)), unknown }
      }
    }
  }

  /** Converts a vector for hnswlib-node. Valid until the next call: a new array each time took ten times as long. */
  private toNumbers(vector: Float32Array): number[] {
    for (let i = 0; i < vector.length; i++) this.numbers[i] = vector[i]!
    return this.numbers
  }

  /**
   * Bounds of scores from distances, which are 1 - cosine of vectors scaled to length 1, or squares of euclidean distances,
   * summed in single precision. Undefined for products, whose error depends on lengths that are not known here.
   * Source: Higham, Accuracy and Stability of Numerical Algorithms (2002), 3.1.
   */
  private scoreBounds(distances: readonly number[]): Float64Array | undefined {
    if (this.metric === 'dot') return undefined
    const error = (2 * this.dimension + 64) * 2 ** -24
    // Squares of small numbers underflow to zero.
    const loss = this.dimension * 2 ** -126
    const bounds = new Float64Array(2 * distances.length)
    const isCosine = this.metric === 'cosine'
    for (let i = 0; i < distances.length; i++) {
      const distance = distances[i]!
      bounds[2 * i] = isCosine ? 1 - distance - error : Math.sqrt(Math.max(0, distance * (1 - error) - loss))
      bounds[2 * i + 1] = isCosine ? 1 - distance + error : Math.sqrt(distance * (1 + error) + loss)
    }
    return bounds
  }

  /** Writes the graph to a file; nothing may be put in meanwhile. @returns state to be kept beside the file */
  async save(path: string): Promise<GraphState> {
    const deletedRowIds = this.hnsw.getIdsList().filter(rowId => !this.members.has(rowId))
    const state = { beside: [...this.unindexable], waiting: [...this.pending], deleted: deletedRowIds }
    await this.hnsw.writeIndex(path)
    return state
  }
}

/** State of a graph that a file of hnswlib does not contain. */
export interface GraphState {
  readonly beside: readonly number[]
  readonly waiting: readonly number[]
  readonly deleted: readonly number[]
}

const MAX_DELETED_SHARE = 0.25
