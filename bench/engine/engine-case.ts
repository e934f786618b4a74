import type { AnswerBody, Engine } from '../../engine/index.ts'
import type { ReadRequest } from '../../engine/query/contract/request.ts'
import type { World } from '../world/world.ts'

export interface EngineContext {
  /** On the store of the world, which a case leaves unchanged. */
  engine: Engine
  world: World
}

interface PreparedCase {
  /** Number of things that one run handles, for a rate that says more than runs. */
  units: number
  /** Name of the units: `rows`. */
  unit: string
  /** The nth run. */
  run(n: number): unknown
  /** Concurrent runs; 1 by default. */
  atOnce?: number
  /** The same work done in another way, in turns with {@link run}. */
  against?: { what: string; run(n: number): unknown }
  /** Fault of the answer of the nth run, or undefined. */
  problemOf(answer: unknown, n: number): string | undefined | Promise<string | undefined>
  /** Number of answers that are checked; 5 by default. */
  checks?: number
  /** Share found of the expected rows, in the checked answers. */
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
  /** CPU of all threads of the process, for a run. */
  cpuMs?: number | undefined
  p50Ms: number
  p99Ms: number
  units: number
  unit: string
}

export const engineCase = (bench: EngineCase): EngineCase => bench

/** Reads a collection: its JSON, at once or as soon as a worker has it. */
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
