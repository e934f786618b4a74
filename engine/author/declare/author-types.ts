/**
 * Types of plugin classes. With the file that `tesser types` writes, only names of the model compile; without it, any dataclass
 * and attribute name does.
 */
import type { Attributes, Calculated, DataClassName, Key, Model, Related, RelationName } from './model-types.ts'
import type { OrderText, PathText, QueryText } from './query-text.ts'

/**
 * Plugin classes by name, so that entities, selections and dataclasses have their types. Declared by plugins:
 *
 *   declare module 'tesser/classes' { interface Classes { EmployeeEntity: EmployeeEntity } }
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface Classes {}

/** An attribute, or a path through relations or into objects. */
export type AttributePath<N extends string> = N extends keyof Model ? NameOf<N> | `${NameOf<N>}.${string}` : string
/** Values of a new entity by name. They are checked when they are assigned. */
export type NewValues<N extends string> = N extends keyof Model
  ? { readonly [name in keyof EntityOf<N>]?: unknown }
  : object
type NameOf<N extends string> = (keyof Attributes<N> | keyof Calculated<N>) & string
type ClassNamed<Name extends string, Otherwise> = Name extends keyof Classes ? Classes[Name] : Otherwise

/** Sum or average of an attribute: a string when its values are strings, as for a decimal. */
type Total<N extends string, A, Otherwise> = A extends keyof (Attributes<N> & Calculated<N>)
  ? TotalOf<NonNullable<(Attributes<N> & Calculated<N>)[A]>, Otherwise>
  : Otherwise
/** `Otherwise` when the type of the values is unknown. */
type TotalOf<Value, Otherwise> = unknown extends Value ? Otherwise : Value extends string ? string : Otherwise

/** A value of an attribute, without null; unknown for a path and for an attribute that is not a scalar. */
type ValueOf<N extends string, A> = A extends keyof (Attributes<N> & Calculated<N>)
  ? Scalar<NonNullable<(Attributes<N> & Calculated<N>)[A]>>
  : unknown
type Scalar<Value> = Value extends object ? (Value extends Date ? Value : unknown) : Value

export type EntityOf<N extends string> = ClassNamed<`${N}Entity`, BaseEntity<N> & Attributes<N> & Calculated<N>>
export type SelectionOf<N extends string> = ClassNamed<`${N}Selection`, BaseSelection<N>>
export type DataClassOf<N extends string> = ClassNamed<N, BaseDataClass<N>>
/** Type of `ds`, with the class of the datastore, if a plugin declares it as `DataStore`. */
export type DataStoreOf = { readonly [N in DataClassName]: DataClassOf<N> } & ClassNamed<'DataStore', BaseDataStore>

/** Bytes of an image or a blob. */
export interface Binary {
  readonly mediaType: string
  readonly bytes: Uint8Array
}

/** Outcome of a `save` or a `drop`. Source: protocol notes, 5.10. */
export interface Status {
  readonly success: boolean
  /** Set only if the operation failed. */
  readonly status?: number
  readonly statusText?: string
  /** With status 3: the owner of the lock. */
  readonly lockKind?: number
  readonly lockKindText?: string
  readonly lockInfo?: object
  /** Root cause first. */
  readonly errors?: readonly { message: string; componentSignature: string; errCode: number; attribute?: string }[]
}

/** Options of `saveOrThrow` and `dropOrThrow`. */
export interface OrThrowOptions {
  /** Position of the entity in what the client has sent: the `index` of its errors. */
  readonly index?: number | undefined
}

/** Values of a query by name, in addition to or instead of values by number: `{ parameters: { name: 'Ada' } }`. */
export interface QuerySettings {
  readonly parameters?: object
  /** Attribute paths for placeholders that stand for an attribute. */
  readonly attributes?: Readonly<Record<string, string | readonly string[]>>
}

/** A value of a query; the last one may be {@link QuerySettings}. */
export type QueryValue = string | number | bigint | boolean | Date | readonly unknown[] | object

