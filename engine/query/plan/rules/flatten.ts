import type { Predicate } from '../../bind/predicate.ts'
import { mapInputs, type Rule } from './rule.ts'

/**
 * Merges an AND inside an AND, and an OR inside an OR, so that all their inputs can be ordered together.
 *
 *   (a and b) and c   →   a and b and c
 */
export const flatten: Rule<Predicate> = { name: 'flatten', apply }

function apply(predicate: Predicate): Predicate {
  const result = mapInputs(predicate, apply)
  if (result.kind !== 'and' && result.kind !== 'or') return result
  return {
    kind: result.kind,
    inputs: result.inputs.flatMap(input => (input.kind === result.kind ? input.inputs : [input])),
  }
}
