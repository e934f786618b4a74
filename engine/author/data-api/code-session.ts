import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import { EngineErrors } from '../../base/engine-errors.ts'
import type { RemoteLink } from '../../postgres/run/remote-link.ts'
import { type PreparedQuery, QueryCache, type QueryTexts } from '../../query/plan/query-cache.ts'
import type { QueryLimits } from '../../query/contract/query-limits.ts'
import type { ReadStore } from '../../data/read-store.ts'
import { Views } from '../../permission/views.ts'
import { suggestion } from '../../base/suggestion.ts'
import type { WriterLink } from '../../write/client/writer-link.ts'
import { bindClasses } from './bind-classes.ts'
import type { Binding } from './binding.ts'
import { DataStore } from './data-store.ts'
import { derivedClass } from './derived-class.ts'
import { type AuthorClass, subjectOf } from '../declare/describe-classes.ts'
import type { EntityHooks } from './entity-hooks.ts'
import { jobNames } from './jobs.ts'
import { CallScope } from './call-scope.ts'
import { Snapshots } from './snapshots.ts'
import { Writes } from './writes.ts'

export interface CodeSessionOptions {
  readonly store: ReadStore
  readonly limits: QueryLimits
  /** Plugin classes, as `authorClasses` finds them in their modules. */
  readonly classes?: readonly AuthorClass[]
  /** Without it nothing can be saved. */
  readonly writer?: WriterLink
  /** Set for a model with remote dataclasses. */
  readonly remote?: RemoteLink | undefined
  /** True if databases receive the names of the users of requests. */
  readonly needsUser?: boolean
  /** Maximum time for which a transaction may hold up other writes; 2,000 by default. */
  readonly transactionTimeoutMs?: number
  /** Milliseconds since 1970; the clock of the system by default. */
  readonly now?: () => number
  /** Plugin code around saves and drops. */
  readonly hooks?: EntityHooks
  /** Called with the progress that a job reports, as JSON. */
  readonly onProgress?: (job: string, value: string) => void
}

/**
 * The data API of plugin code in one thread. Everything is synchronous. A call reads from one snapshot, which is opened with the first read
 * and moves on only with the writes of the call itself. Code that waits holds no snapshot: each stretch between two awaits has a separate
 * one.
 */
export class CodeSession {
  readonly catalog: Catalog
  readonly views: Views
  /** Bindings of each dataclass to its plugin classes. */
  readonly bindings: ReadonlyMap<DataClass, Binding>
  /** `ds`: an instance of the plugin's datastore class, if there is one. */
  readonly dataStore: DataStore
  readonly limits: QueryLimits
  readonly queries: QueryCache
  readonly now: () => number
  readonly scope: CallScope
  readonly snapshots: Snapshots
  readonly writes: Writes
  private readonly singletons = new Map<string, object>()
  private jobNames: ReadonlyMap<unknown, string> | undefined

  constructor(readonly options: CodeSessionOptions) {
    const { store, limits, classes = [], now = Date.now } = options
    this.now = now
    this.catalog = store.catalog
    this.views = new Views(this.catalog)
    this.limits = limits
    this.queries = new QueryCache(limits, store.counts)
    this.scope = new CallScope(this)
    this.snapshots = new Snapshots(this)
    this.writes = new Writes(this)
    this.bindings = bindClasses(this, classes, store)
    this.dataStore = DataStore.bind(this, classes)
  }

  /** @throws like {@link reading} */
  prepare(dataClass: DataClass, texts: QueryTexts): PreparedQuery {
    return this.scope.reading(view => this.queries.prepare(dataClass, texts, view))
  }

  /** @throws {EngineErrors.UNKNOWN_DATACLASS} */
  binding(name: string): Binding {
    const dataClass = this.catalog.dataClassesByName.get(name)
    if (dataClass) return this.bindings.get(dataClass)!
    const names = this.catalog.dataClasses.map(each => each.name)
    throw EngineErrors.UNKNOWN_DATACLASS(name, suggestion(name, names))
  }

  /** The only instance of a singleton class in this thread, made on first use. */
  singleton(name: string): object | undefined {
    let instance = this.singletons.get(name)
    if (!instance) {
      const singletonClass = this.options.classes?.find(
        each => each.name === name && subjectOf(each).kind === 'singleton',
      )
      if (!singletonClass) return undefined
      instance = new (derivedClass(singletonClass as new () => object, this))()
      this.singletons.set(name, instance)
    }
    return instance
  }

  /** Name of the job that a function is: see `@job`. */
  jobName(method: unknown): string | undefined {
    this.jobNames ??= jobNames(this, this.options.classes ?? [])
    return this.jobNames.get(method)
  }
}
