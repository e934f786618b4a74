import type { Predicate } from '../../bind/predicate.ts'
import { mapInputs, type Rule } from './rule.ts'

/**
 * Merges an AND inside an AND, and an OR inside an OR, so that all their inputs can be ordered together.
 *
 *   (a and b) and c   →   a and b and c
 */
export const flatten: Rule<Predicate> = { name: 'flatten', apply }

function apply(predicate: Predicate): Predicate {
  const changed = mapInputs(predicate, apply)
  if (changed.kind !== 'and' && changed.kind !== 'or') return changed
  return {
    kind: changed.kind,
    inputs: changed.inputs.flatMap(input => (input.kind === changed.kind ? input.inputs : [input])),
  }
}
