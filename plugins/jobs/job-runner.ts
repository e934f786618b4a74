import pLimit from 'p-limit'
import {
  idOfPlace,
  type Job,
  type JobChange,
  jobOf,
  LOOK_MS,
  newJobId,
  orderOfPlace,
  timeOfPlace,
} from '../../engine/index.ts'
import type { PluginEngine, Scope } from '../../kernel/api.ts'
import { Attempt } from './attempt.ts'
import { toRunning, toCancelled, toDone, afterFailure, toWaiting, afterInterruption, toReady } from './next-state.ts'
import type { Schedule } from './schedules.ts'

interface RunnerOptions extends Pick<Scope, 'log' | 'now'> {
  readonly jobs: PluginEngine['jobs']
  readonly schedules: ReadonlyMap<string, Schedule>
  /** Maximum number of jobs that run at a time. */
  readonly concurrency: number
  /** Number of jobs that are kept when they are done. */
  readonly keepDone: number
  readonly keepDoneMs: number
  readonly keepFailedMs: number
  /** From 0 to 1. */
  readonly random?: () => number
}

/** Number of jobs that become ready in one transaction. */
const SLICE = 500
/** Time between two searches for outdated jobs, and number of ended jobs after which they are searched for earlier. */
const SWEEP_MS = 60_000
const SWEEP_ENDED = 1_000
/** Pause after a failure of the store. */
const RETRY_MS = 1_000
/** Time for running code to notice that the server stops. */
const CLOSE_MS = 3_000

/**
 * Runs jobs, and is the only code that changes their states. A job becomes `running` in the store before it is called and `done` after its
 * end; a job that is found running at the start was interrupted, and is called again. Each change of the queue stores everything that is
 * pending as one transaction.
 */
