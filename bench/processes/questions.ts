import type { EngineResult } from '../engine/engine-case.ts'
import type { Rounds } from '../engine/measure.ts'
import type { DriveRequest, DriveResult } from '../load/drive.ts'

/** Questions to a child process: plain data, an entry for each question. */
export type Questions = Record<string, { question: unknown; answer: unknown }>

type Ask<Question, Answer> = { question: Question; answer: Answer }

interface WorldPlace {
  folder: string
  seed: number
  employees: number
}

/** Memory of a process, in bytes. */
export interface Memory {
  resident: number
  /** Part of that memory in pages of mapped files; undefined if the system does not report it. */
  mapped: number | undefined
  /** For our server: the memory that its threads share, by its purpose. */
  shared?: Readonly<Record<string, number>> | undefined
}

interface Listening {
  port: number
  /** For our server: the HTTP implementation. */
  transport?: string
  /** For PostgreSQL: address of the database for our server. */
  url?: string
  /** For our server: milliseconds from its start until everything that fits was in memory. */
  readyMs?: number
}

export type ServerQuestions = {
  start: Ask<WorldPlace, Listening>
  memory: Ask<null, Memory>
  /** CPU time of the process so far, in microseconds. */
  cpu: Ask<null, number>
  close: Ask<null, null>
}

/** Answers by their target in the request line; the answer for `undefined` is sent for all other targets. */
export type FixedAnswers = Map<string | undefined, Uint8Array>

export type BoundQuestions = ServerQuestions & { answers: Ask<FixedAnswers, null> }

export type UploadQuestions = {
  /** Uploads files of this many bytes, all at once. The answer has the ids that they were given. */
  upload: Ask<{ port: number; count: number; bytes: number }, { ids: string[]; seconds: number }>
  /** Imports a CSV file. */
  import: Ask<{ port: number; dataClass: string; file: string }, { inserted: number; seconds: number }>
  close: Ask<null, null>
}

export type CallQuestions = {
  /** Keeps a number of requests in flight for some time, one on each connection. */
  keep: Ask<
    { port: number; path: string; body?: string; connections: number; seconds: number },
    { count: number; perSecond: number; p99Ms: number }
  >
  close: Ask<null, null>
}

/** Outcome of loading a file into an empty table. */
export interface LoadedFile {
  rows: number
  seconds: number
  cpuSeconds: number
}

/** `folder` has the configuration of Tesser, and an empty folder for the database. */
type LoadFile = Ask<{ folder: string; companies: string; file: string }, LoadedFile>

export type LoadFileQuestions = { tesser: LoadFile; sqlite: LoadFile; close: Ask<null, null> }

export type LoadQuestions = { drive: Ask<DriveRequest, DriveResult> }

export type EngineQuestions = {
  open: Ask<WorldPlace, null>
  measure: Ask<{ name: string; rounds: Rounds }, EngineResult>
  close: Ask<null, null>
}
