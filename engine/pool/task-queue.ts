import { availableParallelism } from 'node:os'
import { observe } from '../base/counts/histogram.ts'
import { COUNT, type ThreadCounts } from '../base/counts/thread-counts.ts'
import type { ProtocolError } from '../base/errors.ts'
import { remove } from '../base/remove.ts'
import type { Caller, WorkElsewhere } from '../caller/caller.ts'

/** A task from its arrival to its answer. */
export class PendingTask<Answer> {
  /** Arrival time, by `performance.now`. */
  readonly arrivedAt = performance.now()
  isOpen = true
  resolve!: (answer: Answer) => void
  reject!: (error: unknown) => void
  readonly answer = new Promise<Answer>((resolve, reject) => {
    this.resolve = resolve
    this.reject = reject
  })

  /** @param deadlineAt time at which it is given up, in milliseconds since 1970 */
  constructor(
    readonly caller: Caller | undefined,
    readonly deadlineAt: number,
  ) {}
}

/** Minimum number of threads, even with two cores: the kernel thread needs less than one while the threads of a pool have tasks. */
const MIN_THREADS = 2
/** Time after which deadlines that do not apply yet are checked again. */
const LOOK_AGAIN_MS = 20

/** @param threads 0: one less than the number of cores, at least two */
export const threadCount = (threads: number): number => threads || Math.max(MIN_THREADS, availableParallelism() - 1)

/**
 * The tasks of a pool of threads, from their arrival to their answer. A waiting task is abandoned when its caller disconnects and at its
 * deadline. The pools decide which task a thread takes next, and how to end a task that a thread is running.
 */
export abstract class TaskQueue<Answer, Task extends PendingTask<Answer>> {
  /** Unanswered tasks that no thread has begun, in the order in which they are to begin. */
  protected readonly waitingTasks: Task[] = []
  /** Number of unanswered tasks. */
  protected openCount = 0
  protected isClosed = false
  private deadlineTimer: NodeJS.Timeout | undefined
  /** The deadline that the timer is set for. */
  private watchedUntil = 0

  /** @param counts counters of the thread of this queue */
  constructor(
    private readonly where: WorkElsewhere['where'],
    protected readonly counts: ThreadCounts,
  ) {}

  /** Gives waiting tasks to threads that can take them. */
  protected abstract sendNext(): void
  protected abstract callerGone(task: Task): ProtocolError
  /** Error of a task at its deadline; undefined while deadlines do not apply. */
  protected abstract late(task: Task): ProtocolError | undefined

  protected enter(task: Task): Promise<Answer> {
    this.openCount++
    this.waitingTasks.push(task)
    this.watchDeadline(task.deadlineAt)
    task.caller?.onAborted(() => this.giveUp(task, this.callerGone(task)))
    this.sendNext()
    return task.answer
  }

  /** Rejects a task if it waits. */
  protected giveUp(task: Task, error: ProtocolError): void {
    if (remove(this.waitingTasks, task)) this.fail(task, error)
  }

  /** Refuses new tasks from now on, and rejects waiting ones. */
  protected refuse(error: () => ProtocolError): void {
    this.isClosed = true
    for (const task of [...this.waitingTasks]) this.giveUp(task, error())
  }

  protected fail(task: Task, error: unknown): void {
    if (this.settle(task)) task.reject(error)
  }

  /** @returns false if the task has already been answered */
  protected settle(task: Task): boolean {
    if (!task.isOpen) return false
    task.isOpen = false
    this.openCount--
    return true
  }

  /** Counts the work of a thread on a task, even if its caller has disconnected. */
  protected count({ arrivedAt, caller }: Task, ranMs: number): void {
    const { where, counts } = this
    const waitedMs = Math.max(0, performance.now() - arrivedAt - ranMs)
    const isCode = where === 'function'
    observe(counts, isCode ? COUNT.functionWaitTime : COUNT.poolWaitTime, waitedMs)
    observe(counts, isCode ? COUNT.functionRunTime : COUNT.poolRunTime, ranMs)
    caller?.ran?.({ where, waitedMs, ranMs })
  }

  /** Tasks that are given up at their deadline. */
  protected expiring(): Task[] {
    return [...this.waitingTasks]
  }

  private watchDeadline(deadlineAt: number): void {
    if (this.deadlineTimer && deadlineAt >= this.watchedUntil) return
    clearTimeout(this.deadlineTimer)
    this.watchedUntil = deadlineAt
    this.deadlineTimer = setTimeout(() => this.giveUpLate(), deadlineAt - Date.now()).unref()
  }

  private giveUpLate(): void {
    this.deadlineTimer = undefined
    const now = Date.now()
    for (const task of this.expiring()) {
      const error = task.deadlineAt <= now && this.late(task)
      if (error) this.giveUp(task, error)
    }
    const next = this.expiring().reduce((least, task) => Math.min(least, task.deadlineAt), Number.POSITIVE_INFINITY)
    if (next < Number.POSITIVE_INFINITY) this.watchDeadline(next > now ? next : now + LOOK_AGAIN_MS)
  }
}
