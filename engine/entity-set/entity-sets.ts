import { ProtocolError } from '../base/errors.ts'
import type { Caller } from '../caller/caller.ts'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { Access, Views } from '../permission/views.ts'
import { sourceClass } from '../query/execute/open-source.ts'
import type { Params, UnreadParams } from '../query/parse/parse-params.ts'
import type { ReadRequest } from '../query/contract/request.ts'
import type { RowSet } from '../row-set/row-set.ts'
import { type EntitySet, entitySet, newEntitySetId, readEntitySetId, type SavedQuery, sourceOf } from './entity-set.ts'
import { EntitySetErrors } from './entity-set-errors.ts'
import type { EntitySetStore } from './entity-set-store.ts'
import type { ListedSet, SetStore, SharedSets } from './set-store.ts'
import { KeyList } from '../row-set/key-list.ts'
import { decodeMembers, existingMembers, isOrdered, keyListOf, type Members, setOf, sizeOf } from './members.ts'

export interface EntitySetLifetimes {
  lifetimeSeconds: number
  recreatedLifetimeSeconds: number
  maxLifetimeSeconds: number
  /** Maximum number of sets of one creator; 0: no limit. */
  setsPerCreator: number
}

/** Data that entity sets need. */
interface EntitySetData {
  readonly catalog: Catalog
  readonly views: Views
  /** All entities that a request selects, whatever its paging, in the form of `encodeMembers`. */
  select(request: ReadRequest, caller?: Caller): Uint8Array | Promise<Uint8Array>
  /** Existing entities of a dataclass. */
  live(dataClass: DataClass): RowSet
  /** Names of dataclasses with restrict events. */
  readonly restricted: ReadonlySet<string>
}

/** The client for which a set is opened; members are found with its rights. */
export interface Requester {
  readonly access?: Access | undefined
  readonly caller?: Caller | undefined
}

export interface CreateOptions {
  /** Undefined: the default. */
  timeoutSeconds?: number | undefined
  /** Undefined: the server's maximum. */
  maxTimeoutSeconds?: number | undefined
  /** Query that recreates the set after its end. */
  saved?: SavedQuery | undefined
  creator?: string | undefined
  /** Maximum number of sets of its creator; undefined: the default. */
  creatorLimit?: number | undefined
  /** Network of a guest, against whose bound the set counts; undefined for other clients. */
  guestNetwork?: string | undefined
}

/** Options for recreating a set that has ended. */
interface RecreateOptions {
  /** If true, the set is not recreated, because the operation must not apply to the entities that the query selects now. */
  mustLive?: boolean | undefined
  /** Undefined: its own saved query. */
  saved?: SavedQuery | undefined
  timeoutSeconds?: number | undefined
  /** Error of a set that the requester cannot have; undefined: {@link EntitySetErrors.UNKNOWN_SET}. */
  unknown?: ProtocolError | undefined
}

export type SetOperator = 'and' | 'or' | 'except'

/**
 * The entity sets of a store. The id of a set suffices to use it, from any session that may read its dataclass. Members are row
 * ids that were found with the rights of the creator; they are only used as the source of a read or through {@link visible}, where
 * restrict events leave out entities that the requester may not see.
 * Source: base specification, 2.7, 3 and 4.5; protocol notes, 6.
 */
export class EntitySets {
  constructor(
    private readonly store: EntitySetStore,
    private readonly data: EntitySetData,
    private readonly lifetimes: EntitySetLifetimes,
    /** Sets of dataclasses in databases, if several servers share them. */
    private readonly sharedSets?: SharedSets | undefined,
  ) {}

  /**
   * Opens the set with an id and restarts its lifetime. A set that has ended is recreated under its id.
   * @throws {EntitySetErrors.UNKNOWN_SET} {@link EntitySetErrors.OTHER_CLASS} and, if it is recreated, errors of reading
   */
  open(
    dataClass: DataClass,
    text: string,
    requester: Requester,
    options: RecreateOptions = {},
  ): EntitySet | Promise<EntitySet> {
    const id = readEntitySetId(text)
    if (id === undefined) throw EntitySetErrors.UNKNOWN_SET(text)
    const open = () => {
      const tableNumber = this.tableNumberOf(id)
      if (tableNumber !== undefined && tableNumber !== dataClass.tableNumber) {
        throw EntitySetErrors.OTHER_CLASS(id, dataClass.name)
      }
      const set = this.storeOf(dataClass).use(id)
      if (!set && options.mustLive) throw EntitySetErrors.UNKNOWN_SET(text)
      return set ?? this.recreate(dataClass, id, requester, options)
    }
    return this.isShared(dataClass) ? this.sharedSets!.fetch(id).then(open) : open()
  }

