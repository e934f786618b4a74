import type { ValueAttribute } from '../../../catalog/attribute.ts'
import type { Bound, Predicate, ValueTest } from '../../bind/predicate.ts'
import { mapInputs, type Rule } from './rule.ts'

/**
 * Merges the ranges of one attribute under one AND, so that the column or the index is read once.
 *
 *   age >= 20 and age < 30 and age > 25   →   25 < age < 30
 */
export const mergeRanges: Rule<Predicate> = { name: 'merge-ranges', apply }

function apply(predicate: Predicate): Predicate {
  const result = mapInputs(predicate, apply)
  if (result.kind !== 'and') return result
  const inputs: Predicate[] = []
  const ranges = new Map<ValueAttribute, number>()
  for (const input of result.inputs) {
    const at = isRange(input) ? ranges.get(input.attribute) : undefined
    if (at !== undefined) {
      inputs[at] = intersection(inputs[at] as RangePredicate, input as RangePredicate)
      continue
    }
    if (isRange(input)) ranges.set(input.attribute, inputs.length)
    inputs.push(input)
  }
  return { kind: 'and', inputs }
}

type RangePredicate = Predicate & { kind: 'test'; test: ValueTest & { kind: 'range' } }

const isRange = (predicate: Predicate): predicate is RangePredicate =>
  predicate.kind === 'test' && predicate.test.kind === 'range' && !predicate.negated

const intersection = (a: RangePredicate, b: RangePredicate): RangePredicate => ({
  ...a,
  test: {
    kind: 'range',
    lower: stricter(a.test.lower, b.test.lower, (x, y) => x.value > y.value),
    upper: stricter(a.test.upper, b.test.upper, (x, y) => x.value < y.value),
  },
})

function stricter(a: Bound | undefined, b: Bound | undefined, isStricter: (x: Bound, y: Bound) => boolean) {
  if (!a || !b) return a ?? b
  if (isStricter(a, b)) return a
  if (isStricter(b, a)) return b
  return a.inclusive ? b : a
}
