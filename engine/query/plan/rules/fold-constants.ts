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
  const changed = mapInputs(predicate, apply)
  switch (changed.kind) {
    case 'test':
      return fold(changed)
    case 'and':
      return foldInputs('and', changed.inputs, NEVER, 'always')
    case 'or':
      return foldInputs('or', changed.inputs, ALWAYS, 'never')
    case 'some':
      return changed.input.kind === 'never' ? NEVER : changed
    case 'complement':
      if (changed.input.kind === 'never') return ALWAYS
      return changed.input.kind === 'always' ? NEVER : changed
    case 'except':
      if (changed.left.kind === 'never' || changed.right.kind === 'always') return NEVER
      return changed.right.kind === 'never' ? changed.left : changed
    // A `via` whose input is never true is never true either: a relation that is null makes the input null, not true.
    case 'via':
      return changed.input.kind === 'never' ? NEVER : changed
    default:
      return changed
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
