import { threadId } from 'node:worker_threads'
import { guardSnapshot } from '../../data/restricted-snapshot.ts'
import type { StatementLimits } from '../database/database.ts'
import type { Databases } from '../tables/databases.ts'
import type { HeldTransaction } from '../database/held-transaction.ts'
import { readBytes } from '../reads/remote-bytes.ts'
import { drive } from '../../data/suspended.ts'
import { stopAndAsk } from '../tables/remote-needed.ts'
import { RemoteReads } from '../reads/remote-reads.ts'
import { RemoteSnapshot } from '../reads/remote-snapshot.ts'
import type { RemoteWriter } from '../writes/remote-writer.ts'
import type { QueryContext } from '../../query/operators/query-context.ts'
import { type BudgetLimits, QueryBudget } from '../../query/scan/query-budget.ts'
import type { PoolStore } from '../../placement/pool/answer-task.ts'
import type { TaskRegistry } from '../../query/tasks/task-kind.ts'
import { probeDatabase } from './probe.ts'
import type { RemoteThreadOptions, RemoteWriteTask } from './remote-tasks.ts'

/** State of the thread that asks databases. */
export interface RemoteScope {
  readonly options: RemoteThreadOptions
  readonly registry: TaskRegistry
  readonly store: PoolStore
  readonly databases: Databases
  readonly writer: RemoteWriter
}

interface WorkOptions extends StatementLimits {
  readonly limits: Pick<BudgetLimits, 'timeoutMs' | 'maxRowsExamined'>
  /** Slot of the task in the shared arrays of its pool; undefined for work of a function thread. */
  readonly slot?: number
  /** True for work of code, which has already determined what it may see. */
  readonly isCode?: boolean
  /** Transaction for reads and changes in its database. */
  readonly transaction?: HeldTransaction | undefined
}

/** One task, with all data that it has read so far. */
export class RemoteWork {
  private readonly reads: RemoteReads

  constructor(
    private readonly scope: RemoteScope,
    private readonly options: WorkOptions,
  ) {
    const { databases, store } = scope
    const user = () => options.user
    this.reads = new RemoteReads({ tables: databases.tables, layouts: store.layouts, need: stopAndAsk, user })
  }

  /**
   * Runs work on the newest state of the store, until all data that it needs have been read.
   * @param begins called before each run
   */
  repeat<T>(work: (context: QueryContext) => T, begins?: () => void): Promise<T> {
    const { databases } = this.scope
    const { options } = this
    const attempt = (): T => this.once(work, begins)
    return drive(attempt, needs => databases.fetch(needs, options, options.transaction)?.then(() => attempt))
  }

  /** @throws {ProtocolError} */
  write(task: RemoteWriteTask): Promise<unknown> {
    const { writer, store } = this.scope
    const { reads, options } = this
    const repeat = <T>(work: (reads: RemoteReads) => T): Promise<T> => this.repeat(() => work(reads))
    switch (task.kind) {
      case 'remoteSave':
        return writer.save(task.request, repeat, options)
      case 'remoteDelete':
        return writer.delete(task.deletion, store.queries, repeat, options)
      case 'remoteLock':
        return writer.lock(task.lock, store.queries, repeat, options)
      case 'remoteBytes': {
        const { views, queries } = store
        return readBytes(task.bytes, { views, queries, databases: this.scope.databases, repeat, limits: options })
      }
      case 'remoteTables':
        return this.scope.databases.makeTables(task.connection, options)
      case 'remoteProbe':
        return probeDatabase(this.scope.databases, task.connection, options.signal)
      case 'remoteFreeLocks':
        return writer.freeLocks(task.owner, options)
      case 'remoteListLocks':
        return writer.listLocks(task.limit, options)
    }
  }

  /** @throws {Suspended} */
  private once<T>(work: (context: QueryContext) => T, begins: (() => void) | undefined): T {
    const { slot, deadlineAt, limits, isCode } = this.options
    const { options, store } = this.scope
    const { cancelled, worksAt, examined, sent } = options
    const isCancelled = slot === undefined ? undefined : () => Atomics.load(cancelled, slot) === 1
    const counter = { examined: 0, sent: 0 }
    const budget = new QueryBudget({ ...limits, deadlineAt, ...(isCancelled && { isCancelled }), counter })
    budget.examine(0)
    if (slot !== undefined) Atomics.store(worksAt, slot, threadId)
    try {
      return store.read(local => {
        begins?.()
        const wholeSnapshot = new RemoteSnapshot(local, this.reads)
        const snapshot = isCode ? wholeSnapshot : guardSnapshot(wholeSnapshot, options.store.restricted)
        const context = { snapshot, budget, remote: this.reads }
        this.reads.context = context
        return work(context)
      })
    } finally {
      if (slot !== undefined) {
        examined[slot] = counter.examined
        sent[slot] = counter.sent
        Atomics.store(worksAt, slot, 0)
      }
      store.releaseSnapshot()
    }
  }
}
