import type { Condition } from './condition.ts'

/** The smallest part of a condition that still fails, found by leaving parts out one at a time. */
export async function shrink(
  condition: Condition,
  fails: (candidate: Condition) => Promise<boolean>,
): Promise<Condition> {
  for (const candidate of simpler(condition)) if (await fails(candidate)) return shrink(candidate, fails)
  return condition
}

function simpler(condition: Condition): Condition[] {
  switch (condition.kind) {
    case 'group':
      return [condition.inner, ...simpler(condition.inner).map((inner): Condition => ({ kind: 'group', inner }))]
    case 'not':
      return [
        condition.operand,
        ...simpler(condition.operand)
          .filter(isTerm)
          .map((operand): Condition => ({ kind: 'not', operand })),
      ]
    case 'and':
    case 'or':
    case 'except': {
      const { kind, left, right } = condition
      return [
        left,
        right,
        ...simpler(left).map((left): Condition => ({ kind, left, right })),
        ...simpler(right)
          .filter(isTerm)
          .map((right): Condition => ({ kind, left, right })),
      ]
    }
    case 'comparison':
      return condition.operand.kind === 'list' && condition.operand.values.length > 1
        ? condition.operand.values.map(value => ({ ...condition, operand: { kind: 'list', values: [value] } }))
        : []
    case 'truth':
      return []
  }
}

/** True if a text can express it without parentheses on the right of a conjunction. */
const isTerm = ({ kind }: Condition): boolean => kind !== 'and' && kind !== 'or' && kind !== 'except'
