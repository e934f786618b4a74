import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { TableSnapshot } from '../../data/snapshot.ts'
import { HnswGraph, type Hnswlib } from './hnsw-graph.ts'
import { IndexFile } from './index-file.ts'
import { vectorReader } from '../../data/read-vectors.ts'
import { lengthOf } from '../math/similarity.ts'
import { costOf, FREE, MEASURED_COUNT, type VectorIndex } from '../../data/vector-index.ts'

export interface IndexOptions {
  /** Minimum number of vectors for an index; a scan of fewer vectors is as fast. */
  readonly minRows: number
  /** Average share of the nearest rows that a search has to find for the index to be used. */
  readonly recall: number
  /** Folder of the store. */
  readonly folder: string
  /** Uses the index whatever it costs. */
  readonly always?: boolean
}

/** Finds the exact nearest rows to a vector, except for excluded rows. */
export type ExactNearest = (vector: Float32Array, count: number) => Uint32Array

/** Number of held-out rows. The quality of the graph is measured by how well it finds the neighbours of these rows. */
const QUESTIONS = 32
/** Numbers of candidates to try. */
const CANDIDATES = [100, 120, 150, 200, 250, 300, 400, 500, 700, 1000]
/** Time of a request to the thread that has the index, on top of a search, in microseconds. */
const HANDOFF = 100
/** Minimum speedup of an index over a scan. */
const WORTHWHILE = 1.5
/** Maximum number of pending rows, which every search scores one by one: with more of them a scan of all codes is as fast. */
const MAX_WAITING = { rows: 500, share: 0.005 }
/** Changes after which a file is written again. */
const MIN_UNSAVED = { rows: 1_000, share: 0.1 }

/** The index of one attribute: builds, updates and measures it, and builds it again when too many of its rows are deleted. */
export class IndexKeeper {
  private readonly file: IndexFile
  /** The graph that is searched. */
  private graph: HnswGraph | undefined
  /** The graph that is being built. */
  private next: HnswGraph | undefined
  private questions: number[] = []
  private candidates = 0
  /** Time of a search; 0 if the graph is not good enough. */
  private microseconds = 0
  private unsaved = 0

  constructor(
    readonly attribute: StorageAttribute,
    private readonly hnswlib: Hnswlib,
    private readonly options: IndexOptions,
    private readonly note: (text: string) => void,
  ) {
    this.file = new IndexFile(options.folder, attribute)
  }

  /** Loads the index from its file. @returns the global stamp of the file; undefined when there is no usable one */
  async load(): Promise<number | undefined> {
    try {
      const loadedIndex = await this.file.load(this.hnswlib)
      if (!loadedIndex) return undefined
      this.graph = loadedIndex.graph
      this.candidates = loadedIndex.storedGraph.candidates
      this.microseconds = loadedIndex.storedGraph.microseconds
      this.note(`the index of ${this.name} comes from its file`)
      return loadedIndex.storedGraph.stamp
    } catch (error) {
      this.note(`the index of ${this.name} cannot be used: ${(error as Error).message}; it is made again`)
      return undefined
    }
  }

  /** Drops the index and its file. */
  drop(): void {
    this.file.remove()
    this.graph = undefined
    this.next = undefined
    this.microseconds = 0
  }

  markChanged(rowId: number): void {
    this.graph?.pending.add(rowId)
    this.next?.pending.add(rowId)
    this.unsaved++
  }

  /** Time of a search, in microseconds; 0: the index cannot be used. */
  get cost(): number {
    const { graph, microseconds } = this
    if (!graph) return 0
    return graph.pending.size <= Math.max(MAX_WAITING.rows, MAX_WAITING.share * graph.size) ? microseconds : 0
  }

  get index(): VectorIndex | undefined {
    const { graph, cost, candidates } = this
    if (!graph || cost === 0) return undefined
    return {
      metric: this.attribute.vector!.metric,
      cost: count => costOf(cost, count),
      nearest: (vector, count) => graph.nearest(vector, count, candidates),
    }
  }

