import type { EngineResult } from '../engine/engine-case.ts'
import { rate, ratio } from './numbers.ts'
import type { HttpResult, Report } from './report.ts'

/** One goal of a case, and the figure that was found. */
export interface Verdict {
  case: string
  goal: string
  found: string
  met: boolean
}

/** Maximum time until a server has everything in memory again. */
const MAX_READY_MS = 2_000
/** Maximum of the memory shared by its threads, as a multiple of the raw data. */
const MAX_MEMORY_FACTOR = 3
/** Minimum rate of our server with its dataclasses in PostgreSQL, as a share of the rate of the hand-written routes to the same tables. */
const MIN_OF_POSTGRES = 0.8
/** Minimum number of rows for these two goals. */
const MEMORY_ROWS = 1_000_000

/** All goals of the cases of a report. */
export function verdictsOf(report: Report): Verdict[] {
  const { memoryAfterReads, readyMs, world } = report
  const { shared } = memoryAfterReads ?? {}
  const verdicts = [
    ...report.http.flatMap(result => verdictsOfCase(result, report.http)),
    ...report.engine.flatMap(result => verdictsOfEngineCase(result, report.engine)),
    ...(report.ownServer ?? []).flatMap(({ verdicts }) => verdicts),
  ]
  if (world.employees < MEMORY_ROWS) return verdicts
  if (shared) {
    const factor = sumOf(shared) / world.rawBytes
    verdicts.push({
      case: 'memory',
      goal: `≤ ${MAX_MEMORY_FACTOR}× the raw data`,
      found: ratio(factor),
      met: factor <= MAX_MEMORY_FACTOR,
    })
  }
  if (readyMs !== undefined) {
    verdicts.push({
      case: 'start',
      goal: `everything in memory within ${MAX_READY_MS} ms`,
      found: `${Math.round(readyMs)} ms`,
      met: readyMs <= MAX_READY_MS,
    })
  }
  return verdicts
}

function verdictsOfEngineCase(result: EngineResult, all: readonly EngineResult[]): Verdict[] {
  const { name, problem, goals, p50Ms, perSecond, cpuMs, recall } = result
  if (problem) return [{ case: name, goal: 'the right answers', found: problem, met: false }]
  const verdicts: Verdict[] = []
  if (goals.p50Ms !== undefined) {
    const figure = `${p50Ms.toFixed(3)} ms`
    verdicts.push({ case: name, goal: `p50 ≤ ${goals.p50Ms} ms`, found: figure, met: p50Ms <= goals.p50Ms })
  }
  if (goals.perSecond !== undefined) {
    const met = perSecond >= goals.perSecond
    verdicts.push({ case: name, goal: `≥ ${rate(goals.perSecond)}/s`, found: `${rate(perSecond)}/s`, met })
  }
  if (goals.perCoreSecond !== undefined && cpuMs !== undefined) {
    const coreRate = 1000 / cpuMs
    const goal = `≥ ${rate(goals.perCoreSecond)}/s for each core`
    verdicts.push({ case: name, goal, found: `${rate(coreRate)}/s`, met: coreRate >= goals.perCoreSecond })
  }
  if (goals.recall !== undefined && recall !== undefined) {
    const met = recall >= goals.recall
    verdicts.push({ case: name, goal: `recall ≥ ${goals.recall}`, found: recall.toFixed(4), met })
  }
  if (goals.against !== undefined && result.against) {
    const { what, p50Ms: otherMs } = result.against
    const goal = `≤ ${ratio(goals.against)} the time of ${what} (${otherMs.toFixed(3)} ms)`
    const cost = p50Ms / otherMs
    verdicts.push({ case: name, goal, found: ratio(cost), met: cost <= goals.against })
  }
  const other = goals.cost && all.find(({ name, problem }) => name === goals.cost!.of && !problem)
  if (goals.cost && other) {
    const { of, factor } = goals.cost
    const cost = p50Ms / other.p50Ms
    const goal = `≤ ${ratio(factor)} the time of ${of} (${other.p50Ms.toFixed(3)} ms)`
    verdicts.push({ case: name, goal, found: ratio(cost), met: cost <= factor })
  }
  return verdicts
}

/** Sum of all parts. */
export const sumOf = (parts: Readonly<Record<string, number>>): number =>
  Object.values(parts).reduce((sum, bytes) => sum + bytes, 0)

export function verdictsOfCase(result: HttpResult, all: readonly HttpResult[]): Verdict[] {
  const { name, problem, goals, targets } = result
  if (problem) return [{ case: name, goal: 'the right answers', found: problem, met: false }]
  const { ours, baseline, postgres, remote, bound } = targets
  if (!ours) return []
  const verdicts: Verdict[] = []
  const atLeast = (what: string, goal: number | undefined, speedRatio: number) => {
    if (goal !== undefined)
      verdicts.push({ case: name, goal: `≥ ${ratio(goal)} ${what}`, found: ratio(speedRatio), met: speedRatio >= goal })
  }
  const within = (what: string, goal: number | undefined, latencyMs: number) => {
    if (goal !== undefined)
      verdicts.push({
        case: name,
        goal: `${what} < ${goal} ms`,
        found: `${latencyMs.toFixed(2)} ms`,
        met: latencyMs < goal,
      })
  }
  if (baseline) atLeast('baseline', goals.baseline, ours.perSecond / baseline.perSecond)
  if (baseline && postgres) {
    const better = Math.max(baseline.perSecond, postgres.perSecond)
    atLeast('the better of baseline and postgres', goals.better, ours.perSecond / better)
  }
  if (postgres && remote) atLeast('postgres by remote', MIN_OF_POSTGRES, remote.perSecond / postgres.perSecond)
  if (bound) atLeast('bound', goals.bound, ours.perSecond / bound.perSecond)
  if (goals.perSecond !== undefined) {
    const met = ours.perSecond >= goals.perSecond
    verdicts.push({ case: name, goal: `≥ ${rate(goals.perSecond)}/s`, found: `${rate(ours.perSecond)}/s`, met })
  }
  within('p99', goals.p99Ms, ours.p99Ms)
  if (ours.beside) within('p99 of the reads beside', goals.besideP99Ms, ours.beside.p99Ms)
  const other = goals.cost && all.find(({ name }) => name === goals.cost!.of)?.targets.ours
  if (goals.cost && other) {
    const cost = other.perSecond / ours.perSecond
    const goal = `≤ ${ratio(goals.cost.factor)} the time of ${goals.cost.of} (${rate(other.perSecond)})`
    verdicts.push({ case: name, goal, found: ratio(cost), met: cost <= goals.cost.factor })
  }
  const without = goals.added && all.find(({ name }) => name === goals.added!.to)?.targets.ours
  if (goals.added && without) {
    const addedMicros = 1e6 / ours.perSecond - 1e6 / without.perSecond
    const { to, microseconds } = goals.added
    const goal = `≤ ${microseconds} µs more than ${to} (${rate(without.perSecond)})`
    verdicts.push({ case: name, goal, found: `${addedMicros.toFixed(1)} µs`, met: addedMicros <= microseconds })
  }
  return verdicts
}
