import { ProtocolError } from '../../base/errors.ts'
import { type Caller, userOf } from '../../caller/caller.ts'
import { isBinary } from '../../catalog/attribute.ts'
import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import type { ReadStore } from '../../data/read-store.ts'
import { guardSnapshot } from '../../data/restricted-snapshot.ts'
import { CallerCancellation } from '../database/cancellation.ts'
import type { StatementLimits } from '../database/database.ts'
import type { Databases } from '../tables/databases.ts'
import type { Repeat } from '../reads/remote-bytes.ts'
import type { RemoteWriter } from '../writes/remote-writer.ts'
import type { SaveRequest, SaveResult } from '../../write/contract/requests.ts'
import type { QueryContext } from '../../query/operators/query-context.ts'
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

/** Maximum size of the body of a save whose entities are saved here. */
const MAX_BODY_BYTES = 4_096
const OPENING_BRACE = 0x7b

interface RemoteHereOptions {
  readonly catalog: Catalog
  /** Saves over the connections of this thread. It has no locks of its own. */
  readonly writer: RemoteWriter
  /** Number of locks that the thread for everything else holds. */
  readonly lockCount: Int32Array
  /** Names of the connections whose entities have events. */
  readonly serializable: readonly string[]
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

/** One task in this thread: the rows that it has read, and its limits. */
interface Work {
  readonly reads: RemoteReads
  readonly limits: StatementLimits
}

/**
 * Reads small pages of databases and saves single entities in the kernel thread, which saves a round trip to another thread. It does not
 * wait for other threads.
 */
export class RemoteHere {
  /** Names of the dataclasses whose entities may be saved here. */
  private readonly writtenClasses: ReadonlySet<string>

  constructor(private readonly options: RemoteHereOptions) {
    const { catalog, serializable } = options
    const isWritten = ({ remote, attributes }: DataClass): boolean =>
      remote !== undefined &&
      !serializable.includes(remote.connection) &&
      !attributes.some(each => each.kind === 'storage' && isBinary(each.type))
    this.writtenClasses = new Set(catalog.dataClasses.filter(isWritten).map(({ name }) => name))
  }

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

  /** True for a save of one entity, or of a few, that only the databases and the model check. */
  maySave({ dataClass, mode, body, trusted, hooked, received, reads, parts }: SaveRequest): boolean {
    const isPlain = mode === 'update' && !trusted && !hooked && !received && !reads && !parts
    const isSmall = body.byteLength <= MAX_BODY_BYTES && body[0] === OPENING_BRACE
    return isPlain && isSmall && this.writtenClasses.has(dataClass) && Atomics.load(this.options.lockCount, 0) === 0
  }

  /** @throws {ProtocolError} {@link Suspended} */
  save(request: SaveRequest, scope: TaskScope, caller: Caller | undefined): Promise<SaveResult> {
    const work = this.begin(scope, caller)
    const repeat: Repeat = attempt => this.repeat(work, () => attempt(work.reads))
    return this.options.writer.save(request, repeat, work.limits)
  }

  /** @returns undefined: it costs more than expected and has to run elsewhere @throws {ProtocolError} {@link Suspended} */
  async run(task: Task, scope: TaskScope, caller: Caller | undefined): Promise<Uint8Array | undefined> {
    try {
      return await this.repeat(this.begin(scope, caller), (context, counter) => {
        const bytes = planTask(task, scope, context).run()
        caller?.examined?.(counter.examined)
        if (counter.sent > 0) caller?.sent?.(counter.sent)
        return bytes.slice()
      })
    } catch (error) {
      if (isTooLarge(error) || isTooMany(error)) return undefined
      throw error
    }
  }

  private begin({ layouts }: TaskScope, caller: Caller | undefined): Work {
    const { databases, timeoutMs } = this.options
    const signal = new CallerCancellation(caller)
    const user = databases.needUser ? userOf(caller) : undefined
    const reads = new RemoteReads({
      tables: databases.tables,
      layouts,
      need: stopAndAsk,
      maxKeys: MAX_RELATED,
      user: () => user,
    })
    return { reads, limits: { deadlineAt: Date.now() + timeoutMs, signal, user } }
  }

  /** Runs work on the newest state of the store, until all rows that it needs have been read. */
  private repeat<T>(
    { reads, limits }: Work,
    work: (context: QueryContext, counter: { examined: number; sent: number }) => T,
  ): Promise<T> {
    const { data, databases, restricted } = this.options
    const maxRowsExamined = Math.min(this.options.maxRowsExamined, MAX_RELATED)
    const attempt = (): T => {
      const counter = { examined: 0, sent: 0 }
      return data.read(local => {
        const snapshot = guardSnapshot(new RemoteSnapshot(local, reads), restricted)
        const budget = new QueryBudget({ deadlineAt: limits.deadlineAt, maxRowsExamined, counter })
        const context = { snapshot, budget, remote: reads }
        reads.context = context
        return work(context, counter)
      })
    }
    return drive(attempt, needs => databases.fetch(needs, limits)?.then(() => attempt))
  }
}

const isTooMany = (error: unknown): boolean =>
  error instanceof ProtocolError && (error.name === 'QUERY.TOO_MANY_ROWS' || error.name === 'REMOTE.TOO_MANY_ROWS')
