/**
 * Aggregates and distinct values. Source: base specification, 4.6; protocol notes, 6.6 and 6.7; design decisions, query semantics.
 */
import { fold, sign } from './compare.ts'
import { type Step, valueAt } from './condition.ts'
import { storageValue } from './project.ts'
import { type ClassSpec, follow, type OneSpec, type Plain, type Row, relatedEntity, type World } from './world.ts'

export type AggregateName = 'count' | 'sum' | 'average' | 'min' | 'max'
/** A number whose last digits depend on the order in which values were added. */
export interface About {
  readonly about: number
  /** Sum of the absolute values that were added. */
  readonly of: number
}
type Result = unknown | About

const NUMBERS = ['byte', 'word', 'long', 'long64', 'number', 'float', 'duration']
/** Functions that apply to the values at a path; undefined for values of several types. */
export function kindOf(
  world: World,
  spec: ClassSpec,
  path: Step[],
): 'number' | 'text' | 'date' | 'bool' | 'opaque' | 'json' {
  const { attribute, properties } = follow(world, spec, path)
  if (attribute.kind !== 'storage' || attribute.type === 'blob') return 'opaque'
  const type =
    properties.length === 0
      ? attribute.type
      : attribute.properties?.[properties.map(({ name }) => name).join('.')]?.type
  if (type === undefined) return 'json'
  if (type === 'object') return 'opaque'
  if (NUMBERS.includes(type)) return 'number'
  return type === 'date' || type === 'bool' ? type : 'text'
}
export const applicable = (kind: ReturnType<typeof kindOf>): readonly AggregateName[] =>
  kind === 'number' || kind === 'json'
    ? ['count', 'sum', 'average', 'min', 'max']
    : kind === 'text' || kind === 'date'
      ? ['count', 'min', 'max']
      : ['count']

/** A value that is not null, and as it is sent. */
interface Item {
  value: Plain
  sent: unknown
}

function itemsOf(world: World, spec: ClassSpec, rows: readonly Row[], path: Step[]): Item[] {
  const { relations, attribute, dataClass, properties } = follow(world, spec, path)
  return rows.flatMap(row => {
    if (attribute.kind !== 'storage') throw new Error('relations have no values')
    const value = valueAt(world, spec, row, path)
    if (value === null) return []
    const end = relations.reduce<Row | undefined>(
      (at, { relation }) => at && relatedEntity(world, relation as OneSpec, at),
      row,
    )
    return { value, sent: properties.length > 0 ? value : storageValue(dataClass, end!, attribute) }
  })
}

const rank = (value: Plain): number => (typeof value === 'string' ? 1 : typeof value === 'boolean' ? 2 : 0)
const isScalar = ({ value }: Item): boolean => typeof value !== 'object'
function compare(a: Item, b: Item): number {
  const difference = rank(a.value) - rank(b.value)
  if (difference !== 0) return difference
  return typeof a.value === 'string'
    ? sign(fold(a.value), fold(b.value as string))
    : sign(a.value as number, b.value as number)
}

/** The first of equal values, in ascending order, each with their number. */
function distinctOf(items: readonly Item[]): { item: Item; count: number }[] {
  const found: { item: Item; count: number }[] = []
  for (const item of items.filter(isScalar)) {
    const known = found.find(each => compare(each.item, item) === 0)
    if (known) known.count++
    else found.push({ item, count: 1 })
  }
  return found.sort((a, b) => compare(a.item, b.item))
}

export function aggregated(
  world: World,
  spec: ClassSpec,
  rows: readonly Row[],
  path: Step[],
  { function: wanted, distinct }: { function: AggregateName | 'all'; distinct: boolean },
): Result {
  const kind = kindOf(world, spec, path)
  const all = itemsOf(world, spec, rows, path)
  const items = distinct ? distinctOf(all).map(({ item }) => item) : all
  const sorted = distinctOf(all)
    .map(({ item }) => item)
    .filter(({ value }) => typeof value !== 'boolean')
  const numbers = items
    .map(({ value }) => value)
    .filter(value => typeof value === 'number' || typeof value === 'bigint')
  const results: Record<AggregateName, () => Result> = {
    count: () => items.length,
    sum: () => total(numbers),
    average: () => {
      if (numbers.length === 0) return null
      const sum = total(numbers)
      const of = numbers.reduce<number>((all, value) => all + Math.abs(Number(value)), 0)
      return { about: (typeof sum === 'number' ? sum : sum.about) / numbers.length, of: of / numbers.length }
    },
    min: () => sorted[0]?.sent ?? null,
    max: () => sorted.at(-1)?.sent ?? null,
  }
  if (wanted !== 'all') return results[wanted]()
  const isText = kind === 'json' && typeof sorted[0]?.value === 'string'
  const names = isText ? applicable('text') : applicable(kind)
  return { [path.map(({ name }) => name).join('.')]: Object.fromEntries(names.map(name => [name, results[name]()])) }
}

function total(numbers: readonly (number | bigint)[]): number | About {
  if (
    numbers.every(
      value => Number.isInteger(Number(value)) && (typeof value === 'bigint' || Number.isSafeInteger(value)),
    )
  )
    return Number(numbers.reduce<bigint>((sum, value) => sum + BigInt(value), 0n))
  const values = numbers.map(Number)
  return {
    about: values.reduce((sum, value) => sum + value, 0),
    of: values.reduce((sum, value) => sum + Math.abs(value), 0),
  }
}

export const distinctValues = (
  world: World,
  spec: ClassSpec,
  rows: readonly Row[],
  path: Step[],
  page: { skip: number; top: number },
  counted: boolean,
): unknown[] => {
  const found = distinctOf(itemsOf(world, spec, rows, path))
  const ordered = counted ? found.sort((a, b) => b.count - a.count) : found
  return ordered
    .slice(page.skip, page.skip + page.top)
    .map(({ item, count }) => (counted ? { value: item.sent, count } : item.sent))
}

/** True if an answer is the expected one, apart from rounding. */
export function isExpected(expected: unknown, got: unknown): boolean {
  if (typeof expected === 'object' && expected !== null && 'about' in expected) {
    const { about, of } = expected as About
    return typeof got === 'number' && Math.abs(got - about) <= of * 1e-12
  }
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected)) {
    return JSON.stringify(expected) === JSON.stringify(got)
  }
  if (typeof got !== 'object' || got === null || Object.keys(expected).join() !== Object.keys(got).join()) return false
  return Object.entries(expected).every(([name, each]) => isExpected(each, (got as Record<string, unknown>)[name]))
}
