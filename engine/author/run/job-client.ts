import type { Caller } from '../../caller/caller.ts'
import type { RecordChange } from '../../data/record-store.ts'
import {
  JOB_STATES,
  type Job,
  type JobState,
  jobKey,
  type NewJob,
  removeJob,
  statePrefix,
  storeJob,
} from '../../jobs/job.ts'
import type { WriterClient } from '../../write/client/writer-client.ts'
import type { JobFunction } from '../declare/class-registry.ts'
import type { FunctionClient } from './function-client.ts'
import type { CallTask } from './tasks.ts'

/** Records of the server, as `ServerRecords` reads and writes them. */
interface JobRecords {
  get(key: string): unknown
  list(prefix: string, limit: number): { key: string; value: unknown }[]
  counts(prefixes: readonly string[], limit: number): number[]
  last(prefix: string, limit: number): { key: string }[]
  put(changes: RecordChange[]): Promise<void>
}

interface JobClientOptions {
  readonly records: JobRecords
  readonly writer: WriterClient
  /** Set when plugins have classes. */
  readonly code: FunctionClient | undefined
  readonly declared: ReadonlyMap<string, JobFunction>
}

/** A stored state of a job and the next one; undefined: it is new, or removed. */
export interface JobChange {
  readonly from?: Job | undefined
  readonly to?: Job | undefined
}

/** The stored jobs, and the functions that they call. One owner changes their states: the plugin `jobs`. */
export class JobClient {
  /** Functions by the names of their jobs. */
  readonly declared: ReadonlyMap<string, JobFunction>

  constructor(private readonly options: JobClientOptions) {
    this.declared = options.declared
  }

  /** Calls `callback` when code has enqueued jobs. */
  onEnqueued(callback: () => void): void {
    this.options.writer.onEnqueued = callback
  }

  /** Calls `callback` when a running job reports its progress, as JSON. */
  onProgress(callback: (id: string, progress: string) => void): void {
    this.options.code?.onProgress(callback)
  }

  get(id: string): Job | undefined {
    return this.options.records.get(jobKey(id)) as Job | undefined
  }

  /**
   * Places of jobs in a state, ordered by the time at which they are due, began or ended; for ready jobs of one function, in the order in
   * which they are to run.
   */
  places(state: JobState, limit: number, name?: string): string[] {
    return this.options.records.list(statePrefix(state, name), limit).map(({ key }) => key)
  }

  /** Numbers of jobs by their states, each up to `limit`, all at one time: no job is missing while it changes its state. */
  counts(limit: number): Record<JobState, number> {
    const prefixes = JOB_STATES.map(state => statePrefix(state))
    const counts = this.options.records.counts(prefixes, limit)
    return Object.fromEntries(JOB_STATES.map((state, i) => [state, counts[i]!])) as Record<JobState, number>
  }

  /** The last ones of {@link places}, the newest first. */
  lastPlaces(state: JobState, limit: number): string[] {
    return this.options.records.last(statePrefix(state), limit).map(({ key }) => key)
  }

  /** Next times of schedules, by their names. */
  schedules(): ReadonlyMap<string, number> {
    const entries = this.options.records.list(SCHEDULES, MAX_SCHEDULES)
    return new Map(entries.map(({ key, value }) => [key.slice(SCHEDULES.length), value as number]))
  }

  /** Stores new states, and the next times of schedules; undefined removes one. Resolves when they are durable. */
  async store(changes: readonly JobChange[], schedules: ReadonlyMap<string, number | undefined> = NO_SCHEDULES) {
    const records = changes.flatMap(({ from, to }) => (to ? storeJob(to, from) : from ? removeJob(from) : []))
    for (const [name, time] of schedules) records.push({ key: SCHEDULES + name, value: time })
    await this.options.records.put(records)
  }

  /** Puts a job into the queue, as `ds.enqueue` does. @returns its id, or the id of the existing job with the same key */
  async enqueue(job: NewJob): Promise<string> {
    const { ids } = await this.options.writer.write({ kind: 'enqueue', jobs: [job] })
    return ids[0]!
  }

  /**
   * Runs an attempt of a job. @param attempt 1 for the first one
   * @throws {ProtocolError} one that its code throws; it failed, exceeded its deadline, or cannot be called now
   */
  async run(
    jobFunction: JobFunction,
    { id, key, args, entities }: Job,
    attempt: number,
    caller: Caller,
  ): Promise<void> {
    const { dataClass, target, name, fullName, isAsync } = jobFunction
    const read = dataClass === undefined ? undefined : { dataClass, ...NO_ROWS }
    const job = { id, attempt, entities, ...(key !== undefined && { key }) }
    const callee = { target, function: name, fullName, isAsync }
    const task: CallTask = { kind: 'call', ...callee, args: Buffer.from(args), sets: undefined, keep: false, read, job }
    await this.options.code!.call(jobFunction, task, caller)
  }
}

const SCHEDULES = 'jobs/schedule/'
const MAX_SCHEDULES = 10_000
const NO_SCHEDULES: ReadonlyMap<string, number | undefined> = new Map()
const NO_ROWS = { source: { kind: 'all' }, skip: 0, top: 0, output: { form: 'array' } } as const
