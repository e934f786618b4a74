import { memory } from '../processes/memory.ts'
import { megabytes } from '../report/numbers.ts'
import { sumOf } from '../report/verdict.ts'
import { differs, type EngineCase, engineCase, pageOf } from './engine-case.ts'
import { CHECKS, PreparedVectors, Recall } from './prepared-vectors.ts'

const PLAN = { rows: 1_000_000, dimension: 128, clusters: 10_000 }
const NEAREST = 100

/** Shows that this many vectors fit in memory: making the store and its index takes some ten minutes. */
export const vectorMillion: EngineCase = engineCase({
  name: 'vector-nearest-1m-128',
  title: `the ${NEAREST} nearest, 1 M × 128`,
  goals: { recall: 0.99 },
  isLong: true,
  prepare: async () => {
    const before = memory().resident
    const vectors = await PreparedVectors.of(PLAN)
    const sharedBytes = Object.entries(vectors.engine.parts.heap?.usedBytes() ?? {})
    const recall = new Recall()
    return {
      units: NEAREST,
      unit: 'rows',
      checks: CHECKS,
      atOnce: 4,
      run: n => vectors.read(n, null, { top: NEAREST }),
      problemOf: (answer, n) => {
        const { count, keys } = pageOf(answer as Uint8Array)
        recall.add(vectors.nearest(n, NEAREST), keys)
        return differs('the count', count, PLAN.rows)
      },
      recall: () => recall.value,
      remark: () => {
        // The vectors and rankings of the benchmark are in the process, but not part of the store.
        const parts = sharedBytes.map(([part, bytes]) => `${part} ${megabytes(bytes)}`).join(', ')
        const resident = memory().resident - before - vectors.ownBytes
        return `shared memory ${megabytes(sumOf(Object.fromEntries(sharedBytes)))} (${parts}), resident in all ${megabytes(resident)}`
      },
    }
  },
})