  /**
   * Opens a set of any dataclass.
   * @throws {EntitySetErrors.UNKNOWN_SET}
   */
  async openAny(text: string, requester: Requester): Promise<{ dataClass: DataClass; set: EntitySet }> {
    const id = readEntitySetId(text)
    if (id !== undefined && this.sharedSets && !this.store.find(id)) await this.sharedSets.fetch(id)
    const tableNumber = id === undefined ? undefined : this.tableNumberOf(id)
    const dataClass = this.data.catalog.dataClasses.find(each => each.tableNumber === tableNumber)
    if (!dataClass) throw EntitySetErrors.UNKNOWN_SET(text)
    return { dataClass, set: await this.open(dataClass, text, requester) }
  }

  /**
   * Opens the set with which another one is to be combined, by its id or its URI.
   * @throws {EntitySetErrors.INVALID_REFERENCE} {@link EntitySetErrors.INCOMPATIBLE_CLASSES}
   */
  openOther(
    dataClass: DataClass,
    reference: string,
    requester: Requester,
    { mustLive }: Pick<RecreateOptions, 'mustLive'> = {},
  ): EntitySet | Promise<EntitySet> {
    const id = readEntitySetId(lastPart(reference))
    if (id === undefined)
      throw EntitySetErrors.INVALID_REFERENCE(reference, 'the id or the URI of an entity set is expected')
    const open = () => {
      const tableNumber = this.tableNumberOf(id)
      if (tableNumber !== undefined && tableNumber !== dataClass.tableNumber)
        throw EntitySetErrors.INCOMPATIBLE_CLASSES(id, dataClass.name)
      const set = this.storeOf(dataClass).use(id)
      const unknown = EntitySetErrors.INVALID_REFERENCE(
        reference,
        'there is no such entity set; it has expired or never existed',
      )
      if (tableNumber === undefined || (!set && mustLive)) throw unknown
      return set ?? this.recreate(dataClass, id, requester, { unknown })
    }
    return this.isShared(dataClass) ? this.sharedSets!.fetch(id).then(open) : open()
  }

  /** Runs the saved query of a set again and replaces its members. @returns the set itself if it has no saved query */
  refresh(dataClass: DataClass, set: EntitySet, requester: Requester): EntitySet | Promise<EntitySet> {
    const { id, timeoutSeconds, creator, saved, guest } = set
    const keptOptions = { timeoutSeconds, saved, creator, guestNetwork: guest?.network }
    return saved ? this.make(dataClass, id, saved, requester, keptOptions) : set
  }

  /**
   * Stores the entities that `request` selects as a set, whatever its paging. The set is durable when this resolves.
   * @throws errors of reading
   */
  async create(request: ReadRequest, options: CreateOptions, caller?: Caller): Promise<EntitySet> {
    const { tableNumber } = sourceClass(request, this.data.views.of(request.access))
    return this.keep(tableNumber, newEntitySetId(), await this.data.select(request, caller), options)
  }

  /**
   * Stores entities that have already been found as a set. @param memberBytes members from `encodeMembers`; not to be modified afterwards
   */
  keepMembers(dataClass: string, memberBytes: Uint8Array, options: CreateOptions): Promise<EntitySet> {
    const { tableNumber } = this.data.catalog.dataClassesByName.get(dataClass)!
    return this.keep(tableNumber, newEntitySetId(), memberBytes, options)
  }

  /** Path of the address of a set. @param dataClass dataclass of its members */
  uri(dataClass: string, { id }: Pick<EntitySet, 'id'>): string {
    return `${this.data.catalog.dataClassesByName.get(dataClass)!.uri}/$entityset/${id}`
  }

  /** Restarts the lifetime of a set with another timeout. */
  setTimeout({ id, tableNumber }: EntitySet, timeoutSeconds: number, most?: number): void {
    this.storeOf(this.dataClassOf(tableNumber)).use(id, this.capped(timeoutSeconds, most))
  }

  /** Members that the requester may see: if there are restrict events, hidden and deleted entities are left out. */
  async visible(dataClass: DataClass, members: Members, { access, caller }: Requester): Promise<Members> {
    if (!this.data.restricted.has(dataClass.name)) return members
    const request = { dataClass: dataClass.name, access, source: sourceOf(members), ...ALL }
    return decodeMembers(await this.data.select(request, caller))
  }

  /**
   * Entities in both sets, in either, or only in the first, including deleted ones: row ids are ascending, other members are in the order
   * of the first set and then of the second.
   */
  combine(operator: SetOperator, left: Members, right: Members): RowSet | KeyList {
    if (left instanceof KeyList || right instanceof KeyList) return apply(operator, keyListOf(left), keyListOf(right))
    return apply(operator, setOf(left), setOf(right))
  }

