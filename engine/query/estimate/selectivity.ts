import type { RelatedEntityAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import type { ScoreTest } from '../../vector/math/similarity.ts'
import type { JsonTest, ValueTest } from '../bind/predicate.ts'

// Estimated shares of rows that pass, for conditions that no index can count: they decide the order of conditions and where a
// query runs.

const SHARE: Record<ValueTest['kind'], number> = {
  any: 0.9,
  equal: 0.02,
  in: 0.05,
  range: 0.3,
  pattern: 0.05,
  keyword: 0.05,
  anyOf: 0.1,
}

export const shareOfTest = ({ kind }: ValueTest, negated: boolean): number => (negated ? 1 - SHARE[kind] : SHARE[kind])

export function shareOfNull(attribute: ValueAttribute | RelatedEntityAttribute, negated: boolean): number {
  // Values of a type other than the declared one are rare.
  const share = attribute.kind === 'storage' && attribute.source?.holds === 'others' ? 1 - OTHER_TYPES : 0.1
  return negated ? 1 - share : share
}

const OTHER_TYPES = 0.0001

export const shareOfScore = (test: ScoreTest | undefined): number => (test ? 0.1 : 0.9)

export function shareOfJson(test: JsonTest): number {
  if (test.kind === 'not') return 1 - shareOfJson(test.input)
  return test.kind === 'value' && !test.negated ? SHARE[test.test.kind] : 0.1
}
