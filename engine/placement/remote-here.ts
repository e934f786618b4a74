import type { Caller } from '../caller/caller.ts'
import type { ReadStore } from '../data/read-store.ts'
import { guarded } from '../data/restricted-snapshot.ts'
import type { Databases } from '../postgres/databases.ts'
import { neededBy, stopAndAsk } from '../postgres/remote-needed.ts'
import { RemoteReads } from '../postgres/remote-reads.ts'
import { RemoteSnapshot } from '../postgres/remote-snapshot.ts'
import { QueryBudget } from '../query/scan/query-budget.ts'
import { isTooLarge } from '../answer/serialise-errors.ts'
import { planTask } from './plan-task.ts'
import type { TaskScope } from './task-kind.ts'
import type { Task } from './tasks.ts'
import { costOfTexts } from './text-cost.ts'

/** Maximum number of entities of a page, and of characters of its texts, whose reading takes well under a millisecond. */
const MAX_ROWS = 200
const MAX_TEXT_COST = 1_000

interface RemoteHereOptions {
  readonly data: ReadStore
  readonly databases: Databases
  /** Names of dataclasses with restrict events. */
  readonly restricted: ReadonlySet<string>
  readonly timeoutMs: number
  readonly maxRowsExamined: number
}

/** Reads small pages of databases in the kernel thread, which saves a way to another thread and back. It waits for none. */
export class RemoteHere {
  constructor(private readonly options: RemoteHereOptions) {}

  /** True for reads that cost little whatever the database has. */
  mayRun({ kind, request }: Task): boolean {
    if (kind !== 'read') return false
    const { output, top = 100 } = request
    const { form, expand, attributes, rowFormat, pretty, coding } = output
    const isSmall = form === 'entity' || top <= MAX_ROWS
    const isPlain =
      !expand && !rowFormat && !pretty && !coding && attributes?.items.every(({ path }) => path.length < 2) !== false
    return isSmall && isPlain && costOfTexts(request) <= MAX_TEXT_COST
  }

  /** @returns undefined: it costs more than expected and has to run elsewhere @throws {ProtocolError} {@link RequiresPluginCode} */
  async run(task: Task, scope: TaskScope, caller: Caller | undefined): Promise<Uint8Array | undefined> {
    const { data, databases, restricted, timeoutMs, maxRowsExamined } = this.options
    const waiting = new AbortController()
    caller?.onAborted(() => waiting.abort())
    const deadlineAt = Date.now() + timeoutMs
    const reads = new RemoteReads({ tables: databases.tables, layouts: scope.layouts, need: stopAndAsk })
    for (;;) {
      const counter = { examined: 0, sent: 0 }
      try {
        return data.read(local => {
          const snapshot = guarded(new RemoteSnapshot(local, reads), restricted)
          const budget = new QueryBudget({ deadlineAt, maxRowsExamined, counter })
          const context = { snapshot, budget, remote: reads }
          reads.context = context
          const bytes = planTask(task, scope, context).run()
          caller?.examined?.(counter.examined)
          if (counter.sent > 0) caller?.sent?.(counter.sent)
          return bytes.slice()
        })
      } catch (error) {
        if (isTooLarge(error)) return undefined
        const needed = neededBy(error)
        if (!needed) throw error
        await databases.fetch(needed, { deadlineAt, signal: waiting.signal })
      }
    }
  }
}