  intersects(left: Members, right: Members): boolean {
    return left instanceof KeyList || right instanceof KeyList
      ? keyListOf(left).intersects(keyListOf(right))
      : setOf(left).intersects(setOf(right))
  }

  /** The members that still exist. */
  async clean(dataClass: DataClass, members: Members, { access, caller }: Requester = {}): Promise<Members> {
    if (dataClass.place.isStore && !(members instanceof KeyList))
      return existingMembers(members, this.data.live(dataClass))
    const source = { ...sourceOf(members), existing: true } as const
    return decodeMembers(await this.data.select({ dataClass: dataClass.name, access, source, ...ALL }, caller))
  }

  /**
   * Ends one set.
   * @throws {EntitySetErrors.UNKNOWN_SET} {@link EntitySetErrors.OTHER_CLASS}
   */
  async release(dataClass: DataClass, text: string): Promise<void> {
    const id = readEntitySetId(text)
    const store = this.storeOf(dataClass)
    if (id !== undefined && this.isShared(dataClass)) await this.sharedSets!.fetch(id)
    const set = id === undefined ? undefined : store.find(id)
    if (!set) throw EntitySetErrors.UNKNOWN_SET(text)
    if (set.tableNumber !== dataClass.tableNumber) throw EntitySetErrors.OTHER_CLASS(set.id, dataClass.name)
    await store.release([set.id])
  }

  /**
   * Ends the sets that exist, of one dataclass or of any.
   * @throws {EntitySetErrors.OTHER_CLASS} before any has ended
   */
  async releaseAll(texts: readonly string[], dataClass?: DataClass): Promise<void> {
    const ids = texts.flatMap(text => readEntitySetId(text) ?? [])
    for (const id of dataClass ? ids : []) {
      const set = this.store.find(id)
      if (set && set.tableNumber !== dataClass!.tableNumber) throw EntitySetErrors.OTHER_CLASS(id, dataClass!.name)
    }
    const sharedTables = await this.sharedSets?.findLive(ids)
    for (const [id, tableNumber] of dataClass ? (sharedTables ?? []) : []) {
      if (tableNumber !== dataClass!.tableNumber) throw EntitySetErrors.OTHER_CLASS(id, dataClass!.name)
    }
    if (sharedTables) await this.sharedSets!.release(sharedTables.keys())
    await this.store.release(ids)
  }

  /** Number of all live sets, and the first `limit` of them. */
  async list(limit: number): Promise<{ count: number; sets: ListedSet[] }> {
    const ownList = this.store.list(limit)
    const sets = ownList.sets.map(({ id, tableNumber, timeoutSeconds, expires, members }) => {
      return { id, tableNumber, timeoutSeconds, expires, size: sizeOf(members), isOrdered: isOrdered(members) }
    })
    const sharedList = await this.sharedSets?.list(limit)
    if (!sharedList) return { count: ownList.count, sets }
    return { count: ownList.count + sharedList.count, sets: [...sets, ...sharedList.sets].slice(0, limit) }
  }

  /** Removes expired sets, as also happens every second. */
  sweep(): Promise<void> {
    return this.store.sweep()
  }

  /** Table of a set that is live or can be recreated. */
  private tableNumberOf(id: string): number | undefined {
    const ownSet = this.store.find(id) ?? this.store.findSaved(id)
    return (ownSet ?? this.sharedSets?.find(id) ?? this.sharedSets?.findSaved(id))?.tableNumber
  }

  private isShared({ place }: DataClass): boolean {
    return place.isShared && this.sharedSets !== undefined
  }

  private storeOf(dataClass: DataClass): SetStore {
    return this.isShared(dataClass) ? this.sharedSets! : this.store
  }

  private dataClassOf(tableNumber: number): DataClass {
    return this.data.catalog.dataClasses.find(each => each.tableNumber === tableNumber)!
  }

  private recreate(
    dataClass: DataClass,
    id: string,
    requester: Requester,
    {
      saved: givenQuery,
      timeoutSeconds = this.lifetimes.recreatedLifetimeSeconds,
      unknown = EntitySetErrors.UNKNOWN_SET(id),
    }: RecreateOptions,
  ): Promise<EntitySet> {
    const header = this.storeOf(dataClass).findSaved(id)
    const usedQuery = givenQuery ?? header?.saved
    if (!usedQuery) throw unknown
    // A query sent with the request is used once; only the query that created the set is kept.
    const creator = header ? header.creator : sessionOf(requester)
    const guestNetwork = header ? header.guest?.network : requester.caller?.session?.().guestNetwork
    return this.make(
      dataClass,
      id,
      usedQuery,
      requester,
      { timeoutSeconds, saved: header?.saved, creator, guestNetwork },
      unknown,
    )
  }

