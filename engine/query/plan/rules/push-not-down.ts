import type { ScoreTest } from '../../../vector/math/similarity.ts'
import type { JsonTest, Predicate } from '../../bind/predicate.ts'
import type { Rule } from './rule.ts'

/**
 * Moves NOT to the leaves, where unknown stays unknown, or turns it into the complement of a predicate that is never unknown.
 *
 *   not (a and b)        →   not a or not b
 *   not (salary < 5)     →   salary not null and not < 5
 *   not some staff (…)   →   complement of some staff (…)
 *
 * After this rule, only rows for which a predicate is true count: unknown and false are equivalent.
 */
export const pushNotDown: Rule<Predicate> = { name: 'push-not-down', apply: whenTrue }

function whenTrue(predicate: Predicate): Predicate {
  switch (predicate.kind) {
    case 'and':
    case 'or':
      return { kind: predicate.kind, inputs: predicate.inputs.map(whenTrue) }
    case 'via':
    case 'some':
    case 'complement':
      return { ...predicate, input: whenTrue(predicate.input) }
    case 'except':
      return { kind: 'except', left: whenTrue(predicate.left), right: whenTrue(predicate.right) }
    case 'not':
      return whenFalse(predicate.input)
    case 'always':
    case 'never':
    case 'test':
    case 'identity':
    case 'isNull':
    case 'similarity':
    case 'json':
      return predicate
  }
}

/** Predicate that is true for the rows for which `predicate` is false, not for those for which it is unknown. */
function whenFalse(predicate: Predicate): Predicate {
  switch (predicate.kind) {
    case 'always':
      return { kind: 'never' }
    case 'never':
      return { kind: 'always' }
    case 'test':
    case 'identity':
    case 'isNull':
      return { ...predicate, negated: !predicate.negated }
    case 'similarity':
      return predicate.test
        ? { ...predicate, test: { ...predicate.test, comparator: OPPOSITE[predicate.test.comparator] } }
        : { kind: 'never' }
    case 'json':
      return { ...predicate, test: negateJson(predicate.test) }
    case 'and':
      return { kind: 'or', inputs: predicate.inputs.map(whenFalse) }
    case 'or':
      return { kind: 'and', inputs: predicate.inputs.map(whenFalse) }
    case 'via':
      return { ...predicate, input: whenFalse(predicate.input) }
    case 'not':
      return whenTrue(predicate.input)
    // The right side is a set that contains a row or not; the left side can be unknown, as in an AND.
    case 'except':
      return { kind: 'or', inputs: [whenFalse(predicate.left), whenTrue(predicate.right)] }
    // Never unknown, so not true means false.
    case 'some':
      return { kind: 'complement', input: whenTrue(predicate) }
    case 'complement':
      return whenTrue(predicate.input)
  }
}

const OPPOSITE = {
  less: 'greaterOrEqual',
  lessOrEqual: 'greater',
  greater: 'lessOrEqual',
  greaterOrEqual: 'less',
} as const satisfies Record<ScoreTest['comparator'], ScoreTest['comparator']>

/** Negates a test. A property that is null fails a comparison and its negation; tests of elements are complemented. */
function negateJson(test: JsonTest): JsonTest {
  switch (test.kind) {
    case 'value':
    case 'isNull':
      return { ...test, negated: !test.negated }
    case 'property':
      return { ...test, input: negateJson(test.input) }
    case 'and':
      return { kind: 'or', inputs: test.inputs.map(negateJson) }
    case 'or':
      return { kind: 'and', inputs: test.inputs.map(negateJson) }
    case 'not':
      return test.input
    case 'some':
    case 'every':
      return { kind: 'not', input: test }
  }
}
