import { Histogram } from '../load/histogram.ts'
import { median } from '../report/report.ts'
import type { EngineCase, EngineContext, EngineResult } from './engine-case.ts'

const CHECKED_RUNS = 5

export interface Rounds {
  readonly seconds: number
  readonly rounds: number
  readonly warmUpSeconds: number
}

/** Checks the first answers of a case, then measures it in rounds after a warm-up. The median of the rounds is reported. */
export async function measureEngineCase(
  { name, title, goals = {}, prepare }: EngineCase,
  context: EngineContext,
  { seconds, rounds, warmUpSeconds }: Rounds,
): Promise<EngineResult> {
  const result = { name, title, goals, problem: undefined, perSecond: 0, p50Ms: 0, p99Ms: 0, units: 1, unit: '' }
  const preparedCase = await prepare(context)
  const { run, atOnce = 1, against, problemOf, units, unit, checks = CHECKED_RUNS } = preparedCase
  try {
    let n = 0
    for (; n < checks; n++) {
      const problem = await problemOf(await run(n), n)
      if (problem) return { ...result, problem }
    }
    const [histogram, otherHistogram] = [new Histogram(), new Histogram()]
    const timeRun = async (what: (n: number) => unknown, times: Histogram): Promise<void> => {
      const startedAt = performance.now()
      const answer = what(n++)
      if (answer instanceof Promise) await answer
      times.add((performance.now() - startedAt) * 1000)
    }
    const client = async (until: number, times: Histogram): Promise<void> => {
      while (performance.now() < until) {
        await timeRun(run, times)
        if (against) await timeRun(against.run, otherHistogram)
      }
    }
    const clients = async (duration: number, times: Histogram): Promise<number> => {
      const startedAt = performance.now()
      const until = startedAt + duration * 1000
      await Promise.all(Array.from({ length: atOnce }, () => client(until, times)))
      return (performance.now() - startedAt) / 1000
    }
    await clients(warmUpSeconds, new Histogram())
    const cpu = process.cpuUsage()
    const rates: number[] = []
    for (let round = 0; round < rounds; round++) {
      const before = histogram.count
      const elapsedSeconds = await clients(seconds, histogram)
      rates.push((histogram.count - before) / elapsedSeconds)
    }
    const { user, system } = process.cpuUsage(cpu)
    return {
      ...result,
      problem: await preparedCase.afterwards?.(),
      recall: preparedCase.recall?.(),
      remark: preparedCase.remark?.(),
      against: against && { what: against.what, p50Ms: otherHistogram.quantile(0.5) / 1000 },
      units,
      unit,
      perSecond: median(rates),
      // Runs of the compared case in between also consume CPU time.
      cpuMs: against ? undefined : (user + system) / 1000 / histogram.count,
      p50Ms: histogram.quantile(0.5) / 1000,
      p99Ms: histogram.quantile(0.99) / 1000,
    }
  } finally {
    await preparedCase.close?.()
  }
}
