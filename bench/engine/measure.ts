import { Histogram } from '../load/histogram.ts'
import type { EngineCase, EngineContext, EngineResult } from './engine-case.ts'

const CHECKED_RUNS = 5

/** Checks the first answers of a case, then runs it again and again for a time, one run after the other. */
export async function measureEngineCase(
  { name, title, owes = {}, prepare }: EngineCase,
  context: EngineContext,
  seconds: number,
): Promise<EngineResult> {
  const result = { name, title, owes, problem: undefined, perSecond: 0, p50Ms: 0, p99Ms: 0, units: 1, unit: '' }
  const { run, problemOf, units, unit, checks = CHECKED_RUNS, recall, afterwards, close } = await prepare(context)
  try {
    let n = 0
    for (; n < checks; n++) {
      const problem = problemOf(await run(n), n)
      if (problem) return { ...result, problem }
    }
    const histogram = new Histogram()
    const timed = async (duration: number, add: (microseconds: number) => void): Promise<number> => {
      const startedAt = performance.now()
      let now = startedAt
      while (now - startedAt < duration * 1000) {
        const answer = run(n++)
        if (answer instanceof Promise) await answer
        const end = performance.now()
        add((end - now) * 1000)
        now = end
      }
      return (now - startedAt) / 1000
    }
    await timed(seconds / 4, () => {})
    const elapsed = await timed(seconds, microseconds => histogram.add(microseconds))
    return {
      ...result,
      problem: afterwards?.(),
      recall: recall?.(),
      units,
      unit,
      perSecond: histogram.count / elapsed,
      p50Ms: histogram.quantile(0.5) / 1000,
      p99Ms: histogram.quantile(0.99) / 1000,
    }
  } finally {
    await close?.()
  }
}