export interface DataClassInfo<N extends string = string> {
  /** Any string if the file of `tesser types` is missing: the compiler then cannot tell dataclasses apart. */
  readonly name: keyof Model extends never ? string : N
  readonly primaryKey: string
  readonly tableNumber: number
  readonly exposed: boolean
}

/** A dataclass: `ds.Employee`. */
export interface BaseDataClass<N extends string> {
  /**
   * Entities that match a query: the text of a `$filter`, optionally with `order by`, and values for `:1`, `:2`.
   * The compiler checks names and values in a literal text. @throws a `UsageError`, which the client does not see: the query cannot be used
   */
  query<Text extends string, Values extends QueryValue[]>(
    text: QueryText<N, Text, Values>,
    ...values: Values
  ): SelectionOf<N>
  /** The entity with this primary key, or null. */
  get(key: Key<N>): EntityOf<N> | null
  all(): SelectionOf<N>
  /** A new entity, which exists only in memory until it is saved. */
  new: (values?: NewValues<N>) => EntityOf<N>
  /** An empty selection to `add` to. It keeps the order of additions, and duplicates. */
  newSelection(): SelectionOf<N>
  /**
   * Creates or changes entities: an object with `__KEY` and `__STAMP`, or with an existing primary key, changes an entity; any
   * other object creates one. Each is saved separately; entities that cannot be saved are not in the selection.
   */
  fromCollection(objects: readonly object[]): SelectionOf<N>
  getCount(): number
  getInfo(): DataClassInfo<N>
}

/** Members of every entity besides its attributes. */
export interface BaseEntity<N extends string> {
  getDataClass(): DataClassOf<N>
  /** The primary key; null for a new entity that has none yet. */
  getKey(): Key<N> | null
  /** 0 for a new entity. */
  getStamp(): number
  isNew(): boolean
  /** True if there are unsaved changes. */
  touched(): boolean
  touchedAttributes(): string[]
  /** Saves the assigned values durably, unless the entity has been saved elsewhere since it was loaded. */
  save(): Status
  /** Like `save`. @throws a `ProtocolError`, which the client receives unless code catches it: with its status, code and attribute */
  saveOrThrow(options?: OrThrowOptions): void
  /**
   * Assigns and saves changes. If the entity has been saved elsewhere meanwhile, it is loaded again and the changes are repeated, in 5
   * attempts unless `attempts` says otherwise. If the entity already had unsaved values, only one attempt is made.
   * @param changes values by name, or a function that assigns them and does not wait: `account.update(it => { it.balance += 5 })`
   * @returns the status of the last save: like `save`, it does not throw where a save is refused
   */
  update(changes: NewValues<N> | ((entity: this) => void), options?: { attempts?: number }): Status
  /** Deletes the entity, unless it has been saved elsewhere since it was loaded. `force` deletes it in any case. */
  drop(options?: { force?: boolean }): Status
  /** Like `drop`. @throws a `ProtocolError`, as `saveOrThrow` does */
  dropOrThrow(options?: { force?: boolean } & OrThrowOptions): void
  /**
   * Keeps other sessions from locking, changing and deleting the entity until this session unlocks it or ends. Fails with status
   * 3 when another session has locked it.
   */
  lock(): Status
  /** `wasNotLocked`: the session had not locked it. */
  unlock(): Status & { readonly wasNotLocked?: boolean }
  /** Discards assigned values and loads the entity again. */
  reload(): Status
  /** A second object for the same entity, with the assigned values; each is saved separately. */
  clone(): EntityOf<N>
  /** Attributes in which the two entities differ. */
  diff(
    other: EntityOf<N>,
    attributes?: readonly string[],
  ): { attributeName: string; value: unknown; otherValue: unknown }[]
  /**
   * A plain object. Without filter, and for `*`: all attributes that are not private, N→1 relations as `{__KEY}`; 1→N relations,
   * images and blobs left out.
   * @param filter paths such as `'lastName, employer.name, staff.*'`, or an array of them
   */
  toObject(
    filter?: string | readonly string[],
    options?: { withKey?: boolean; withStamp?: boolean },
  ): Record<string, unknown>
  toJSON(): Record<string, unknown>
  /** Assigns the attributes that the object has; relations by `{__KEY}`. */
  fromObject(values: object): void
  /** Position in a selection, or -1. */
  indexOf(selection: SelectionOf<N>): number
}

