import type {
  JsonType,
  RelatedEntitiesAttribute,
  RelatedEntityAttribute,
  StorageAttribute,
  ValueAttribute,
} from '../../catalog/attribute.ts'
import type { ScoreTest, Similarity } from '../../vector/math/similarity.ts'

/**
 * Condition of a bound filter on a row. Names are resolved, values have the type of their attribute, texts are folded.
 *
 * A predicate is true, false or unknown for a row. A comparison with null is unknown and stays so under `not`. Only rows for
 * which the whole predicate is true are found. `some`, `complement` and tests inside collections are never unknown.
 */
export type Predicate =
  | { readonly kind: 'always' }
  | { readonly kind: 'never' }
  /** A value that passes the test; if negated, a value that is not null and fails it. */
  | { readonly kind: 'test'; readonly attribute: ValueAttribute; readonly test: ValueTest; readonly negated: boolean }
  /** A text of a remote dataclass that equals one of these without folding; if negated, a text that equals none of them. */
  | {
      readonly kind: 'identity'
      readonly attribute: StorageAttribute
      readonly texts: readonly string[]
      readonly negated: boolean
    }
  | {
      readonly kind: 'isNull'
      readonly attribute: ValueAttribute | RelatedEntityAttribute
      readonly negated: boolean
    }
  /** A vector whose score passes; without a test, any vector that has a score. Unknown without a vector or a score. */
  | {
      readonly kind: 'similarity'
      readonly attribute: StorageAttribute
      readonly similarity: Similarity
      readonly test: ScoreTest | undefined
    }
  | { readonly kind: 'json'; readonly attribute: ValueAttribute; readonly test: JsonTest }
  /** N→1: the result of `input` for the related entity. Without a related entity, everything at the end of the path is null. */
  | { readonly kind: 'via'; readonly relation: RelatedEntityAttribute; readonly input: Predicate }
  /** 1→N: at least one related entity for which `input` is true. */
  | { readonly kind: 'some'; readonly relation: RelatedEntitiesAttribute; readonly input: Predicate }
  | { readonly kind: 'and' | 'or'; readonly inputs: readonly Predicate[] }
  /** Rows of `left` that are not rows of `right`. */
  | { readonly kind: 'except'; readonly left: Predicate; readonly right: Predicate }
  /** Three-valued: true becomes false, false true, unknown stays. The rule push-not-down removes it. */
  | { readonly kind: 'not'; readonly input: Predicate }
  /** Two-valued: all rows for which `input` is not true. */
  | { readonly kind: 'complement'; readonly input: Predicate }

/**
 * A value in the form for comparisons: dates and durations are milliseconds, a bool is 0 or 1, text is folded, a long64 is a
 * number when that is exact, else a bigint.
 */
export type Scalar = number | bigint | string

/** Test of one value that is not null. */
export type ValueTest =
  | { readonly kind: 'any' }
  | { readonly kind: 'equal'; readonly value: Scalar }
  | { readonly kind: 'in'; readonly values: ReadonlySet<Scalar> }
  | { readonly kind: 'range'; readonly lower: Bound | undefined; readonly upper: Bound | undefined }
  /**
   * A text with the parts in this order and anything between them: `['a', 'b', '']` is `a@b@`. There are at least two parts; only
   * the first and the last may be empty.
   */
  | { readonly kind: 'pattern'; readonly parts: readonly string[] }
  /** A text that contains all of these words, each as parts like in a pattern. */
  | { readonly kind: 'keyword'; readonly words: readonly (readonly string[])[] }
  | { readonly kind: 'anyOf'; readonly tests: readonly ValueTest[] }

export interface Bound {
  readonly value: Scalar
  readonly inclusive: boolean
}

/** Test of a JSON value. Always true or false; a missing property is null. */
export type JsonTest =
  /** A value of this type that passes the test; if negated, any other value except null, of any type. */
  | { readonly kind: 'value'; readonly type: JsonType; readonly test: ValueTest; readonly negated: boolean }
  | { readonly kind: 'isNull'; readonly negated: boolean }
  /** The elements of an array are properties too (`0`), and `length` is their number. */
  | { readonly kind: 'property'; readonly name: string; readonly input: JsonTest }
  /** At least one element of an array. Other values have no elements. */
  | { readonly kind: 'some'; readonly input: JsonTest }
  /** All elements of an array that has at least one. */
  | { readonly kind: 'every'; readonly input: JsonTest }
  | { readonly kind: 'and' | 'or'; readonly inputs: readonly JsonTest[] }
  | { readonly kind: 'not'; readonly input: JsonTest }

export const ALWAYS: Predicate = { kind: 'always' }
export const NEVER: Predicate = { kind: 'never' }

/** A single input unchanged, several under an `and` (`or`). */
export function combine(kind: 'and' | 'or', inputs: readonly Predicate[]): Predicate {
  return inputs.length === 1 ? inputs[0]! : { kind, inputs }
}

export function combineTests(kind: 'and' | 'or', inputs: readonly JsonTest[]): JsonTest {
  return inputs.length === 1 ? inputs[0]! : { kind, inputs }
}
