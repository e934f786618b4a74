import type {
  RelatedEntitiesAttribute,
  RelatedEntityAttribute,
  StorageAttribute,
  ValueAttribute,
} from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import type { ScoreTest, Similarity } from '../../vector/similarity.ts'
import type { JsonTest, ValueTest } from '../bind/predicate.ts'
import type { Bounds } from '../../storage/snapshot.ts'

/**
 * How the rows for which a predicate is true are found. Every operator takes candidates and gives those that pass, so
 * that in an Intersect each one looks at what the former ones left over.
 */
export type Operator =
  | { readonly kind: 'All' }
  | { readonly kind: 'None' }
  /** Asks the index, unless so few candidates are left that looking at each of them costs less. */
  | {
      readonly kind: 'IndexScan'
      readonly attribute: StorageAttribute
      readonly lookup: IndexLookup
      readonly filter: ColumnFilter | NullFilter
      /** Estimated hits. */
      readonly rows: number
    }
  | ColumnFilter
  | NullFilter
  | VectorFilter
  | { readonly kind: 'JsonFilter'; readonly attribute: ValueAttribute; readonly test: JsonTest }
  /** Rows whose related entity is among those that `input` finds. */
  | {
      readonly kind: 'SemiJoin'
      readonly relation: RelatedEntityAttribute
      readonly input: Operator
      /** Whether rows without a related entity pass too, because the condition is about null. */
      readonly matchesNull: boolean
    }
  /** Rows that at least one of the entities that `input` finds points to. */
  | { readonly kind: 'ReverseSemiJoin'; readonly relation: RelatedEntitiesAttribute; readonly input: Operator }
  | { readonly kind: 'Intersect' | 'Union'; readonly inputs: readonly Operator[] }
  | { readonly kind: 'Difference'; readonly left: Operator; readonly right: Operator }
  | { readonly kind: 'Complement'; readonly input: Operator }

export interface ColumnFilter {
  readonly kind: 'ColumnFilter'
  readonly attribute: ValueAttribute
  readonly test: ValueTest
  readonly negated: boolean
}

export interface NullFilter {
  readonly kind: 'NullFilter'
  readonly attribute: ValueAttribute | RelatedEntityAttribute
  readonly negated: boolean
}

/** Rows with a vector whose score passes; without a test all that have a score. */
export interface VectorFilter {
  readonly kind: 'VectorFilter'
  readonly attribute: StorageAttribute
  readonly similarity: Similarity
  readonly test: ScoreTest | undefined
  /**
   * How those that pass, or the first of the order, are found. When they are few, sketches tell most of them before a scan,
   * and an index finds most of them without any.
   */
  readonly access: 'scan' | 'sketch' | 'index'
  /** Of an index: how many nearest it is asked for at first. */
  readonly wanted?: number
}

export type IndexLookup =
  | { readonly kind: 'values'; readonly values: readonly Value[] }
  | { readonly kind: 'range'; readonly bounds: Bounds }
  | { readonly kind: 'prefix'; readonly prefix: string }
