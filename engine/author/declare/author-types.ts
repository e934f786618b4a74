/**
 * Types of plugin classes. Without the file that `tesser types` writes, every dataclass and
 * attribute name will do; with it, only those of the model.
 */

/** The dataclasses of the model; `tesser types` adds them. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface Model {}

/**
 * Which classes the entities, selections and dataclasses are instances of, by class name, for those who declare it:
 *
 *   declare module 'tesser/classes' { interface Classes { EmployeeEntity: EmployeeEntity } }
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface Classes {}

export type DataClassName = keyof Model extends never ? string : keyof Model & string

// biome-ignore lint/suspicious/noExplicitAny: without a model nothing is known of the attributes
type Loose = { [name: string]: any }
type Part<N, P extends string> = N extends keyof Model ? (Model[N] extends Record<P, infer T> ? T : never) : Loose
/** Storage attributes, relations and aliases. */
export type Attributes<N extends string> = Part<N, 'attributes'>
export type Calculated<N extends string> = Part<N, 'calculated'>
export type Key<N extends string> = N extends keyof Model ? Part<N, 'key'> : string | number
/** An attribute, a path through relations or into objects. */
export type AttributePath<N extends string> = N extends keyof Model ? NameOf<N> | `${NameOf<N>}.${string}` : string
/** Values of a new entity, by the names that it has. What they may be is found when they are assigned. */
export type NewValues<N extends string> = N extends keyof Model
  ? { readonly [name in keyof EntityOf<N>]?: unknown }
  : object
/** The dataclass that a relation leads to. */
export type Related<N extends string, R> =
  Part<N, 'relations'> extends Record<R & string, infer T extends string> ? T : string
export type RelationName<N extends string> = keyof Part<N, 'relations'> & string
type NameOf<N extends string> = (keyof Attributes<N> | keyof Calculated<N>) & string
type ClassNamed<Name extends string, Otherwise> = Name extends keyof Classes ? Classes[Name] : Otherwise

/** Sum or average of an attribute: a text when its values are texts, as those of a decimal. */
type Total<N extends string, A, Otherwise> = A extends keyof (Attributes<N> & Calculated<N>)
  ? TotalOf<NonNullable<(Attributes<N> & Calculated<N>)[A]>, Otherwise>
  : Otherwise
/** The second one where nothing is known of the values. */
type TotalOf<Value, Otherwise> = unknown extends Value ? Otherwise : Value extends string ? string : Otherwise

export type EntityOf<N extends string> = ClassNamed<`${N}Entity`, BaseEntity<N> & Attributes<N> & Calculated<N>>
export type SelectionOf<N extends string> = ClassNamed<`${N}Selection`, BaseSelection<N>>
export type DataClassOf<N extends string> = ClassNamed<N, BaseDataClass<N>>
export type DataStoreOf = { readonly [N in DataClassName]: DataClassOf<N> } & BaseDataStore

/** Bytes of an image or a blob. */
export interface Binary {
  readonly mediaType: string
  readonly bytes: Uint8Array
}

/** Outcome of a `save` or a `drop`. Source: protocol notes, 5.10. */
export interface Status {
  readonly success: boolean
  /** Only when it failed. */
  readonly status?: number
  readonly statusText?: string
  /** With status 3: who has locked it. */
  readonly lockKind?: number
  readonly lockKindText?: string
  readonly lockInfo?: object
  /** Root cause first. */
  readonly errors?: readonly { message: string; componentSignature: string; errCode: number; attribute?: string }[]
}

/** Values of a query by name, beside or instead of those by number: `{ parameters: { name: 'Ada' } }`. */
export interface QuerySettings {
  readonly parameters?: object
  /** Attribute paths for placeholders in the place of an attribute. */
  readonly attributes?: Readonly<Record<string, string | readonly string[]>>
}

/** A value of a query, or as the last one {@link QuerySettings}. */
export type QueryValue = string | number | bigint | boolean | Date | readonly unknown[] | object