/** Entities of one dataclass, found when they are first needed. Immutable except for `add`. */
export interface BaseSelection<N extends string> extends Iterable<EntityOf<N>> {
  readonly length: number
  getDataClass(): DataClassOf<N>
  /** True if the selection has a defined order (and may hold an entity twice). */
  isOrdered(): boolean
  query<Text extends string, Values extends QueryValue[]>(
    text: QueryText<N, Text, Values>,
    ...values: Values
  ): SelectionOf<N>
  orderBy<Text extends string>(order: OrderText<N, Text>): SelectionOf<N>
  first(): EntityOf<N> | null
  last(): EntityOf<N> | null
  /** Entity at a position, from the end if negative. Null if there is none or it has been deleted. */
  at(index: number): EntityOf<N> | null
  /** Part of the selection, with the arguments of `Array.prototype.slice`. */
  slice(start?: number, end?: number): SelectionOf<N>
  /** A string for a decimal, like its values. */
  sum<A extends AttributePath<N>>(attribute: A): Total<N, A, number | bigint>
  average<A extends AttributePath<N>>(attribute: A): Total<N, A, number> | null
  min<A extends AttributePath<N>>(attribute: A): ValueOf<N, A> | null
  max<A extends AttributePath<N>>(attribute: A): ValueOf<N, A> | null
  /** Entities that have a value in the attribute. */
  count(attribute: AttributePath<N>): number
  /** Distinct values, ascending, without null. */
  distinct<A extends AttributePath<N>>(attribute: PathText<N, A>): ValueOf<N, A>[]
  /** Entities that are in both. */
  and(other: SelectionOf<N> | EntityOf<N>): SelectionOf<N>
  or(other: SelectionOf<N> | EntityOf<N>): SelectionOf<N>
  minus(other: SelectionOf<N> | EntityOf<N>): SelectionOf<N>
  contains(entity: EntityOf<N>): boolean
  /** Adds to this selection and returns it. */
  add(other: SelectionOf<N> | EntityOf<N>): SelectionOf<N>
  /** A separate selection with the same entities. */
  copy(): SelectionOf<N>
  /** Values of an attribute, in the order of the selection, null included. */
  extract(attribute: AttributePath<N>): unknown[]
  /** Objects with these attributes, in the order of the selection. */
  extract(...attributes: AttributePath<N>[]): Record<string, unknown>[]
  /** Entities that the relation leads to from any entity of this selection. */
  related<R extends RelationName<N>>(relation: R): SelectionOf<Related<N, R>>
  toCollection(
    filter?: string | readonly string[],
    options?: { begin?: number; howMany?: number; withKey?: boolean; withStamp?: boolean },
  ): Record<string, unknown>[]
  toJSON(): Record<string, unknown>[]
  /** Deletes its entities. @returns the entities that could not be deleted */
  drop(): SelectionOf<N>
}

export interface BaseDataStore {
  /**
   * Runs `work` so that all of its saves and drops become durable together, or none. `work` sees its own writes. When it throws or
   * returns false, nothing is kept. Other writes wait meanwhile, so the time of `work` is bounded, and it cannot be asynchronous.
   * @returns what `work` returns @throws what `work` throws
   */
  transaction<T>(work: () => T extends PromiseLike<unknown> ? never : T): T