export class JobRunner {
  readonly counts = { done: 0, failedAttempts: 0, failed: 0 }
  private readonly attempts = new Map<string, Attempt>()
  /** Number of running jobs of each function. */
  private readonly runningOf = new Map<string, number>()
  /** States of jobs that have ended and are not stored yet. */
  private endedChanges: JobChange[] = []
  /** Runs one change of the queue at a time. */
  private readonly inTurn = pLimit(1)
  private next: ReadonlyMap<string, number> = new Map()
  private isWoken = false
  private mustRecover = true
  private isClosed = false
  /** Time at which the next times of schedules were compared with the clock. */
  private checkedAt = 0
  private sweptAt = 0
  private endedSinceSweep = 0
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly options: RunnerOptions) {
    options.jobs.onEnqueued(() => this.wake())
    options.jobs.onProgress((id, progress) => {
      const attempt = this.attempts.get(id)
      if (attempt) attempt.progress = progress
    })
  }

  /** Number of jobs that run now. */
  get runningCount(): number {
    return this.attempts.size
  }

  /** JSON that a running job has reported. */
  progressOf(id: string): string | undefined {
    return this.attempts.get(id)?.progress
  }

  /** Time at which a schedule is due next. */
  nextOf(schedule: Schedule): number | undefined {
    return this.next.get(schedule.name)
  }

  /** Looks for work soon. */
  wake(): void {
    if (this.isWoken || this.isClosed) return
    this.isWoken = true
    void this.inTurn(() => this.advance())
  }

  /** @returns the state of the job; undefined if the job does not exist or is in a different state than expected */
  async cancel(id: string): Promise<Job | undefined> {
    const attempt = this.attempts.get(id)
    if (attempt) {
      attempt.isCancelled = true
      attempt.abort()
      return attempt.job
    }
    return this.change(id, ['waiting', 'ready'], toCancelled)
  }

  replay(id: string): Promise<Job | undefined> {
    return this.change(id, ['failed', 'cancelled', 'done'], toReady)
  }

  remove(id: string): Promise<Job | undefined> {
    return this.change(id, ['failed', 'cancelled', 'done'], () => undefined)
  }

  /** Gives running code some time to end, and puts jobs that do not end back into the queue. */
  async close(): Promise<void> {
    const { jobs, now } = this.options
    this.isClosed = true
    clearTimeout(this.timer)
    // Waits for a change of the queue that may be in progress.
    await this.inTurn(() => {})
    for (const attempt of this.attempts.values()) attempt.abort()
    const until = Date.now() + CLOSE_MS
    while (this.attempts.size > 0 && Date.now() < until) await new Promise(resolve => setTimeout(resolve, 10))
    const open = [...this.attempts.values()].map(({ job }) => ({ from: job, to: toWaiting(job, now()) }))
    await this.inTurn(() => jobs.store([...this.endedChanges.splice(0), ...open])).catch(error => this.report(error))
  }

  private async change(
    id: string,
    states: readonly Job['state'][],
    to: (job: Job, now: number) => Job | undefined,
  ): Promise<Job | undefined> {
    const { jobs, now } = this.options
    const changedJob = await this.inTurn(async () => {
      const from = jobs.get(id)
      if (!from || !states.includes(from.state)) return undefined
      await jobs.store([{ from, to: to(from, now()) }])
      return from
    })
    this.wake()
    return changedJob
  }

  private async advance(): Promise<void> {
    this.isWoken = false
    if (this.isClosed) return
    clearTimeout(this.timer)
    try {
      const wait = await this.step()
      if (wait === 0) this.wake()
      else this.timer = setTimeout(() => this.wake(), wait).unref()
    } catch (error) {
      // It is unknown whether the changes were stored: the next run finds out.
      this.mustRecover = true
      this.report(error)
      this.timer = setTimeout(() => this.wake(), RETRY_MS).unref()
    }
  }

  /** Stores the states of ended jobs, and starts jobs that are ready. @returns time until the next step */
  private async step(): Promise<number> {
    const { jobs, now } = this.options
    if (this.mustRecover) await this.recover()
    const time = now()
    const endings = this.endedChanges.splice(0)
    const due = this.due(time).map(from => ({ from, to: { ...from, state: 'ready', time } as const }))
    const claimedChanges = this.claims().map(from => ({ from, to: toRunning(from, time) }))
    const scheduling = this.scheduled(time)
    const changes = [
      ...endings,
      ...due,
      ...scheduling.changes,
      ...claimedChanges,
      ...this.outdated(time, endings.length),
    ]
    if (changes.length > 0 || scheduling.next.size > 0) {
      try {
        await jobs.store(changes, scheduling.next)
      } catch (error) {
        this.endedChanges.unshift(...endings)
        throw error
      }
      if (scheduling.next.size > 0) this.next = jobs.schedules()
    }
    for (const { to } of claimedChanges) {
      if (this.isClosed) this.endedChanges.push({ from: to, to: toWaiting(to, now()) })
      else this.begin(to)
    }
    if (due.length > 0 || scheduling.changes.length > 0) return 0
    const times = [...this.next.values(), time + LOOK_MS, this.nextDue()]
    return Math.max(1, Math.min(...times) - now())
  }

  /** Time at which the next job is due. */
  private nextDue(): number {
    const [first] = this.options.jobs.places('waiting', 1)
    return first === undefined ? Number.POSITIVE_INFINITY : timeOfPlace(first)
  }

  /** Waiting jobs that are due. */
  private due(now: number): Job[] {
    if (this.nextDue() > now) return []
    const places = this.options.jobs.places('waiting', SLICE)
    return this.jobsAt(places.filter(place => timeOfPlace(place) <= now))
  }

  /** Jobs that can start, within the limits of their functions and of the server: the first ones across all functions. */
  private claims(): Job[] {
    const { jobs, concurrency } = this.options
    const free = concurrency - this.attempts.size
    if (free <= 0) return []
    const places = [...jobs.declared.values()].flatMap(({ job, concurrency }) => {
      const most = Math.min(free, concurrency - (this.runningOf.get(job) ?? 0))
      return most > 0 ? jobs.places('ready', most, job) : []
    })
    const inOrder = places.map(place => ({ place, order: orderOfPlace(place) }))
    inOrder.sort((a, b) => (a.order < b.order ? -1 : 1))
    return this.jobsAt(inOrder.slice(0, free).map(({ place }) => place))
  }

  /**
   * Jobs of schedules that are due. Several times that passed while no server ran create one job: a nightly job must not be skipped because
   * of a restart, but a job that runs every minute need not run twenty times.
   */
  private scheduled(now: number): { changes: JobChange[]; next: ReadonlyMap<string, number | undefined> } {
    const changes: JobChange[] = []
    const next = new Map<string, number | undefined>()
    // A clock that was once ahead has left times that are too late. Computing a time takes longer than everything else here.
    const isChecked = Math.abs(now - this.checkedAt) < LOOK_MS
    if (!isChecked) this.checkedAt = now
    for (const [name, schedule] of this.options.schedules) {
      const storedTime = this.next.get(name)
      if (isChecked && storedTime !== undefined && storedTime > now) continue
      const following = schedule.next(now)
      const time =
        storedTime !== undefined && following !== undefined && storedTime > following ? undefined : storedTime
      if (time !== undefined && time > now) continue
      if (following !== undefined || time !== undefined) next.set(name, following)
      if (time === undefined) continue
      const job = { id: newJobId(now), name: schedule.jobFunction.job, args: '[]', priority: 0 }
      changes.push({ to: jobOf(job, now) })
    }
    for (const name of this.next.keys()) if (!this.options.schedules.has(name)) next.set(name, undefined)
    return { changes, next }
  }

  /** Ended jobs whose retention time or number is exceeded. */
  private outdated(now: number, endedCount: number): JobChange[] {
    const { jobs, keepDone, keepDoneMs, keepFailedMs } = this.options
    this.endedSinceSweep += endedCount
    if (now - this.sweptAt < SWEEP_MS && this.endedSinceSweep < SWEEP_ENDED) return []
    this.sweptAt = now
    this.endedSinceSweep = 0
    const old = (state: 'done' | 'cancelled' | 'failed', ageMs: number): string[] =>
      jobs.places(state, 2 * SWEEP_ENDED).filter(place => timeOfPlace(place) < now - ageMs)
    const donePlaces = jobs.places('done', keepDone + 2 * SWEEP_ENDED)
    const surplus = donePlaces.slice(0, Math.max(0, donePlaces.length - keepDone))
    const places = new Set([
      ...surplus,
      ...old('done', keepDoneMs),
      ...old('cancelled', keepDoneMs),
      ...old('failed', keepFailedMs),
    ])
    return this.jobsAt([...places]).map(from => ({ from }))
  }

  /** Finds jobs that were running when the server ended or a change failed, and the next times of schedules. */
  private async recover(): Promise<void> {
    const { jobs, now, log } = this.options
    this.next = jobs.schedules()
    const endedIds = new Set(this.endedChanges.map(({ from }) => from!.id))
    for (;;) {
      const places = jobs.places('running', this.attempts.size + endedIds.size + SLICE)
      const lostJobs = this.jobsAt(places).filter(({ id }) => !this.attempts.has(id) && !endedIds.has(id))
      if (lostJobs.length === 0) break
      const changes = lostJobs.map(from => ({ from, to: afterInterruption(from, now()) }))
      await jobs.store(changes)
      for (const { to } of changes) {
        log.warn({ job: to.id, state: to.state }, `the job ${to.name} was interrupted, because the server ended`)
        if (to.state === 'failed') this.counts.failed++
      }
    }
    this.mustRecover = false
  }

  private begin(job: Job): void {
    const { jobs } = this.options
    const declaration = jobs.declared.get(job.name)!
    const attempt = new Attempt(job, declaration)
    this.attempts.set(job.id, attempt)
    this.count(job.name, 1)
    jobs.run(declaration, job, job.attempts, attempt).then(
      () => this.end(attempt, undefined),
      error => this.end(attempt, { error }),
    )
  }

  private end(attempt: Attempt, problem: { readonly error: unknown } | undefined): void {
    const { job } = attempt
    this.attempts.delete(job.id)
    this.count(job.name, -1)
    this.endedChanges.push({ from: job, to: this.stateAfter(attempt, problem) })
    this.wake()
  }

  private stateAfter(
    { job, jobFunction, isCancelled }: Attempt,
    problem: { readonly error: unknown } | undefined,
  ): Job {
    const { now, random = Math.random, log } = this.options
    if (!problem) {
      this.counts.done++
      return toDone(job, now())
    }
    if (isCancelled) return toCancelled(job, now())
    if (this.isClosed) return toWaiting(job, now())
    const next = afterFailure(job, problem.error, jobFunction, { now: now(), random })
    if (next.error !== undefined) this.counts.failedAttempts++
    if (next.state === 'failed') {
      this.counts.failed++
      log.error({ job: job.id, attempt: job.attempts }, `the job ${job.name} has failed: ${next.error}`)
    }
    return next
  }

  private count(name: string, change: number): void {
    this.runningOf.set(name, (this.runningOf.get(name) ?? 0) + change)
  }

  private jobsAt(places: readonly string[]): Job[] {
    return places.flatMap(place => this.options.jobs.get(idOfPlace(place)) ?? [])
  }

  private report(error: unknown): void {
    this.options.log.error({ err: error }, 'the queue of jobs could not be changed')
  }
}
