import type { Condition, JsonCondition } from './bind-comparison.ts'
import { combine, combineTests, type JsonTest, type Predicate } from './predicate.ts'
import type { ElementStep, RelationStep } from './resolve-path.ts'

/**
 * Predicates of conditions under one AND, with common relation steps merged.
 *
 *   staff.salary > 10 and staff.city = "x"      →   some staff (salary > 10 and city = "x")
 *   staff.salary > 10 and staff{2}.city = "x"   →   some staff (salary > 10), some staff (city = "x")
 *
 * Source: protocol notes, 2.9.
 */
export function joinConditions(conditions: readonly Condition[]): Predicate[] {
  const ownLeaves = conditions.filter(({ relations }) => relations.length === 0).map(({ leaf }) => leaf)
  const relatedConditions = conditions.filter(({ relations }) => relations.length > 0)
  const groups = groupBy(relatedConditions, ({ relations: [step] }) => `${step!.relation.name}{${step!.classIndex}}`)
  return [
    ...ownLeaves.filter(leaf => leaf.kind !== 'elements'),
    ...joinElements(ownLeaves.filter(leaf => leaf.kind === 'elements')),
    ...groups.map(group =>
      follow(
        group[0]!.relations[0]!,
        joinConditions(group.map(({ relations, leaf }) => ({ relations: relations.slice(1), leaf }))),
      ),
    ),
  ]
}

function follow({ relation }: RelationStep, inputs: readonly Predicate[]): Predicate {
  const input = combine('and', inputs)
  return relation.kind === 'relatedEntity' ? { kind: 'via', relation, input } : { kind: 'some', relation, input }
}

function joinElements(conditions: readonly JsonCondition[]): Predicate[] {
  return groupBy(conditions, ({ attribute }) => attribute.name).flatMap(sameAttribute =>
    joinLinks(sameAttribute).map((test): Predicate => ({ kind: 'json', attribute: sameAttribute[0]!.attribute, test })),
  )
}

/** Tests of conditions on one JSON value under one AND: those with the same letter apply to one element. */
function joinLinks(conditions: readonly JsonCondition[]): JsonTest[] {
  const linkAt = ({ elements }: JsonCondition) => elements.findIndex(step => step.kind === 'link')
  const linkedConditions = conditions.filter(condition => linkAt(condition) >= 0)
  const groups = groupBy(linkedConditions, condition =>
    JSON.stringify(condition.elements.slice(0, linkAt(condition) + 1)),
  )
  return [
    ...conditions
      .filter(condition => linkAt(condition) < 0)
      .map(({ elements, test, everyElement }) => walk(elements, test, everyElement)),
    ...groups.map(group => {
      const end = linkAt(group[0]!) + 1
      const rest = group.map(condition => ({ ...condition, elements: condition.elements.slice(end) }))
      return walk(group[0]!.elements.slice(0, end), combineTests('and', joinLinks(rest)), false)
    }),
  ]
}

/** Applies `test` to the value at the end of the steps. */
const walk = (steps: readonly ElementStep[], test: JsonTest, everyElement: boolean): JsonTest =>
  steps.reduceRight<JsonTest>((input, step) => {
    if (step.kind === 'property') return { kind: 'property', name: step.name, input }
    return { kind: everyElement ? 'every' : 'some', input }
  }, test)

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}