  /**
   * Does part of the work that is pending.
   * @param until time at which to stop, by `performance.now`
   * @returns true if there is more
   */
  work(table: TableSnapshot, exactNearest: ExactNearest, until: number): boolean {
    if (!this.next && (this.graph ? this.graph.needsRebuild : table.live.size >= this.options.minRows))
      this.begin(table)
    const graph = this.next ?? this.graph
    if (!graph) return false
    const read = vectorReader(table, this.attribute)
    for (const rowId of graph.pending) {
      const vector = read(rowId)
      graph.put(rowId, vector, vector ? lengthOf(vector) : 0)
      if (performance.now() >= until) break
    }
    if (graph.pending.size > 0) return true
    if (graph === this.next) this.finish(graph, read, exactNearest)
    return graph.pending.size > 0 || graph.needsRebuild
  }

  get wantsSaving(): boolean {
    const { graph, next, unsaved } = this
    return graph !== undefined && !next && unsaved >= Math.max(MIN_UNSAVED.rows, MIN_UNSAVED.share * graph.size)
  }

  /** Writes the file; {@link work} must not be called meanwhile. @param stamp up to which changes have been received */
  async save(stamp: number): Promise<void> {
    const { graph, candidates, microseconds } = this
    this.unsaved = 0
    if (graph) await this.file.save(graph, { stamp, candidates, microseconds })
  }

  private begin({ live }: TableSnapshot): void {
    const graph = HnswGraph.create(this.hnswlib, this.attribute.vector!)
    const rowIds = live.toIds()
    const step = Math.max(1, Math.floor(rowIds.length / QUESTIONS))
    this.questions = []
    for (const [i, rowId] of rowIds.entries()) {
      if (i % step === step - 1) this.questions.push(rowId)
      else graph.pending.add(rowId)
    }
    this.next = graph
  }

  private finish(
    graph: HnswGraph,
    read: (rowId: number) => Float32Array | undefined,
    exactNearest: ExactNearest,
  ): void {
    const questions = this.questions.flatMap(rowId => read(rowId) ?? [])
    const { candidates, microseconds, recall, scan } = this.measure(graph, questions, exactNearest)
    const { always } = this.options
    const isGood = recall >= this.options.recall && (always || microseconds * WORTHWHILE < scan)
    this.candidates = candidates
    this.microseconds = isGood ? (always ? FREE : microseconds + HANDOFF) : 0
    const findings = `${candidates} candidates find ${(recall * 100).toFixed(1)} % of the ${MEASURED_COUNT} nearest`
    const times = `in ${Math.round(microseconds)} µs, a scan in ${Math.round(scan)} µs`
    this.note(
      `the index of ${this.name} ${isGood ? 'is ready' : 'is of no use for these vectors'}: ${findings} ${times}`,
    )
    for (const rowId of this.questions) graph.pending.add(rowId)
    this.graph = graph
    this.next = undefined
    this.unsaved = Number.POSITIVE_INFINITY
  }

  /** Finds the smallest number of candidates with which searches reach the required recall. */
  private measure(graph: HnswGraph, questions: readonly Float32Array[], exactNearest: ExactNearest) {
    const questionIds = new Set(this.questions)
    let scan = Number.POSITIVE_INFINITY
    const expected = questions.map(vector => {
      const start = performance.now()
      const rowIds = exactNearest(vector, MEASURED_COUNT + QUESTIONS)
      scan = Math.min(scan, (performance.now() - start) * 1000)
      return rowIds.filter(rowId => !questionIds.has(rowId)).subarray(0, MEASURED_COUNT)
    })
    const configuredCount = this.attribute.vector!.hnsw!.ef
    let result = { candidates: configuredCount ?? 0, recall: 1, microseconds: 0, scan }
    for (const candidates of configuredCount === undefined ? CANDIDATES : [configuredCount]) {
      let hits = 0
      let microseconds = Number.POSITIVE_INFINITY
      for (const [i, vector] of questions.entries()) {
        const start = performance.now()
        const nearestIds = new Set(graph.nearest(vector, MEASURED_COUNT, candidates).near)
        microseconds = Math.min(microseconds, (performance.now() - start) * 1000)
        for (const rowId of expected[i]!) if (nearestIds.has(rowId)) hits++
      }
      const all = expected.reduce((sum, { length }) => sum + length, 0)
      result = { candidates, recall: all === 0 ? 1 : hits / all, microseconds, scan }
      if (result.recall >= this.options.recall || (!this.options.always && microseconds * WORTHWHILE > scan)) break
    }
    return result
  }

  private get name(): string {
    return `${this.attribute.dataClass.name}.${this.attribute.name}`
  }
}
