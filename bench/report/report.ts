import type { OwnServerResult } from '../own-server/own-server-case.ts'
import type { EngineResult } from '../engine/engine-case.ts'
import type { Goals, Target } from '../http/http-case.ts'
import type { Figures } from '../load/drive.ts'
import type { Memory } from '../processes/questions.ts'

/** Report of a run, written with `--json`; the version is raised when older reports can no longer be read. */
export interface Report {
  version: 1
  date: string
  machine: Machine
  world: { seed: number; employees: number; companies: number; attributes: number; rawBytes: number }
  settings: { seconds: number; rounds: number; connections: number }
  http: HttpResult[]
  engine: EngineResult[]
  /** Absent in older reports. */
  ownServer?: OwnServerResult[]
  /** Memory of our server after the last case that only reads. */
  memoryAfterReads: Memory | undefined
  /** Milliseconds until our server had everything that fits in memory; undefined when no server was measured. */
  readyMs?: number | undefined
}

export interface Machine {
  cpu: string
  cores: number
  memoryBytes: number
  node: string
  transport: string
  commit: string
}

export interface HttpResult {
  name: string
  title: string
  goals: Goals
  /** Number of rows that a request writes; its rates are then of rows. */
  rowsPerRequest: number
  /** Reason why there are no figures, or why they are invalid: a wrong answer, an error. */
  problem: string | undefined
  targets: Partial<Record<Target, TargetFigures>>
}

/** Medians of the rounds. */
export interface TargetFigures extends Figures {
  /** Rates of the rounds in order. */
  rounds: number[]
  memory: Memory
  beside?: Figures
}

export function median(values: readonly number[]): number {
  const sortedValues = values.toSorted((a, b) => a - b)
  const middle = sortedValues.length >>> 1
  return sortedValues.length % 2 === 1 ? sortedValues[middle]! : (sortedValues[middle - 1]! + sortedValues[middle]!) / 2
}
