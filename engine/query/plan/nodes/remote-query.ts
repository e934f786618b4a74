import type { RelatedEntityAttribute, ValueAttribute } from '../../../catalog/attribute.ts'
import type { DataClass } from '../../../catalog/dataclass.ts'
import type { Value } from '../../../catalog/value.ts'
import type { SortKey } from '../../bind/bind-order-by.ts'
import type { Predicate, Scalar } from '../../bind/predicate.ts'

/**
 * Row ids of remote dataclasses from here on are those of one task. Below, a row id is the key itself: a key that is such a number has
 * the same row id in every task and every server.
 */
export const FIRST_TASK_ROW = 0xf000_0000

/** Question to the database that has the entities of a dataclass. */
export interface RemoteQuery {
  readonly dataClass: DataClass
  /** The entities with these keys; undefined for all. */
  readonly among: readonly Value[] | undefined
  /** True if equal entities of an order are in the order of {@link among}, in place of that of the keys. */
  readonly isListed?: boolean
  /** The entities whose N→1 relation leads to this key; undefined for all. */
  readonly referring: { readonly relation: RelatedEntityAttribute; readonly key: Value } | undefined
  /** Optimized. */
  readonly predicate: Predicate | undefined
  /** The order of the keys decides where this leaves off. */
  readonly orderBy: readonly SortKey[]
  /** Undefined for the whole selection. */
  readonly page: { readonly skip: number; readonly count: number } | undefined
  /** True if the number of entities of the whole selection is not needed. */
  readonly isUncounted?: boolean
}

/** Condition for entities of a remote dataclass: a predicate, optimized, or the keys of all that fulfil it. */
export type RemoteCondition = Predicate | readonly Value[]

export interface RemotePage {
  /** In the order of the query. */
  readonly rowIds: Uint32Array
  /** Number of entities of the whole selection. */
  readonly total: number
}

/** Attribute of the entities of a query, perhaps over N→1 relations, or a property inside of it. */
export interface RemoteValues {
  readonly relations: readonly RelatedEntityAttribute[]
  readonly attribute: ValueAttribute
  readonly properties: readonly string[]
}

/** Different values in the form for comparisons, texts folded: of each the first entity and the number of entities. */
export interface RemoteDistinct {
  readonly values: readonly (Scalar | boolean)[]
  readonly rowIds: readonly number[]
  readonly counts: readonly number[]
}

export interface RemoteTotals {
  /** Number of values. */
  readonly count: number
  /** Decimal text of their sum; `0` if there are none. */
  readonly sum: string
  /** Values as in rows: decimals are in units of their last place. */
  readonly min: number | bigint | undefined
  readonly max: number | bigint | undefined
}

/** A statement of {@link RemoteData.find} that a task has run, for `$queryplan` and `$querypath`. */
export interface RemoteStep {
  /** SQL without the list of its columns. */
  readonly statement: string
  /** Milliseconds, of the statement and of the way to the database. */
  readonly time: number
  readonly rows: number
}

/**
 * Answers questions about entities outside the store, for one task. Where a thread must not wait, any method may suspend the
 * task until the answer is there.
 */
export interface RemoteData {
  /** True if it answers for the entities of a dataclass. */
  has(dataClass: DataClass): boolean
  readonly steps: readonly RemoteStep[]
  find(query: RemoteQuery): RemotePage
  distinct(query: RemoteQuery, of: RemoteValues): RemoteDistinct
  /** Totals of numbers. */
  totals(query: RemoteQuery, of: RemoteValues): RemoteTotals
  /** Keys of the entities for which a condition is true, in any order. */
  keysWhere(dataClass: DataClass, predicate: Predicate): readonly Value[]
  /** Different foreign keys of the entities for which a condition is true. */
  valuesWhere(relation: RelatedEntityAttribute, predicate: Predicate): readonly Value[]
  /** Key of a row of a remote dataclass. */
  keyOf(dataClass: DataClass, rowId: number): Value
  /** Row of a key, which may not exist. */
  rowOf(dataClass: DataClass, key: Value): number
}
