/**
 * Order and pages. Source: protocol notes, 1.6 and 1.7; design decisions, query semantics.
 */
import { fold, sign } from './compare.ts'
import { type Step, valueAt } from './condition.ts'
import type { Random } from '../base/random.ts'
import { type ClassSpec, classOf, follow, type Plain, type Row, type World } from './world.ts'

export interface OrderTerm {
  path: Step[]
  descending: boolean
}

/** Rows sorted by the terms: null lowest, texts by their folds, equal ones in their previous order. */
export function ordered(world: World, dataClass: ClassSpec, rows: readonly Row[], terms: readonly OrderTerm[]): Row[] {
  return [...rows].sort((a, b) => {
    for (const { path, descending } of terms) {
      const difference = compareValues(valueAt(world, dataClass, a, path), valueAt(world, dataClass, b, path))
      if (difference !== 0) return descending ? -difference : difference
    }
    return 0
  })
}

/** True if an order leads over a relation between places, which is refused. */
export const isBetweenPlaces = (
  world: World,
  dataClass: ClassSpec,
  terms: readonly Pick<OrderTerm, 'path'>[],
): boolean =>
  terms.some(({ path }) => {
    const { relations } = follow(world, dataClass, path)
    return relations.some(
      ({ relation }) => (classOf(world, relation.target).storage === undefined) !== (dataClass.storage === undefined),
    )
  })

function compareValues(a: Plain, b: Plain): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  if (a === null || typeof a === 'object') return 0
  if (typeof a === 'string') return sign(fold(a), fold(b as string))
  return sign(a as number, b as number)
}

/** Rank of the type, because values inside objects may differ in type. */
function rank(value: Plain): number {
  if (value === null) return 0
  return { number: 1, bigint: 1, string: 2, boolean: 3, object: 4 }[typeof value as 'number' | 'string']
}

/** Terms over scalar attributes here and beyond N→1 relations, and over declared properties of objects. */
export function randomOrder(random: Random, world: World, dataClass: ClassSpec): OrderTerm[] {
  return Array.from({ length: random.integer(1, 3) }, () => ({
    path: randomOrderPath(random, world, dataClass),
    descending: random.chance(0.4),
  }))
}

function randomOrderPath(random: Random, world: World, dataClass: ClassSpec): Step[] {
  const path: Step[] = []
  let at = dataClass
  for (let depth = random.pick([0, 0, 1, 2]); depth > 0; depth--) {
    const relations = at.attributes.filter(each => each.kind === 'relatedEntity')
    if (relations.length === 0) break
    const relation = random.pick(relations)
    path.push({ name: relation.name })
    at = classOf(world, relation.target)
  }
  const candidates = at.attributes.flatMap((each): Step[][] => {
    const { relations, attribute } = follow(world, at, [each])
    if (
      attribute.kind !== 'storage' ||
      attribute.scope ||
      relations.some(({ relation }) => relation.kind === 'relatedEntities')
    )
      return []
    if (attribute.type === 'blob') return []
    if (attribute.type !== 'object') return [[{ name: each.name }]]
    return Object.keys(attribute.properties ?? {}).map(property =>
      [each.name, ...property.split('.')].map(name => ({ name })),
    )
  })
  return [...path, ...random.pick([...candidates, [{ name: random.pick(['__KEY', '__STAMP']) }]])]
}

export function orderText(random: Random, terms: readonly OrderTerm[]): string {
  return terms
    .map(
      ({ path, descending }) =>
        path.map(({ name }) => name).join('.') + random.pick(descending ? [' desc', ' DESC'] : ['', ' asc', ' ASC']),
    )
    .join(random.pick([',', ', ', ' , ']))
}
