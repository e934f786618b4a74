import { GROUPS, type VectorWorldPlan } from '../world/vector-world.ts'
import { differs, type EngineCase, type EngineGoals, engineCase, pageOf } from './engine-case.ts'
import { CHECKS, PreparedVectors, Recall } from './prepared-vectors.ts'

const ROWS = 100_000
const NEAREST = 100
/** Number of concurrent clients, as on a server: threads that take turns on a query need not wait for each other. */
const CLIENTS = 4

const nameOf = ({ dimension, clusters }: VectorWorldPlan) => `${dimension}${clusters > 0 ? '' : '-unclustered'}`
const titleOf = ({ rows, dimension, clusters }: VectorWorldPlan) =>
  `${rows / 1000} k × ${dimension}${clusters > 0 ? '' : ', unclustered'}`

/** All rows above a threshold that a share of the rows passes. */
const threshold = (plan: VectorWorldPlan, share: number, exact: boolean, goals: EngineGoals): EngineCase =>
  engineCase({
    name: exact ? `vector-scan-${nameOf(plan)}` : `vector-narrow-${share * 100}%-${nameOf(plan)}`,
    title: `${exact ? 'exact scan: ' : ''}the ${share * 100} % above a threshold, ${titleOf(plan)}`,
    goals,
    prepare: async () => {
      const vectors = await PreparedVectors.of(plan)
      const recall = new Recall()
      const passing = Math.round(share * plan.rows)
      const thresholds = Array.from({ length: CHECKS }, (_, n) => {
        const { rows, scores } = vectors.ranking(n)
        return (scores[rows[passing - 1]!]! + scores[rows[passing]!]!) / 2
      })
      return {
        units: plan.rows,
        unit: 'vectors',
        checks: CHECKS,
        atOnce: CLIENTS,
        run: n => vectors.read(n % CHECKS, thresholds[n % CHECKS]!, { exact, top: NEAREST }),
        problemOf: async (answer, n) => {
          const { count } = pageOf(answer as Uint8Array)
          const all = await vectors.read(n, thresholds[n]!, { exact, top: passing })
          recall.add(vectors.nearest(n, passing), pageOf(all).keys)
          return exact ? differs('the count', count, passing) : undefined
        },
        recall: () => recall.value,
      }
    },
  })

/** The nearest of all rows. */
const nearest = (plan: VectorWorldPlan, goals: EngineGoals): EngineCase =>
  engineCase({
    name: `vector-nearest-${nameOf(plan)}`,
    title: `the ${NEAREST} nearest, ${titleOf(plan)}`,
    goals,
    prepare: async () => {
      const vectors = await PreparedVectors.of(plan)
      const recall = new Recall()
      return {
        units: NEAREST,
        unit: 'rows',
        checks: CHECKS,
        atOnce: CLIENTS,
        run: n => vectors.read(n, null, { top: NEAREST }),
        problemOf: (answer, n) => {
          const { count, keys } = pageOf(answer as Uint8Array)
          recall.add(vectors.nearest(n, NEAREST), keys)
          return differs('the count', count, plan.rows)
        },
        recall: () => recall.value,
      }
    },
  })

/** The nearest of the rows that pass a predicate, alternating with an exact scan of those rows. */
const nearestOf = (plan: VectorWorldPlan, groups: number): EngineCase =>
  engineCase({
    name: `vector-nearest-${nameOf(plan)}-${(groups / GROUPS) * 100}%`,
    title: `the ${NEAREST} nearest of ${(groups / GROUPS) * 100} %, ${titleOf(plan)}`,
    goals: { recall: 0.99, against: 1.1 },
    prepare: async () => {
      const vectors = await PreparedVectors.of(plan)
      const recall = new Recall()
      const request = { filter: 'group < :2 and embedding > :1', top: NEAREST }
      return {
        units: NEAREST,
        unit: 'rows',
        checks: CHECKS,
        run: n => vectors.read(n, null, request, groups),
        against: { what: 'the exact scan', run: n => vectors.read(n, null, { ...request, exact: true }, groups) },
        problemOf: (answer, n) => {
          const { count, keys } = pageOf(answer as Uint8Array)
          recall.add(vectors.nearest(n, NEAREST, groups), keys)
          return differs('the count', count, (plan.rows * groups) / GROUPS)
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
  threshold(plan, 0.01, true, { perCoreSecond: plan.dimension === 128 ? 400 : 150, recall: 1 }),
  ...[0.0001, 0.0005, 0.001].map(share => threshold(plan, share, false, { perSecond: 2_000, recall: 0.999 })),
  nearest(plan, { recall: 0.99, ...(plan.dimension === 128 && { perSecond: 4_000 }) }),
  ...[500, 100, 10, 1].map(groups => nearestOf(plan, groups)),
])
