import type { Child } from '../processes/child.ts'
import type { BoundQuestions, ServerQuestions, UploadQuestions } from '../processes/questions.ts'
import type { Verdict } from '../report/verdict.ts'

interface OwnServerSetup {
  ours: { child: Child<ServerQuestions>; port: number }
  bound: { child: Child<BoundQuestions>; port: number }
  upload: Child<UploadQuestions>
  /** Length of a round. */
  seconds: number
  rounds: number
}

export interface OwnServerResult {
  name: string
  title: string
  /** Reason why there are no figures, or why they are invalid. */
  problem: string | undefined
  /** Results of the measurement, a line each. */
  lines: string[]
  verdicts: Verdict[]
}

/** A case on a separate server and store. */
export interface OwnServerCase {
  name: string
  title: string
  /** True if the case needs PostgreSQL. It is skipped where PostgreSQL is not installed. */
  postgres?: boolean
  /** Folder with the configuration of that server; by default, a store for images and blobs, without entities. */
  place?(): Promise<string>
  /** @throws {Error} for a wrong answer */
  measure(setup: OwnServerSetup): Promise<Pick<OwnServerResult, 'lines' | 'verdicts'>>
}

/** Gives a case its types. */
export const ownServerCase = (bench: OwnServerCase): OwnServerCase => bench
