import type { RelatedEntityAttribute, ValueAttribute } from '../../../catalog/attribute.ts'
import type { DataClass } from '../../../catalog/dataclass.ts'
import type { Value } from '../../../catalog/value.ts'
import type { SortKey } from '../../bind/bind-order-by.ts'
import type { Predicate, Scalar } from '../../bind/predicate.ts'

/**
 * First row id of remote dataclasses that is valid only in one task. Lower row ids are the keys themselves: a key that is such a number has
 * the same row id in every task and every server.
 */
export const FIRST_TASK_ROW = 0xf000_0000

/** Query of the database that has the entities of a dataclass. */
export interface RemoteQuery {
  readonly dataClass: DataClass
  /** Selects the entities with these keys; undefined for all. */
  readonly among: readonly Value[] | undefined
  /** True if entities that are equal in the order keep the order of {@link among} instead of the order of their keys. */
  readonly isListed?: boolean
  /** Selects the entities whose N→1 relation refers to this key; undefined for all. */
  readonly referring: { readonly relation: RelatedEntityAttribute; readonly key: Value } | undefined
  /** Optimized predicate. */
  readonly predicate: Predicate | undefined
  /** Sort keys. Entities that they leave equal are in the order of their primary keys. */
  readonly orderBy: readonly SortKey[]
  /** Page to find; undefined for the whole selection. */
  readonly page: { readonly skip: number; readonly count: number } | undefined
  /** True if the number of entities of the whole selection is not needed. */
  readonly isUncounted?: boolean
}

/** Condition for entities of a remote dataclass: an optimized predicate, or the keys of all entities that fulfil it. */
export type RemoteCondition = Predicate | readonly Value[]

export interface RemotePage {
  /** Row ids in the order of the query. */
  readonly rowIds: Uint32Array
  /** Number of entities of the whole selection. */
  readonly total: number
}

/** Attribute of the entities of a query, possibly over N→1 relations, or a property inside it. */
export interface RemoteValues {
  readonly relations: readonly RelatedEntityAttribute[]
  readonly attribute: ValueAttribute
  readonly properties: readonly string[]
}

/** Distinct values in the form for comparisons, with texts folded. Each has its first entity and its number of entities. */
export interface RemoteDistinct {
  readonly values: readonly (Scalar | boolean)[]
  readonly rowIds: readonly number[]
  readonly counts: readonly number[]
}

export interface RemoteTotals {
  /** Number of values. */
  readonly count: number
  /** Decimal text of the sum of the values; `0` if there are none. */
  readonly sum: string
  /** Values as in rows: decimals are in units of their last place. */
  readonly min: number | bigint | undefined
  readonly max: number | bigint | undefined
}

/** A statement of {@link RemoteData.find} that a task has run, for `$queryplan` and `$querypath`. */
export interface RemoteStep {
  /** SQL without the list of its columns. */
  readonly statement: string
  /** Milliseconds that the statement and the round trip to the database took. */
  readonly time: number
  readonly rows: number
}

/**
 * Finds entities outside the store, for one task. Where a thread must not wait, any method may suspend the task until the answer has
 * arrived.
 */
export interface RemoteData {
  /** True if the entities of a dataclass can be found by this object. */
  has(dataClass: DataClass): boolean
  readonly steps: readonly RemoteStep[]
  find(query: RemoteQuery): RemotePage
  distinct(query: RemoteQuery, of: RemoteValues): RemoteDistinct
  /** Totals of numbers. */
  totals(query: RemoteQuery, of: RemoteValues): RemoteTotals
  /** Keys of the entities for which a condition is true, in any order. */
  keysWhere(dataClass: DataClass, predicate: Predicate): readonly Value[]
  /** Distinct foreign keys of the entities for which a condition is true. */
  valuesWhere(relation: RelatedEntityAttribute, predicate: Predicate): readonly Value[]
  /** Key of a row of a remote dataclass. */
  keyOf(dataClass: DataClass, rowId: number): Value
  /** Row id for a key. The entity may not exist. */
  rowOf(dataClass: DataClass, key: Value): number
}