export interface DataClassInfo<N extends string = string> {
  /** Any text without the file of `tesser types`, where all dataclasses are alike to the compiler. */
  readonly name: keyof Model extends never ? string : N
  readonly primaryKey: string
  readonly tableNumber: number
  readonly exposed: boolean
}

/** A dataclass: `ds.Employee`. */
export interface BaseDataClass<N extends string> {
  /**
   * Entities that a query finds: the text of a `$filter`, perhaps with `order by`, with values for `:1`, `:2`.
   * @throws a `ProtocolError` as `$filter` does
   */
  query(text: string, ...values: QueryValue[]): SelectionOf<N>
  /** The entity with this primary key, or null. */
  get(key: Key<N>): EntityOf<N> | null
  all(): SelectionOf<N>
  /** An entity that exists in memory only, until it is saved. */
  new: (values?: NewValues<N>) => EntityOf<N>
  /** A selection without entities, to `add` to. It keeps the order and what is added twice. */
  newSelection(): SelectionOf<N>
  /**
   * Creates or changes entities: an object with `__KEY` and `__STAMP`, or with a primary key that exists, changes an
   * entity, every other one creates one. Each is saved by itself; those that cannot be are not in the selection.
   */
  fromCollection(objects: readonly object[]): SelectionOf<N>
  getCount(): number
  getInfo(): DataClassInfo<N>
}

