import type { Engine } from '../../engine/index.ts'
import { toParams } from '../../engine/query/parse/parse-params.ts'
import { GROUPS, openVectorWorld, VectorWorld, type VectorWorldPlan } from '../world/vector-world.ts'
import { differs, type EngineCase, type EngineOwes, engineCase, pageOf, readPage } from './engine-case.ts'

const ROWS = 100_000
const NEAREST = 100
/** Questions whose answers are known; later ones come again. */
const QUESTIONS = 200
const CHECKS = 20
const IDS = { attributes: { from: 'path' as const, items: [{ path: ['ID'], range: undefined }] } }

/** All vectors one behind the other, to tell answers by plain loops. */
class Prepared {
  private readonly numbers: Float32Array
  readonly questions: readonly Float32Array[]

  private constructor(
    readonly engine: Engine,
    private readonly world: VectorWorld,
  ) {
    const { rows, dimension } = world.plan
    this.numbers = new Float32Array(rows * dimension)
    for (let row = 0; row < rows; row++) this.numbers.set(world.vector(row), row * dimension)
    this.questions = Array.from({ length: QUESTIONS }, (_, n) => world.question(n))
  }

  private static readonly known = new Map<string, Promise<Prepared>>()

  /** Once for each plan: making an index takes a minute. */
  static of(plan: VectorWorldPlan): Promise<Prepared> {
    const key = JSON.stringify(plan)
    let prepared = Prepared.known.get(key)
    if (!prepared) {
      const world = new VectorWorld(plan)
      prepared = openVectorWorld(world).then(engine => new Prepared(engine, world))
      Prepared.known.set(key, prepared)
    }
    return prepared
  }

  question(n: number): Float32Array {
    return this.questions[n % QUESTIONS]!
  }

  /** Rows of the first groups with their cosines, the nearest first. */
  ranked(n: number, groups = GROUPS): { row: number; score: number }[] {
    const { dimension, rows } = this.world.plan
    const question = this.question(n)
    const ranked: { row: number; score: number }[] = []
    for (let row = 0; row < rows; row++) {
      if (row % GROUPS >= groups) continue
      let dot = 0
      let ofRow = 0
      let ofQuestion = 0
      for (let i = 0; i < dimension; i++) {
        const number = this.numbers[row * dimension + i]!
        dot += number * question[i]!
        ofRow += number * number
        ofQuestion += question[i]! * question[i]!
      }
      ranked.push({ row, score: dot / Math.sqrt(ofRow * ofQuestion) })
    }
    return ranked.sort((a, b) => b.score - a.score)
  }
}

/** Counts how many of those that should be found are. */
class Recall {
  private expected = 0
  private found = 0

  add(expected: readonly number[], keys: readonly number[]): void {
    const found = new Set(keys)
    this.expected += expected.length
    this.found += expected.filter(row => found.has(row)).length
  }

  get value(): number {
    return this.expected === 0 ? 1 : this.found / this.expected
  }
}

const nameOf = ({ dimension, clusters }: VectorWorldPlan) => `${dimension}${clusters > 0 ? '' : '-unclustered'}`
const titleOf = ({ rows, dimension, clusters }: VectorWorldPlan) =>
  `${rows / 1000} k × ${dimension}${clusters > 0 ? '' : ', unclustered'}`

/** Everything above a threshold that a share of the rows passes. */
const threshold = (plan: VectorWorldPlan, share: number, exact: boolean, owes: EngineOwes): EngineCase =>
  engineCase({
    name: `vector-${exact ? 'scan' : 'narrow'}-${nameOf(plan)}`,
    title: `${exact ? 'exact scan: ' : ''}the ${share * 100} % above a threshold, ${titleOf(plan)}`,
    owes,
    prepare: async () => {
      const prepared = await Prepared.of(plan)
      const recall = new Recall()
      const passing = Math.round(share * plan.rows)
      const ranked = Array.from({ length: CHECKS }, (_, n) => prepared.ranked(n))
      // Later questions take the threshold of an earlier one: what they find is of about that size.
      const thresholdOf = (n: number) =>
        (ranked[n % CHECKS]![passing - 1]!.score + ranked[n % CHECKS]![passing]!.score) / 2
      return {
        units: plan.rows,
        unit: 'vectors',
        checks: CHECKS,
        run: n => {
          const params = toParams([{ vector: [...prepared.question(n % CHECKS)], threshold: thresholdOf(n) }])
          const output = { form: 'collection' as const, ...IDS }
          return readPage(prepared.engine, {
            dataClass: 'Item',
            filter: 'embedding > :1',
            params,
            exact,
            top: passing,
            output,
          })
        },
        problemOf: (answer, n) => {
          const { count, keys } = pageOf(answer as Uint8Array)
          recall.add(
            ranked[n % CHECKS]!.slice(0, passing).map(({ row }) => row),
            keys,
          )
          return exact ? differs('the count', count, passing) : undefined
        },
        recall: () => recall.value,
      }
    },
  })

/** The nearest of all, or of those that pass a predicate. */
const nearest = (plan: VectorWorldPlan, groups: number, owes: EngineOwes): EngineCase =>
  engineCase({
    name: `vector-nearest-${nameOf(plan)}${groups === GROUPS ? '' : `-${groups / 10}%`}`,
    title: `the ${NEAREST} nearest${groups === GROUPS ? '' : ` of ${groups / 10} %`}, ${titleOf(plan)}`,
    owes,
    prepare: async () => {
      const prepared = await Prepared.of(plan)
      const recall = new Recall()
      const filter = groups === GROUPS ? 'embedding > :1' : 'group < :2 and embedding > :1'
      return {
        units: NEAREST,
        unit: 'rows',
        checks: CHECKS,
        run: n => {
          const params = toParams([{ vector: [...prepared.question(n)], threshold: null }, groups])
          const output = { form: 'collection' as const, ...IDS }
          return readPage(prepared.engine, { dataClass: 'Item', filter, params, top: NEAREST, output })
        },
        problemOf: (answer, n) => {
          const { count, keys } = pageOf(answer as Uint8Array)
          const ranked = prepared.ranked(n, groups)
          recall.add(
            ranked.slice(0, NEAREST).map(({ row }) => row),
            keys,
          )
          return differs('the count', count, ranked.length)
        },
        recall: () => recall.value,
      }
    },
  })

const PLANS: readonly VectorWorldPlan[] = [128, 384].flatMap(dimension => [
  { rows: ROWS, dimension, clusters: 1_000 },
  { rows: ROWS, dimension, clusters: 0 },
])

export const vectorCases: readonly EngineCase[] = PLANS.flatMap(plan => [
  threshold(plan, 0.01, true, { perSecond: plan.dimension === 128 ? 400 : 150, recall: 1 }),
  threshold(plan, 0.0005, false, { perSecond: 2_000, recall: 0.999 }),
  nearest(plan, GROUPS, { recall: 0.99, ...(plan.dimension === 128 && { perSecond: 4_000 }) }),
  ...[500, 100, 10, 1].map(groups => nearest(plan, groups, { recall: 0.99 })),
])
