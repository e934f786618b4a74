import type { AnswerBody, Engine } from '../../engine/index.ts'
import type { ReadRequest } from '../../engine/query/contract/request.ts'
import type { World } from '../world/world.ts'

export interface EngineContext {
  /** Engine on the store of the world, which a case must leave unchanged. */
  engine: Engine
  world: World
}

interface PreparedCase {
  /** Number of units that one run handles, so that rates count units instead of runs. */
  units: number
  /** Name of the units: `rows`. */
  unit: string
  /** The nth run. */
  run(n: number): unknown
  /** Concurrent runs; 1 by default. */
  atOnce?: number
  /** The same work done in another way, alternating with {@link run}. */
  against?: { what: string; run(n: number): unknown }
  /** Problem with the answer of the nth run, or undefined. */
  problemOf(answer: unknown, n: number): string | undefined | Promise<string | undefined>
  /** Number of answers that are checked; 5 by default. */
  checks?: number
  /** Share of the expected rows that the checked answers contain. */
  recall?(): number
  /** Faults found during the measurement. */
  afterwards?(): string | undefined | Promise<string | undefined>
  /** Further findings, for the report. */
  remark?(): string
  close?(): Promise<void>
}

/** Figures that a case must reach. */
export interface EngineGoals {
  p50Ms?: number
  perSecond?: number
  /** Runs per second of CPU time, on all cores together. */
  perCoreSecond?: number
  recall?: number
  /** At most `factor` times the time of the case `of`. */
  cost?: { of: string; factor: number }
  /** Maximum time, as a multiple of the time of {@link PreparedCase.against}. */
  against?: number
}

export interface EngineCase {
  name: string
  title: string
  goals?: EngineGoals
  /** True for a case that takes so long that it runs only when it is named. */
  isLong?: boolean
  prepare(context: EngineContext): PreparedCase | Promise<PreparedCase>
}

export interface EngineResult {
  name: string
  title: string
  goals: EngineGoals
  problem: string | undefined
  recall?: number | undefined
  remark?: string | undefined
  against?: { what: string; p50Ms: number } | undefined
  perSecond: number
  /** CPU time of a run, over all threads of the process. */
  cpuMs?: number | undefined
  p50Ms: number
  p99Ms: number
  units: number
  unit: string
}

export const engineCase = (bench: EngineCase): EngineCase => bench

/** Reads a collection. Returns its JSON, either immediately or as soon as a worker has it. */
export function readPage(
  engine: Engine,
  request: Partial<ReadRequest> & { dataClass: string },
): ReturnType<Engine['queries']['read']> {
  return engine.queries.read({ source: { kind: 'all' }, skip: 0, top: 1, output: { form: 'collection' }, ...request })
}

/** `__COUNT` and keys of a page. The answer is only valid until the next read. */
export function pageOf(answer: AnswerBody): { count: number; keys: number[] } {
  const { __COUNT, __ENTITIES } = JSON.parse(Buffer.from(answer as Uint8Array).toString()) as {
    __COUNT: number
    __ENTITIES: { ID: number }[]
  }
  return { count: __COUNT, keys: __ENTITIES.map(({ ID }) => ID) }
}

export const differs = (what: string, actual: unknown, expected: unknown): string | undefined =>
  String(actual) === String(expected) ? undefined : `${what} is ${actual} and not ${expected}`
