import type { ScoreTest } from '../../../vector/math/similarity.ts'
import type { JsonTest, Predicate } from '../../bind/predicate.ts'
import type { Rule } from '../rule.ts'

/**
 * NOT moves to the leaves, where unknown stays unknown, or becomes the complement of what is never unknown.
 *
 *   not (a and b)        →   not a or not b
 *   not (salary < 5)     →   salary not null and not < 5
 *   not some staff (…)   →   complement of some staff (…)
 *
 * From here on only the rows count for which a predicate is true: unknown and false are one.
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
    case 'isNull':
    case 'similarity':
    case 'json':
      return predicate
  }
}

/** The rows for which the predicate is false: not those for which it is unknown. */
function whenFalse(predicate: Predicate): Predicate {
  switch (predicate.kind) {
    case 'always':
      return { kind: 'never' }
    case 'never':
      return { kind: 'always' }
    case 'test':
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
    // The right side is a set of rows that are in it or not; the left side can be unknown, as in an AND.
    case 'except':
      return { kind: 'or', inputs: [whenFalse(predicate.left), whenTrue(predicate.right)] }
    // It is true or false, so what is not true is false.
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

/** A property that is null stays out on both sides; what looks at elements is complemented. */
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
