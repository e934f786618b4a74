import type { Caller } from '../pool/query-pool.ts'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { Access, Views } from '../permission/views.ts'
import { sourceClass } from '../query/execute/open-source.ts'
import type { Params } from '../query/parse/parse-params.ts'
import type { ReadRequest } from '../query/request.ts'
import type { RowSet } from '../row-set/row-set.ts'
import { type EntitySet, entitySet, newEntitySetId, readEntitySetId, type SavedQuery } from './entity-set.ts'
import { EntitySetErrors } from './entity-set-errors.ts'
import type { EntitySetStore, ListedSet } from './entity-set-store.ts'
import { existing, type Members, setOf } from './members.ts'

export interface EntitySetLifetimes {
  lifetimeSeconds: number
  recreatedLifetimeSeconds: number
  maxLifetimeSeconds: number
  /** Sets of one creator; 0: no limit. */
  setsPerCreator: number
}

/** What entity sets need of the data. */
export interface EntitySetData {
  readonly catalog: Catalog
  readonly views: Views
  /** All that a request selects, whatever its paging, as `encodeMembers` makes it. */
  select(request: ReadRequest, caller?: Caller): Uint8Array | Promise<Uint8Array>
  /** The same with entities that not everybody may see: whoever reads the set is restricted. */
  selectAll(request: ReadRequest): Uint8Array | Promise<Uint8Array>
  /** The entities of a dataclass that exist. */
  live(dataClass: DataClass): RowSet
}

export interface CreateOptions {
  /** Undefined: the default. */
  timeoutSeconds?: number | undefined
  /** Undefined: that of the server. */
  maxTimeoutSeconds?: number | undefined
  /** What is kept to make the set again after its end. */
  saved?: SavedQuery | undefined
  creator?: string | undefined
  /** How many sets its creator may have; undefined: the default. */
  creatorLimit?: number | undefined
}

/** How a set that has ended is made again. */
export interface RecreateOptions {
  /** Of the one who asks for it: what may not be read cannot be searched by either. */
  access?: Access | undefined
  /** Undefined: by its own saved query. */
  saved?: SavedQuery | undefined
  timeoutSeconds?: number | undefined
}

export type SetOperator = 'and' | 'or' | 'except'

/** The entity sets of a store. Source: base specification, 2.7, 3 and 4.5; protocol notes, 6. */
export class EntitySets {
  constructor(
    private readonly store: EntitySetStore,
    private readonly data: EntitySetData,
    private readonly lifetimes: EntitySetLifetimes,
  ) {}

  /**
   * The set of that id, whose lifetime starts again. One that has ended is made again under its id.
   * @throws {EntitySetErrors.UNKNOWN_SET} {@link EntitySetErrors.OTHER_CLASS} and, where it is made again, what reading throws
   */
  open(dataClass: DataClass, text: string, options: RecreateOptions = {}): EntitySet | Promise<EntitySet> {
    const id = readEntitySetId(text)
    if (id === undefined) throw EntitySetErrors.UNKNOWN_SET(text)
    const tableNumber = this.tableNumberOf(id)
    if (tableNumber !== undefined && tableNumber !== dataClass.tableNumber) {
      throw EntitySetErrors.OTHER_CLASS(id, dataClass.name)
    }
    return this.store.use(id) ?? this.recreate(dataClass, id, options)
  }

  /**
   * The same for a set of any dataclass.
   * @throws {EntitySetErrors.UNKNOWN_SET}
   */
  async openAny(text: string, access?: Access): Promise<{ dataClass: DataClass; set: EntitySet }> {
    const id = readEntitySetId(text)
    const tableNumber = id === undefined ? undefined : this.tableNumberOf(id)
    const dataClass = this.data.catalog.dataClasses.find(each => each.tableNumber === tableNumber)
    if (!dataClass) throw EntitySetErrors.UNKNOWN_SET(text)
    return { dataClass, set: await this.open(dataClass, text, { access }) }
  }

  /**
   * The set that another one is to be combined with, by its id or its URI.
   * @throws {EntitySetErrors.INVALID_REFERENCE} {@link EntitySetErrors.INCOMPATIBLE_CLASSES}
   */
  openOther(dataClass: DataClass, reference: string, access?: Access): EntitySet | Promise<EntitySet> {
    const id = readEntitySetId(lastPart(reference))
    if (id === undefined)
      throw EntitySetErrors.INVALID_REFERENCE(reference, 'the id or the URI of an entity set is expected')
    const tableNumber = this.tableNumberOf(id)
    if (tableNumber === undefined) {
      throw EntitySetErrors.INVALID_REFERENCE(reference, 'there is no such entity set; it has expired or never was')
    }
    if (tableNumber !== dataClass.tableNumber) throw EntitySetErrors.INCOMPATIBLE_CLASSES(id, dataClass.name)
    return this.store.use(id) ?? this.recreate(dataClass, id, { access })
  }

  /** Runs the saved query of a set again and puts the result in its place. @returns the set as it is when it has none */
  refresh(dataClass: DataClass, set: EntitySet, access?: Access): EntitySet | Promise<EntitySet> {
    const { id, timeoutSeconds, creator, saved } = set
    return saved ? this.make(dataClass, id, saved, access, { timeoutSeconds, saved, creator }) : set
  }

  /**
   * Keeps what `request` selects, whatever its paging. The set is durable when this resolves.
   * @throws what reading throws
   */
  async create(request: ReadRequest, options: CreateOptions, caller?: Caller): Promise<EntitySet> {
    const { tableNumber } = sourceClass(request, this.data.views.of(request.access))
    return this.keep(tableNumber, newEntitySetId(), await this.data.select(request, caller), options)
  }