  /**
   * Runs the query of a set with the rights of the requester. If there are restrict events, the result replaces the members only
   * if the requester created the set; for others it is used only for this request.
   */
  private async make(
    dataClass: DataClass,
    id: string,
    definition: SavedQuery,
    requester: Requester,
    createOptions: Pick<EntitySet, 'timeoutSeconds' | 'saved' | 'creator'> & Pick<CreateOptions, 'guestNetwork'>,
    unknown = EntitySetErrors.UNKNOWN_SET(id),
  ): Promise<EntitySet> {
    const { source, filter, params, orderBy } = definition
    const { access, caller } = requester
    const { tableNumber } = dataClass
    const request = { dataClass: dataClass.name, access, source, filter, params: toParams(params), orderBy, ...ALL }
    const isForeign =
      definition === createOptions.saved &&
      (createOptions.creator === undefined || createOptions.creator !== sessionOf(requester))
    let memberBytes: Uint8Array
    try {
      memberBytes = await this.data.select(request, caller)
    } catch (error) {
      // The error would reveal another client's query, and attributes that the requester may not know.
      if (isForeign && error instanceof ProtocolError && error.httpStatus <= 404) throw unknown
      throw error
    }
    const isOwn = this.data.restricted.size === 0 || createOptions.creator === sessionOf(requester)
    return isOwn
      ? this.keep(tableNumber, id, memberBytes, createOptions)
      : entitySet({ id, tableNumber, memberBytes, ...createOptions })
  }

  private async keep(
    tableNumber: number,
    id: string,
    memberBytes: Uint8Array,
    {
      timeoutSeconds = this.lifetimes.lifetimeSeconds,
      maxTimeoutSeconds,
      saved,
      creator,
      creatorLimit = this.lifetimes.setsPerCreator,
      guestNetwork,
    }: CreateOptions,
  ): Promise<EntitySet> {
    const cappedSeconds = this.capped(timeoutSeconds, maxTimeoutSeconds)
    const set = entitySet({ id, tableNumber, memberBytes, timeoutSeconds: cappedSeconds, saved, creator })
    await this.storeOf(this.dataClassOf(tableNumber)).put(set, creatorLimit || undefined, guestNetwork)
    return set
  }

  private capped(timeoutSeconds: number, most = Number.POSITIVE_INFINITY): number {
    return Math.min(timeoutSeconds, most, this.lifetimes.maxLifetimeSeconds)
  }
}

/** Applies an operator to sets of one kind. */
function apply<Set extends { and(other: Set): Set; or(other: Set): Set; minus(other: Set): Set }>(
  operator: SetOperator,
  left: Set,
  right: Set,
): Set {
  return operator === 'and' ? left.and(right) : operator === 'or' ? left.or(right) : left.minus(right)
}

/** Read options that select everything and send nothing. */
const ALL = { skip: 0, top: undefined, output: { form: 'collection' } } as const

/** Session id, which identifies the creator of a set. */
const sessionOf = ({ caller }: Requester): string | undefined => caller?.session?.().data.id

/** Parts of a request that can repeat its selection; undefined if it starts from a set, which may no longer exist by then. */
export function savedQuery({
  source,
  filter,
  params,
  orderBy,
}: Pick<ReadRequest, 'source' | 'filter' | 'params' | 'orderBy'>): SavedQuery | undefined {
  const isOfSet = source.kind === 'set' || source.kind === 'rows' || source.kind === 'keyList'
  // The filter of a set then runs on the dataclass, as on the protocol's own servers. Without one it would select all.
  if (isOfSet && filter === undefined) return undefined
  return {
    source: isOfSet ? { kind: 'all' } : source,
    filter,
    params: params && fromParams(params),
    orderBy,
  }
}

function lastPart(uri: string): string {
  const [path] = uri.split('?') as [string]
  return path.slice(path.lastIndexOf('/') + 1)
}

function fromParams(params: Params | UnreadParams): SavedQuery['params'] {
  if ('text' in params) return params
  return { positional: params.positional, named: [...params.named], attributes: [...params.attributes] }
}

function toParams(savedParams: SavedQuery['params']): Params | UnreadParams | undefined {
  if (!savedParams || 'text' in savedParams) return savedParams
  return {
    positional: savedParams.positional,
    named: new Map(savedParams.named),
    attributes: new Map(savedParams.attributes),
  }
}
