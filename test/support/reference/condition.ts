/**
 * Conditions of the reference evaluator and their meaning, in plain loops.
 * Source: base specification, 4.3.1; design decisions, query semantics; protocol notes, 2.
 */
import { and, compareJson, compareTyped, not, or, type Truth } from './compare.ts'
import {
  type ClassSpec,
  classOf,
  follow,
  type ManySpec,
  type OneSpec,
  type Plain,
  type Row,
  relatedEntities,
  relatedEntity,
  type StorageSpec,
  valueIn,
  type World,
} from './world.ts'

export type Comparator =
  | 'equal'
  | 'notEqual'
  | 'is'
  | 'isNot'
  | 'less'
  | 'lessOrEqual'
  | 'greater'
  | 'greaterOrEqual'
  | 'begin'
  | 'in'
  | 'keyword'

/** Texts for strings and uuids, decimal texts for numbers, ms for dates and durations; JSON values for object properties. */
export type OperandValue = string | number | boolean
export type Operand =
  | { kind: 'null' }
  | { kind: 'value'; value: OperandValue }
  | { kind: 'list'; values: OperandValue[] }

export interface Step {
  name: string
  /** `{2}`: another related entity. */
  classIndex?: number
  /** `[]` is an empty text, `[a]` the letter. */
  element?: string
}

export interface Comparison {
  kind: 'comparison'
  path: Step[]
  comparator: Comparator
  operand: Operand
}

/** `right` and the operand of `not` are never a bare `and`, `or`, `except`: a text can contain those there only in a `group`. */
export type Condition =
  | { kind: 'and' | 'or' | 'except'; left: Condition; right: Condition }
  | { kind: 'not'; operand: Condition }
  | { kind: 'group'; inner: Condition }
  | Comparison
  /** A bool attribute alone: `= true`. */
  | { kind: 'truth'; path: Step[] }

/** Evaluates a condition for a row. @returns undefined for unknown, which does not select */
export function matches(world: World, dataClass: ClassSpec, row: Row, condition: Condition): Truth {
  switch (condition.kind) {
    case 'or':
      return or(matches(world, dataClass, row, condition.left), matches(world, dataClass, row, condition.right))
    case 'except':
      // The right side is a set that a row is in or not; the left side can be unknown, as in an AND.
      return and(
        matches(world, dataClass, row, condition.left),
        matches(world, dataClass, row, condition.right) !== true,
      )
    case 'not':
      return not(matches(world, dataClass, row, condition.operand))
    case 'group':
      return matches(world, dataClass, row, condition.inner)
    default: {
      // One run of AND: its comparisons share the entities along their paths.
      const run = runOf(condition)
      const comparisons = run.flatMap(each =>
        each.kind === 'comparison' || each.kind === 'truth' ? resolve(world, dataClass, each) : [],
      )
      const others = run.filter(each => each.kind !== 'comparison' && each.kind !== 'truth')
      return others.reduce(
        (result, each) => and(result, matches(world, dataClass, row, each)),
        matchTogether(world, dataClass, row, comparisons),
      )
    }
  }
}

const runOf = (condition: Condition): Condition[] =>
  condition.kind === 'and' ? [...runOf(condition.left), condition.right] : [condition]

/** A comparison with its path resolved: relations to follow, then an attribute and steps into its object. */
interface Resolved {
  relations: { relation: OneSpec | ManySpec; share: string }[]
  attribute: StorageSpec | OneSpec | ManySpec
  properties: Step[]
  comparison: Comparison
}

function resolve(
  world: World,
  dataClass: ClassSpec,
  condition: Comparison | { kind: 'truth'; path: Step[] },
): Resolved {
  const comparison: Comparison =
    condition.kind === 'truth'
      ? { kind: 'comparison', path: condition.path, comparator: 'equal', operand: { kind: 'value', value: true } }
      : condition
  const { relations, attribute, properties } = follow(world, dataClass, comparison.path)
  // An index names another path to the entity of its step, and so another one for every step before it.
  const indexFrom = (i: number) =>
    relations.slice(i).find(({ step }) => step?.classIndex !== undefined)?.step?.classIndex
  return {
    relations: relations.map(({ relation }, i) => ({ relation, share: `${relation.name}{${indexFrom(i)}}` })),
    attribute,
    properties,
    comparison,
  }
}