  /** Keeps entities that have been found already, as `encodeMembers` makes them. Nobody may write to them any more. */
  keepMembers(dataClass: string, encoded: Uint8Array, options: CreateOptions): Promise<EntitySet> {
    const { tableNumber } = this.data.catalog.dataClassesByName.get(dataClass)!
    return this.keep(tableNumber, newEntitySetId(), encoded, options)
  }

  /** Starts the lifetime of a set again with another timeout. */
  setTimeout({ id }: EntitySet, timeoutSeconds: number, most?: number): void {
    this.store.use(id, this.capped(timeoutSeconds, most))
  }

  /** Row ids of entities in both, in either, or in the first only. Ascending, with those that do not exist any more. */
  combine(operator: SetOperator, left: Members, right: Members): RowSet {
    const [a, b] = [setOf(left), setOf(right)]
    return operator === 'and' ? a.and(b) : operator === 'or' ? a.or(b) : a.minus(b)
  }

  intersects(left: Members, right: Members): boolean {
    return setOf(left).intersects(setOf(right))
  }

  /** The members that still exist. */
  clean(dataClass: DataClass, members: Members): Members {
    return existing(members, this.data.live(dataClass))
  }

  /**
   * Ends one set.
   * @throws {EntitySetErrors.UNKNOWN_SET} {@link EntitySetErrors.OTHER_CLASS}
   */
  async release(dataClass: DataClass, text: string): Promise<void> {
    const id = readEntitySetId(text)
    const set = id === undefined ? undefined : this.store.find(id)
    if (!set) throw EntitySetErrors.UNKNOWN_SET(text)
    if (set.tableNumber !== dataClass.tableNumber) throw EntitySetErrors.OTHER_CLASS(set.id, dataClass.name)
    await this.store.release([set.id], () => true)
  }

  /** Ends those that there are, of one dataclass or of any. */
  async releaseAll(texts: readonly string[], dataClass?: DataClass): Promise<void> {
    const ids = texts.flatMap(text => readEntitySetId(text) ?? [])
    await this.store.release(ids, set => !dataClass || set.tableNumber === dataClass.tableNumber)
  }

  /** Sets that live, the first `limit` of them with what they are, and how many there are in all. */
  list(limit: number): { count: number; sets: ListedSet[] } {
    return this.store.list(limit)
  }

  /** Removes sets whose time is over, as happens every second anyway. */
  sweep(): Promise<void> {
    return this.store.sweep()
  }

  /** Of a set that lives or can be made again. */
  private tableNumberOf(id: string): number | undefined {
    return (this.store.find(id) ?? this.store.findSaved(id))?.tableNumber
  }

  private recreate(dataClass: DataClass, id: string, options: RecreateOptions): Promise<EntitySet> {
    const { saved: given, access, timeoutSeconds = this.lifetimes.recreatedLifetimeSeconds } = options
    const kept = this.store.findSaved(id)
    const saved = given ?? kept?.saved
    if (!saved) throw EntitySetErrors.UNKNOWN_SET(id)
    // What a request brings is for this time: only what came with the creation is kept on.
    return this.make(dataClass, id, saved, access, { timeoutSeconds, saved: kept?.saved, creator: kept?.creator })
  }

  private async make(
    dataClass: DataClass,
    id: string,
    saved: SavedQuery,
    access: Access | undefined,
    options: CreateOptions,
  ): Promise<EntitySet> {
    const { source, filter, params, orderBy } = saved
    const output = { form: 'collection' } as const
    const request = { dataClass: dataClass.name, access, source, filter, params: toParams(params), orderBy, output }
    const encoded = await this.data.selectAll({ ...request, skip: 0, top: undefined })
    return this.keep(dataClass.tableNumber, id, encoded, options)
  }

  private async keep(
    tableNumber: number,
    id: string,
    encoded: Uint8Array,
    {
      timeoutSeconds = this.lifetimes.lifetimeSeconds,
      maxTimeoutSeconds,
      saved,
      creator,
      creatorLimit = this.lifetimes.setsPerCreator,
    }: CreateOptions,
  ): Promise<EntitySet> {
    const capped = this.capped(timeoutSeconds, maxTimeoutSeconds)
    const set = entitySet({ id, tableNumber, encoded, timeoutSeconds: capped, saved, creator })
    await this.store.put(set, creatorLimit || undefined)
    return set
  }

  private capped(timeoutSeconds: number, most = Number.POSITIVE_INFINITY): number {
    return Math.min(timeoutSeconds, most, this.lifetimes.maxLifetimeSeconds)
  }
}

/** What of a request can make its selection again. Undefined: it starts from a set, which may be gone by then. */
export function savedQuery({
  source,
  filter,
  params,
  orderBy,
}: Pick<ReadRequest, 'source' | 'filter' | 'params' | 'orderBy'>): SavedQuery | undefined {
  const isOfSet = source.kind === 'set' || source.kind === 'rows'
  // The filter of a set runs on the dataclass then, as on the protocol's own servers. Without one it would be everything.
  if (isOfSet && filter === undefined) return undefined
  return {
    source: isOfSet ? { kind: 'all' } : source,
    filter,
    params: params && {
      positional: params.positional,
      named: [...params.named],
      attributes: [...params.attributes],
    },
    orderBy,
  }
}

function lastPart(uri: string): string {
  const [path] = uri.split('?') as [string]
  return path.slice(path.lastIndexOf('/') + 1)
}

const toParams = (saved: SavedQuery['params']): Params | undefined =>
  saved && { positional: saved.positional, named: new Map(saved.named), attributes: new Map(saved.attributes) }
