import type { Engine } from '../../engine/index.ts'
import type { ReadRequest } from '../../engine/query/contract/request.ts'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import { GROUPS, openVectorWorld, VectorWorld, type VectorWorldPlan } from '../world/vector-world.ts'
import { readPage } from './engine-case.ts'

/** Number of different questions, which are then repeated. */
export const QUESTIONS = 200
/** Number of questions whose answers are known. */
export const CHECKS = 20

/** All rows by their cosine, nearest first. */
interface Ranking {
  readonly rows: Uint32Array
  /** Cosines by row. */
  readonly scores: Float64Array
}

/** A store of vectors with its index, and the answers that plain loops in double precision find. */
export class PreparedVectors {
  private readonly numbers: Float32Array
  private readonly questions: readonly Float32Array[]
  private readonly rankings: Ranking[] = []

  private constructor(
    readonly engine: Engine,
    readonly world: VectorWorld,
  ) {
    const { rows, dimension } = world.plan
    this.numbers = new Float32Array(rows * dimension)
    for (let row = 0; row < rows; row++) this.numbers.set(world.vector(row), row * dimension)
    this.questions = Array.from({ length: QUESTIONS }, (_, n) => world.question(n))
  }

  private static readonly instances = new Map<string, Promise<PreparedVectors>>()

  /** Opens the store of a plan once: making an index takes a minute. */
  static of(plan: VectorWorldPlan): Promise<PreparedVectors> {
    const key = JSON.stringify(plan)
    let vectors = PreparedVectors.instances.get(key)
    if (!vectors) {
      const world = new VectorWorld(plan)
      vectors = openVectorWorld(world).then(engine => new PreparedVectors(engine, world))
      PreparedVectors.instances.set(key, vectors)
    }
    return vectors
  }

  /** Closes the store, so that it can be copied. */
  static async close(plan: VectorWorldPlan): Promise<void> {
    const key = JSON.stringify(plan)
    const vectors = await PreparedVectors.instances.get(key)
    PreparedVectors.instances.delete(key)
    await vectors?.engine.close()
  }

  /** @param threshold null for none */
  read(
    n: number,
    threshold: number | null,
    request: Partial<ReadRequest>,
    ...params: readonly unknown[]
  ): ReturnType<Engine['queries']['read']> {
    const vector = [...this.question(n)]
    return readPage(this.engine, {
      dataClass: 'Item',
      filter: 'embedding > :1',
      params: toParams([{ vector, threshold }, ...params]),
      output: { form: 'collection', attributes: { from: 'path', items: [{ path: ['ID'], range: undefined }] } },
      ...request,
    })
  }

  question(n: number): Float32Array {
    return this.questions[n % QUESTIONS]!
  }

  /** Memory of the benchmark itself, not of the engine. */
  get ownBytes(): number {
    const rankings = Object.values(this.rankings).map(({ rows, scores }) => rows.byteLength + scores.byteLength)
    return rankings.reduce((sum, bytes) => sum + bytes, this.numbers.byteLength)
  }

  /** Ranking of the first {@link CHECKS} questions. */
  ranking(n: number): Ranking {
    this.rankings[n] ??= this.rank(this.questions[n]!)
    return this.rankings[n]
  }

  /** The nearest rows of the first groups. */
  nearest(n: number, count: number, groups = GROUPS): number[] {
    const { rows } = this.ranking(n)
    const nearest: number[] = []
    for (let i = 0; i < rows.length && nearest.length < count; i++) {
      if (rows[i]! % GROUPS < groups) nearest.push(rows[i]!)
    }
    return nearest
  }

  private rank(question: Float32Array): Ranking {
    const { dimension, rows: count } = this.world.plan
    const { numbers } = this
    const scores = new Float64Array(count)
    for (let row = 0; row < count; row++) {
      let dot = 0
      let ofRow = 0
      let ofQuestion = 0
      for (let i = 0; i < dimension; i++) {
        const number = numbers[row * dimension + i]!
        dot += number * question[i]!
        ofRow += number * number
        ofQuestion += question[i]! * question[i]!
      }
      scores[row] = dot / Math.sqrt(ofRow * ofQuestion)
    }
    const rows = Uint32Array.from({ length: count }, (_, row) => row).sort((a, b) => scores[b]! - scores[a]! || a - b)
    return { rows, scores }
  }
}

/** Share of the expected rows that were found. */
export class Recall {
  private expected = 0
  private foundCount = 0

  add(expected: readonly number[], keys: readonly number[]): void {
    const foundKeys = new Set(keys)
    this.expected += expected.length
    this.foundCount += expected.filter(row => foundKeys.has(row)).length
  }

  get value(): number {
    return this.expected === 0 ? 1 : this.foundCount / this.expected
  }
}
