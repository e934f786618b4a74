import { ALWAYS, combine, NEVER, type Predicate, type ValueTest } from '../../bind/predicate.ts'
import { mapInputs, type Rule } from './rule.ts'

/**
 * Decides every condition that does not depend on data.
 *
 *   age > 30 and age < 20   →   never        name in []   →   never
 *   a and never             →   never        a or never   →   a
 */
export const foldConstants: Rule<Predicate> = { name: 'fold-constants', apply }

function apply(predicate: Predicate): Predicate {
  const result = mapInputs(predicate, apply)
  switch (result.kind) {
    case 'test':
      return fold(result)
    case 'and':
      return foldInputs('and', result.inputs, NEVER, 'always')
    case 'or':
      return foldInputs('or', result.inputs, ALWAYS, 'never')
    case 'some':
      return result.input.kind === 'never' ? NEVER : result
    case 'complement':
      if (result.input.kind === 'never') return ALWAYS
      return result.input.kind === 'always' ? NEVER : result
    case 'except':
      if (result.left.kind === 'never' || result.right.kind === 'always') return NEVER
      return result.right.kind === 'never' ? result.left : result
    // A `via` whose input is never true is never true either: if the relation is null, the result is null, not true.
    case 'via':
      return result.input.kind === 'never' ? NEVER : result
    default:
      return result
  }
}

/** Folds inputs: an `absorbing` input decides the result, inputs of the `neutral` kind are dropped. */
function foldInputs(
  kind: 'and' | 'or',
  inputs: readonly Predicate[],
  absorbing: Predicate,
  neutral: string,
): Predicate {
  if (inputs.some(input => input.kind === absorbing.kind)) return absorbing
  const rest = inputs.filter(input => input.kind !== neutral)
  return rest.length === 0 ? inputs[0]! : combine(kind, rest)
}

function fold(predicate: Predicate & { kind: 'test' }): Predicate {
  const { attribute, test, negated } = predicate
  const notNull: Predicate = { kind: 'isNull', attribute, negated: true }
  if (test.kind === 'any') return negated ? NEVER : notNull
  if (isEmpty(test)) return negated ? notNull : NEVER
  return predicate
}

function isEmpty(test: ValueTest): boolean {
  if (test.kind === 'in') return test.values.size === 0
  if (test.kind !== 'range' || !test.lower || !test.upper) return false
  const { lower, upper } = test
  return lower.value > upper.value || (lower.value === upper.value && !(lower.inclusive && upper.inclusive))
}