/** Members of every entity beside its attributes. */
export interface BaseEntity<N extends string> {
  getDataClass(): DataClassOf<N>
  /** The primary key; null of a new entity that has none yet. */
  getKey(): Key<N> | null
  /** 0 of a new entity. */
  getStamp(): number
  isNew(): boolean
  /** Whether there is something to save. */
  touched(): boolean
  touchedAttributes(): string[]
  /** Saves the assigned values, durably, unless the entity has been saved elsewhere since it was loaded. */
  save(): Status
  /** Deletes it, unless it has been saved elsewhere since it was loaded. `force`: in any case. */
  drop(options?: { force?: boolean }): Status
  /**
   * Keeps other sessions from locking, changing and deleting it, until the session unlocks it or ends. Fails with status 3
   * when another session has locked it.
   */
  lock(): Status
  /** `wasNotLocked`: the session had not locked it. */
  unlock(): Status & { readonly wasNotLocked?: boolean }
  /** Forgets what has been assigned and loads it again. */
  reload(): Status
  /** A second object for the same entity, with what has been assigned: each is saved by itself. */
  clone(): EntityOf<N>
  /** Attributes in which both differ. */
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

/** Entities of one dataclass, found when they are first needed. Nothing changes it but `add`. */
export interface BaseSelection<N extends string> extends Iterable<EntityOf<N>> {
  readonly length: number
  getDataClass(): DataClassOf<N>
  /** Whether it has an order of its own (and may hold an entity twice). */
  isOrdered(): boolean
  query(text: string, ...values: QueryValue[]): SelectionOf<N>
  orderBy(order: string): SelectionOf<N>
  first(): EntityOf<N> | null
  last(): EntityOf<N> | null
  /** Negative: from the end. Null when there is none, or when it has been deleted. */
  at(index: number): EntityOf<N> | null
  /** As of an array. */
  slice(start?: number, end?: number): SelectionOf<N>
  /** A text for a decimal, as its values are. */
  sum<A extends AttributePath<N>>(attribute: A): Total<N, A, number | bigint>
  average<A extends AttributePath<N>>(attribute: A): Total<N, A, number> | null
  min(attribute: AttributePath<N>): unknown
  max(attribute: AttributePath<N>): unknown
  /** Entities that have a value in the attribute. */
  count(attribute: AttributePath<N>): number
  /** Different values, ascending, without null. */
  distinct(attribute: AttributePath<N>): unknown[]
  /** Entities of both. */
  and(other: SelectionOf<N> | EntityOf<N>): SelectionOf<N>
  or(other: SelectionOf<N> | EntityOf<N>): SelectionOf<N>
  minus(other: SelectionOf<N> | EntityOf<N>): SelectionOf<N>
  contains(entity: EntityOf<N>): boolean
  /** Adds to this selection itself. */
  add(other: SelectionOf<N> | EntityOf<N>): SelectionOf<N>
  /** A selection of its own with the same entities. */
  copy(): SelectionOf<N>
  /** Values of an attribute, in the order of the selection, null included. */
  extract(attribute: AttributePath<N>): unknown[]
  /** Objects with these attributes, in the order of the selection. */
  extract(...attributes: AttributePath<N>[]): Record<string, unknown>[]
  /** Entities that the relation leads to from any of these. */
  related<R extends RelationName<N>>(relation: R): SelectionOf<Related<N, R>>
  toCollection(
    filter?: string | readonly string[],
    options?: { begin?: number; howMany?: number; withKey?: boolean; withStamp?: boolean },
  ): Record<string, unknown>[]
  toJSON(): Record<string, unknown>[]
  /** Deletes its entities. @returns those that could not be deleted */
  drop(): SelectionOf<N>
}

export interface BaseDataStore {
  /**
   * Runs `work` so that all of its saves and drops become durable together, or none. It reads what it has written. When
   * it throws or returns false, nothing is kept. Other writes wait meanwhile, so its time is bounded.
   * @returns what `work` returns @throws what `work` throws
   */
  transaction<T>(work: () => T): T
}

/** The request that the code runs for. Where there is none, as in `tesser load`, it is empty. */
export interface CallRequest {
  /** `traceparent` (W3C) of the client, for what code asks of others; empty without a valid one. */
  readonly traceparent: string
}

/**
 * Session of the request that the code runs for. Where there is none, as in `tesser load`, it is empty: no user, no
 * privileges, a storage that is forgotten. Source: protocol notes, 8.5.
 */
export interface CallSession {
  /** Public id of the session; never the content of its cookie. */
  readonly id: string
  /** Empty for a guest. */
  readonly userName: string
  /**
   * Kept with the session, as JSON, at most 64 KiB of it, for a guest 16 KiB (`session.guestStorageBytes`). Begins empty when
   * a guest logs in or the user changes. Of two calls at the same time that change the same entry the
   * later wins.
   */
  readonly storage: Record<string, unknown>
  /** End of the session if it is not used until then, as ISO text. */
  readonly expirationDate: string
  /** Minutes without a request after which it ends. */
  idleTimeout: number
  /** True without a login and granted privileges; also where there is no request. */
  isGuest(): boolean
  /**
   * Whether the server itself is at work: `tesser load`, values that are computed again, the data of a test server. No restrict
   * event counts there, and every right is given.
   */
  isServer(): boolean
  /**
   * Replaces the rights of the session, from the next request on. A guest becomes a user by it, under a new cookie.
   * @param rights names of privileges with commas between them, an array of them, or privileges, roles and a user name
   */
  setPrivileges(
    rights:
      | string
      | readonly string[]
      | { privileges?: string | readonly string[]; roles?: string | readonly string[]; userName?: string },
  ): boolean
  clearPrivileges(): boolean
  /** Also those that others include; without promoted ones. */
  getPrivileges(): string[]
  hasPrivilege(name: string): boolean
  /** Adds a privilege for the rest of this call. @returns what {@link demote} takes it back by */
  promote(name: string): number
  demote(id: number): void
  /** A secret by which another client can take this session over, once. @param seconds for which it is valid */
  createOTP(seconds?: number): string
  /** Puts the session that a token was made in, in the place of this one. @returns false: there is no such token */
  restore(token: string): boolean
  readonly quotas: {
    /** Seconds; undefined: that of the server. */
    defaultEntitySetTimeout: number | undefined
    maxEntitySetTimeout: number | undefined
    /** Entity sets at a time; undefined: as for everybody. */
    nbEntitySets: number | undefined
    readonly currentValues: { readonly nbEntitySets: number }
  }
}
