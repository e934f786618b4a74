import { ProtocolError } from '../../base/errors.ts'
import { type Caller, userOf } from '../../caller/caller.ts'
import type { Catalog } from '../../catalog/dataclass.ts'
import type { ReadStore } from '../../data/read-store.ts'
import { guardSnapshot } from '../../data/restricted-snapshot.ts'
import type { Databases } from '../tables/databases.ts'
import { drive } from '../../data/suspended.ts'
import { stopAndAsk } from '../tables/remote-needed.ts'
import { RemoteReads } from '../reads/remote-reads.ts'
import { RemoteSnapshot } from '../reads/remote-snapshot.ts'
import type { ReadRequest } from '../../query/contract/request.ts'
import { QueryBudget } from '../../query/scan/query-budget.ts'
import { isTooLarge } from '../../answer/serialise-errors.ts'
import { planTask } from '../../query/tasks/task-kind.ts'
import type { TaskScope } from '../../query/tasks/task-kind.ts'
import type { Task } from '../../query/tasks/task.ts'
import { costOfTexts } from '../../query/tasks/text-cost.ts'

/** Maximum number of entities of a page, and of characters of its texts, whose reading takes well under a millisecond. */
const MAX_ROWS = 200
/** Maximum number of members of an entity set that is filtered or sorted here. */
const MAX_MEMBERS = 1_000
const MAX_TEXT_COST = 1_000
/** Maximum number of entities of the store, or of keys of another database, that a condition over a relation may read. */
const MAX_RELATED = 1_000

interface RemoteHereOptions {
  readonly catalog: Catalog
  readonly data: ReadStore
  readonly databases: Databases
  /** Names of dataclasses with restrict events. */
  readonly restricted: ReadonlySet<string>
  readonly timeoutMs: number
  readonly maxRowsExamined: number
}

/** True for a read that sends the keys of many members of an entity set to a database. */
const comparesMany = ({ source, filter, orderBy }: ReadRequest): boolean =>
  (filter !== undefined || orderBy !== undefined) &&
  ((source.kind === 'rows' && source.rowIds.length > MAX_MEMBERS) ||
    ((source.kind === 'set' || source.kind === 'keyList') && source.members.size > MAX_MEMBERS))

/** Reads small pages of databases in the kernel thread, which saves a round trip to another thread. It does not wait for other threads. */
export class RemoteHere {
  constructor(private readonly options: RemoteHereOptions) {}

  /** True for reads that cost little whatever the database contains. */
  mayRun({ kind, request }: Task): boolean {
    if (kind !== 'read') return false
    const { output, top = 100 } = request
    const { form, attributes, rowFormat, pretty, coding } = output
    const isSmall = form === 'entity' || top <= MAX_ROWS
    const isPlain = !rowFormat && !pretty && !coding && attributes?.items.every(({ path }) => path.length < 2) !== false
    return isSmall && isPlain && this.isNear(request) && !comparesMany(request) && costOfTexts(request) <= MAX_TEXT_COST
  }

  /** True if the request expands at most one relation, whose target is a single entity. */
  private isNear({ dataClass, output: { expand = [] } }: ReadRequest): boolean {
    const [first, ...others] = expand
    if (!first) return true
    const attributes = this.options.catalog.dataClassesByName.get(dataClass)?.attributes
    const relation = attributes?.find(({ name }) => name === first.path[0])
    return others.length === 0 && first.path.length === 1 && relation?.kind === 'relatedEntity'
  }

  /** @returns undefined: it costs more than expected and has to run elsewhere @throws {ProtocolError} {@link Suspended} */
  async run(task: Task, scope: TaskScope, caller: Caller | undefined): Promise<Uint8Array | undefined> {
    const { data, databases, restricted, timeoutMs } = this.options
    const maxRowsExamined = Math.min(this.options.maxRowsExamined, MAX_RELATED)
    const controller = new AbortController()
    caller?.onAborted(() => controller.abort())
    const deadlineAt = Date.now() + timeoutMs
    const user = databases.needUser ? userOf(caller) : undefined
    const limits = { deadlineAt, signal: controller.signal, user }
    const reads = new RemoteReads({
      tables: databases.tables,
      layouts: scope.layouts,
      need: stopAndAsk,
      maxKeys: MAX_RELATED,
      user: () => user,
    })
    const attempt = (): Uint8Array => {
      const counter = { examined: 0, sent: 0 }
      return data.read(local => {
        const snapshot = guardSnapshot(new RemoteSnapshot(local, reads), restricted)
        const budget = new QueryBudget({ deadlineAt, maxRowsExamined, counter })
        const context = { snapshot, budget, remote: reads }
        reads.context = context
        const bytes = planTask(task, scope, context).run()
        caller?.examined?.(counter.examined)
        if (counter.sent > 0) caller?.sent?.(counter.sent)
        return bytes.slice()
      })
    }
    try {
      return await drive(attempt, needs => databases.fetch(needs, limits)?.then(() => attempt))
    } catch (error) {
      if (isTooLarge(error) || isTooMany(error)) return undefined
      throw error
    }
  }
}

const isTooMany = (error: unknown): boolean =>
  error instanceof ProtocolError && (error.name === 'QUERY.TOO_MANY_ROWS' || error.name === 'REMOTE.TOO_MANY_ROWS')