/** Comparisons of one run for one entity; without an entity every value is null. */
function matchTogether(world: World, dataClass: ClassSpec, row: Row | undefined, comparisons: Resolved[]): Truth {
  const here = comparisons.filter(({ relations }) => relations.length === 0)
  const linked = here.filter(isLinked)
  let result = here
    .filter(each => !isLinked(each))
    .reduce<Truth>((all, each) => and(all, matchHere(world, dataClass, row, each)), true)
  for (const group of grouped(linked, linkOf)) result = and(result, matchLinked(row, group))

  const beyond = comparisons.filter(({ relations }) => relations.length > 0)
  for (const group of grouped(beyond, ({ relations }) => relations[0]!.share)) {
    const { relation } = group[0]!.relations[0]!
    const target = classOf(world, relation.target)
    const next = group.map(each => ({ ...each, relations: each.relations.slice(1) }))
    result = and(
      result,
      relation.kind === 'relatedEntity'
        ? matchTogether(world, target, row && relatedEntity(world, relation, row), next)
        : row !== undefined &&
            relatedEntities(world, dataClass, relation, row).some(
              each => matchTogether(world, target, each, next) === true,
            ),
    )
  }
  return result
}

function matchHere(
  world: World,
  dataClass: ClassSpec,
  row: Row | undefined,
  { attribute, properties, comparison }: Resolved,
): Truth {
  const { comparator, operand } = comparison
  const isNull = comparator === 'equal' || comparator === 'is'
  if (attribute.kind === 'relatedEntity')
    return ((row && relatedEntity(world, attribute, row)) === undefined) === isNull
  if (attribute.kind === 'relatedEntities') {
    return (row === undefined || relatedEntities(world, dataClass, attribute, row).length === 0) === isNull
  }
  const stored = row ? valueIn(row, attribute.name) : null
  if (attribute.type === 'blob') return (stored === null) === isNull
  if (attribute.type === 'object') return matchJson(stored, properties, comparator, operand)
  // A key of a database is one text, letter by letter.
  const isExact = dataClass.storage !== undefined && comparison.path.at(-1)!.name === '__KEY'
  return compareTyped(attribute.type, stored, comparator, operand, isExact)
}

/** A path into an object; `[]` means some element, and with a negative comparator every one of at least one. */
function matchJson(stored: unknown, steps: Step[], comparator: Comparator, operand: Operand): Truth {
  const at = steps.findIndex(({ element }) => element !== undefined)
  if (at < 0) return compareJson(inside(stored, steps), comparator, operand)
  const found = inside(stored, steps.slice(0, at + 1))
  const elements = Array.isArray(found) ? found : []
  const holds = (element: unknown) => matchJson(element, steps.slice(at + 1), comparator, operand) === true
  if (comparator === 'notEqual' || comparator === 'isNot') return elements.length > 0 && elements.every(holds)
  return elements.some(holds)
}

/** Value at the end of property names: own properties of objects, and the number of elements of an array. */
function inside(value: unknown, steps: Step[]): unknown {
  let at: unknown = value
  for (const { name } of steps) {
    if (Array.isArray(at)) at = name === 'length' ? at.length : undefined
    else if (typeof at === 'object' && at !== null && Object.hasOwn(at, name))
      at = (at as Record<string, unknown>)[name]
    else return undefined
  }
  return at
}

const letterAt = (steps: Step[]): number => steps.findIndex(({ element }) => element !== undefined && element !== '')
const isLinked = ({ properties }: Resolved): boolean => letterAt(properties) >= 0

/** Key that is equal for comparisons of one element: those with the same letter after the same path. */
function linkOf({ attribute, properties }: Resolved): string {
  const steps = properties.slice(0, letterAt(properties) + 1)
  return JSON.stringify([attribute.name, steps.map(({ name }) => name), steps.at(-1)!.element!.toLowerCase()])
}

function matchLinked(row: Row | undefined, comparisons: Resolved[]): boolean {
  const [{ attribute, properties }] = comparisons as [Resolved]
  const at = letterAt(properties)
  const elements = inside(row ? valueIn(row, attribute.name) : null, properties.slice(0, at + 1))
  if (!Array.isArray(elements)) return false
  return elements.some(element =>
    comparisons.every(
      ({ properties, comparison }) =>
        compareJson(inside(element, properties.slice(at + 1)), comparison.comparator, comparison.operand) === true,
    ),
  )
}

function grouped<T>(list: T[], keyOf: (each: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const each of list) groups.set(keyOf(each), [...(groups.get(keyOf(each)) ?? []), each])
  return [...groups.values()]
}

/** Value at the end of a path through N→1 relations, aliases and object properties; null where one of them is. */
export function valueAt(world: World, dataClass: ClassSpec, row: Row, path: Step[]): Plain {
  const { relations, attribute, properties } = follow(world, dataClass, path)
  const end = relations.reduce<Row | undefined>(
    (at, { relation }) => at && relatedEntity(world, relation as OneSpec, at),
    row,
  )
  return (inside(end ? valueIn(end, attribute.name) : null, properties) ?? null) as Plain
}