  /**
   * Enqueues a call of a function with `@job`, which runs later, at least once, even if the server restarts. In a transaction, and in the
   * events `validateSave`, `saving`, `validateDrop` and `dropping`, it is enqueued with what is written, or not at all.
   *
   *   ds.enqueue(ds.Ticket.embed, [ticket], { priority: 5 })
   *
   * In `saving`, a numbered key of a new entity is not known yet: pass the entity itself, which receives the key, and do not use it in
   * `key`.
   * @param job a function of `ds`, of a dataclass, or of the prototype of a singleton
   * @param args values as in JSON
   * @returns the id of the job; of the existing one if there is one with the same key, except in the events of saves and drops
   */
  enqueue<Args extends unknown[]>(
    job: (...args: Args) => unknown,
    args?: Readonly<NoInfer<Args>>,
    options?: EnqueueOptions,
  ): string
}

export interface EnqueueOptions {
  /** Earliest time at which the job runs. */
  readonly at?: Date | string | number
  /** A function has at most one job with a given key, until that job is removed some time after its end. A second one is not enqueued. */
  readonly key?: string | number
  /** From -99 to 99; higher ones run first. 0 by default. */
  readonly priority?: number
}

/** The job that the code runs for. */
export interface RunningJob {
  readonly id: string
  /** 1 for the first attempt. */
  readonly attempt: number
  readonly key?: string
  /** Reports the progress of the job to those who watch it: any small value as in JSON. */
  progress(value: unknown): void
}

/** The request that the code runs for; empty where there is none, as in `tesser load`. */
export interface CallRequest {
  /** `traceparent` (W3C) of the client, to pass on with outgoing requests; empty without a valid one. */
  readonly traceparent: string
  /** Fires when the client has gone, or at the deadline of the call: `fetch(url, { signal: request.signal })`. */
  readonly signal: AbortSignal
  /** The job that runs the code; undefined if no job does. */
  readonly job: RunningJob | undefined
}

/**
 * Session of the request that the code runs for. Empty where there is none, as in `tesser load`: no user, no privileges, and a
 * storage that is discarded. Source: protocol notes, 8.5.
 */
export interface CallSession {
  /** Public id of the session; never the content of its cookie. */
  readonly id: string
  /** Empty for a guest. */
  readonly userName: string
  /**
   * Kept with the session as at most 64 KiB of JSON, for a guest 16 KiB (`session.guestStorageBytes`). Starts empty when a guest
   * logs in or the user changes. When two concurrent calls change the same entry, the later one wins.
   */
  readonly storage: Record<string, unknown>
  /** Time at which the session ends if it is not used until then, as ISO text. */
  readonly expirationDate: string
  /** Minutes without a request after which the session ends. */
  idleTimeout: number
  /** True without a login and without granted privileges; also where there is no request. */
  isGuest(): boolean
  /**
   * True if the server itself runs the code: `tesser load`, recomputed values, the data of a test server. Restrict events do not
   * apply there, and every right is granted.
   */
  isServer(): boolean
  /**
   * Replaces the rights of the session from the next request on. This turns a guest into a user, with a new cookie.
   * @param rights names of privileges, separated by commas or in an array, or an object with privileges, roles and a user name
   */
  setPrivileges(
    rights:
      | string
      | readonly string[]
      | { privileges?: string | readonly string[]; roles?: string | readonly string[]; userName?: string },
  ): boolean
  clearPrivileges(): boolean
  /** Privileges of the session with those that they include; without promoted ones. */
  getPrivileges(): string[]
  hasPrivilege(name: string): boolean
  /** Adds a privilege for the rest of this call. @returns an id for {@link demote} */
  promote(name: string): number
  demote(id: number): void
  /** A secret with which another client can take over this session, once. @param seconds for which it is valid */
  createOTP(seconds?: number): string
  /** Replaces this session with the one that created the token. @returns false: there is no such token */
  restore(token: string): boolean
  readonly quotas: {
    /** Seconds; undefined: the server's default. */
    defaultEntitySetTimeout: number | undefined
    maxEntitySetTimeout: number | undefined
    /** Maximum number of entity sets; undefined: the server's limit. */
    nbEntitySets: number | undefined
    readonly currentValues: { readonly nbEntitySets: number }
  }
}
