import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { isHigherNearer } from '../../vector/math/similarity.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import type { SortKey } from './bind-order-by.ts'
import type { Predicate } from './predicate.ts'

export type SimilarityPredicate = Predicate & { kind: 'similarity' }

/**
 * Adds to each sort key on a vector the vector to compare with: that of the first condition on the attribute in the filter.
 * @param filter as written, not optimized
 * @throws 404 with [1594, 1810] when there is no such condition
 * Source: protocol notes, 1.6 and 2.12.
 */
export function bindScores(
  keys: readonly SortKey[],
  filter: Predicate | undefined,
  dataClass: DataClass,
): readonly SortKey[] {
  return keys.map(key => {
    if (key.attribute.type !== 'vector') return key
    const match = filter && findSimilarity(filter, key.relations, key.attribute as StorageAttribute)
    if (match) return { ...key, similarity: match.similarity }
    const problem = 'a vector, and the filter has no condition that says which one it is to be similar to'
    throw QueryErrors.CANNOT_ORDER(key.path, dataClass.name).causedBy(QueryErrors.NOT_SORTABLE(key.path, problem))
  })
}

/** Sort keys that put the nearest first, for a filter that has a condition without a threshold. */
export function nearestFirst(filter: Predicate): SortKey[] {
  const condition = conditionsOf(filter).find(each => each.kind === 'similarity' && !each.test)
  if (condition?.kind !== 'similarity') return []
  const { attribute, similarity } = condition
  const descending = isHigherNearer(similarity.metric)
  return [{ path: attribute.name, relations: [], attribute, properties: [], descending, similarity }]
}

const conditionsOf = (filter: Predicate): readonly Predicate[] =>
  filter.kind === 'and' ? filter.inputs.flatMap(conditionsOf) : [filter]

/**
 * The first condition on a vector in the order of the text.
 * @param relations N→1 relations that lead to the vector
 * @param attribute undefined for any
 */
export function findSimilarity(
  predicate: Predicate,
  relations: readonly RelatedEntityAttribute[],
  attribute?: StorageAttribute,
): SimilarityPredicate | undefined {
  const findIn = (inputs: readonly Predicate[]): SimilarityPredicate | undefined => {
    for (const input of inputs) {
      const match = findSimilarity(input, relations, attribute)
      if (match) return match
    }
    return undefined
  }
  switch (predicate.kind) {
    case 'similarity':
      return relations.length === 0 && (attribute ?? predicate.attribute) === predicate.attribute
        ? predicate
        : undefined
    case 'via':
      return predicate.relation === relations[0]
        ? findSimilarity(predicate.input, relations.slice(1), attribute)
        : undefined
    case 'and':
    case 'or':
      return findIn(predicate.inputs)
    case 'except':
      return findIn([predicate.left, predicate.right])
    case 'not':
    case 'complement':
      return findSimilarity(predicate.input, relations, attribute)
    default:
      return undefined
  }
}
