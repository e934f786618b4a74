import type { EngineResult } from '../engine/engine-case.ts'
import { rate, ratio } from './numbers.ts'
import type { HttpResult, Report } from './report.ts'

/** One owed figure, and the figure that was found. */
export interface Verdict {
  case: string
  owed: string
  found: string
  met: boolean
}

/** Maximum time until a server has everything in memory again. */
const MAX_READY_MS = 2_000
/** Maximum of the memory shared by its threads, as a multiple of the raw data. */
const MAX_MEMORY_FACTOR = 3
/** Minimum number of rows for which these two figures are owed. */
const MEMORY_ROWS = 1_000_000

/** All owed figures of the cases of a report. */
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
      owed: `≤ ${MAX_MEMORY_FACTOR}× the raw data`,
      found: ratio(factor),
      met: factor <= MAX_MEMORY_FACTOR,
    })
  }
  if (readyMs !== undefined) {
    verdicts.push({
      case: 'start',
      owed: `everything in memory within ${MAX_READY_MS} ms`,
      found: `${Math.round(readyMs)} ms`,
      met: readyMs <= MAX_READY_MS,
    })
  }
  return verdicts
}

function verdictsOfEngineCase(result: EngineResult, all: readonly EngineResult[]): Verdict[] {
  const { name, problem, owes, p50Ms, perSecond, cpuMs, recall } = result
  if (problem) return [{ case: name, owed: 'the right answers', found: problem, met: false }]
  const verdicts: Verdict[] = []
  if (owes.p50Ms !== undefined) {
    const found = `${p50Ms.toFixed(3)} ms`
    verdicts.push({ case: name, owed: `p50 ≤ ${owes.p50Ms} ms`, found, met: p50Ms <= owes.p50Ms })
  }
  if (owes.perSecond !== undefined) {
    const met = perSecond >= owes.perSecond
    verdicts.push({ case: name, owed: `≥ ${rate(owes.perSecond)}/s`, found: `${rate(perSecond)}/s`, met })
  }
  if (owes.perCoreSecond !== undefined && cpuMs !== undefined) {
    const found = 1000 / cpuMs
    const owed = `≥ ${rate(owes.perCoreSecond)}/s for each core`
    verdicts.push({ case: name, owed, found: `${rate(found)}/s`, met: found >= owes.perCoreSecond })
  }
  if (owes.recall !== undefined && recall !== undefined) {
    const met = recall >= owes.recall
    verdicts.push({ case: name, owed: `recall ≥ ${owes.recall}`, found: recall.toFixed(4), met })
  }
  if (owes.against !== undefined && result.against) {
    const { what, p50Ms: others } = result.against
    const owed = `≤ ${ratio(owes.against)} the time of ${what} (${others.toFixed(3)} ms)`
    const cost = p50Ms / others
    verdicts.push({ case: name, owed, found: ratio(cost), met: cost <= owes.against })
  }
  const other = owes.cost && all.find(({ name, problem }) => name === owes.cost!.of && !problem)
  if (owes.cost && other) {
    const { of, factor } = owes.cost
    const cost = p50Ms / other.p50Ms
    const owed = `≤ ${ratio(factor)} the time of ${of} (${other.p50Ms.toFixed(3)} ms)`
    verdicts.push({ case: name, owed, found: ratio(cost), met: cost <= factor })
  }
  return verdicts
}

/** Sum of all parts. */
export const sumOf = (parts: Readonly<Record<string, number>>): number =>
  Object.values(parts).reduce((sum, bytes) => sum + bytes, 0)

export function verdictsOfCase(result: HttpResult, all: readonly HttpResult[]): Verdict[] {
  const { name, problem, owes, targets } = result
  if (problem) return [{ case: name, owed: 'the right answers', found: problem, met: false }]
  const { ours, baseline, bound } = targets
  if (!ours) return []
  const verdicts: Verdict[] = []
  const atLeast = (what: string, owed: number | undefined, found: number) => {
    if (owed !== undefined)
      verdicts.push({ case: name, owed: `≥ ${ratio(owed)} ${what}`, found: ratio(found), met: found >= owed })
  }
  const within = (what: string, owed: number | undefined, found: number) => {
    if (owed !== undefined)
      verdicts.push({ case: name, owed: `${what} < ${owed} ms`, found: `${found.toFixed(2)} ms`, met: found < owed })
  }
  if (baseline) atLeast('baseline', owes.baseline, ours.perSecond / baseline.perSecond)
  if (bound) atLeast('bound', owes.bound, ours.perSecond / bound.perSecond)
  if (owes.perSecond !== undefined) {
    const met = ours.perSecond >= owes.perSecond
    verdicts.push({ case: name, owed: `≥ ${rate(owes.perSecond)}/s`, found: `${rate(ours.perSecond)}/s`, met })
  }
  within('p99', owes.p99Ms, ours.p99Ms)
  if (ours.beside) within('p99 of the reads beside', owes.besideP99Ms, ours.beside.p99Ms)
  const other = owes.cost && all.find(({ name }) => name === owes.cost!.of)?.targets.ours
  if (owes.cost && other) {
    const cost = other.perSecond / ours.perSecond
    const owed = `≤ ${ratio(owes.cost.factor)} the time of ${owes.cost.of} (${rate(other.perSecond)})`
    verdicts.push({ case: name, owed, found: ratio(cost), met: cost <= owes.cost.factor })
  }
  return verdicts
}
