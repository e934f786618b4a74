/**
 * Random conditions over a world: paths of every kind, values that are in the rows or next to those.
 */
import type { Comparator, Condition, OperandValue, Step } from './condition.ts'
import type { Random } from '../base/random.ts'
import { midnight, scalar, TEXTS } from './values.ts'
import {
  type AttributeSpec,
  type ClassSpec,
  classOf,
  follow,
  type OneSpec,
  type Plain,
  rowsOf,
  type StorageSpec,
  valueIn,
  type World,
} from './world.ts'

/** Conditions joined from left to right, some of them negated or in parentheses. */
export function randomCondition(random: Random, world: World, dataClass: ClassSpec, depth = 2): Condition {
  const count = random.pick([1, 1, 1, 2, 2, 3, 4])
  // Most runs have one conjunction; the mixed ones rely on their order.
  const usual = random.pick(['and', 'and', 'or', 'except'] as const)
  let condition = randomTerm(random, world, dataClass, depth)
  for (let i = 1, earlier = condition; i < count; i++) {
    const kind = random.chance(0.75) ? usual : random.pick(['and', 'or', 'except'] as const)
    earlier = randomTerm(random, world, dataClass, depth, earlier)
    condition = { kind, left: condition, right: earlier }
  }
  return condition
}

/** @param earlier the term before it, whose path it may share */
function randomTerm(random: Random, world: World, dataClass: ClassSpec, depth: number, earlier?: Condition): Condition {
  if (depth > 0 && random.chance(0.15)) return { kind: 'not', operand: randomTerm(random, world, dataClass, depth - 1) }
  if (depth > 0 && random.chance(0.2)) {
    return { kind: 'group', inner: randomCondition(random, world, dataClass, depth - 1) }
  }
  if (earlier?.kind !== 'comparison' || random.chance(0.6)) return randomComparison(random, world, dataClass, [])
  const linked = earlier.path.findIndex(({ element }) => element !== undefined && element !== '')
  return linked >= 0
    ? jsonComparison(random, [...earlier.path.slice(0, linked + 1), { name: random.pick(['x', 'y']) }])
    : randomComparison(random, world, dataClass, relationsOf(world, dataClass, earlier.path))
}

/** Relations among the steps of a path, without its end. */
function relationsOf(world: World, dataClass: ClassSpec, path: Step[]): Step[] {
  const end = path.findIndex((_, i) => follow(world, dataClass, path.slice(0, i + 1)).attribute.kind === 'storage')
  return path.slice(0, end < 0 ? -1 : end).map(step => ({ ...step }))
}

/** @param path relations to go through before all others */
function randomComparison(random: Random, world: World, dataClass: ClassSpec, path: Step[]): Condition {
  let at = path.reduce(
    (spec, step) => classOf(world, (follow(world, spec, [step]).attribute as OneSpec).target),
    dataClass,
  )
  for (let relations = random.pick(path.length > 0 ? [0, 0, 1] : [0, 0, 0, 1, 1, 2, 3]); ; relations--) {
    const wanted = at.attributes.filter(each => each.kind === 'relatedEntity' || each.kind === 'relatedEntities')
    const next = relations > 0 && wanted.length > 0 ? random.pick(wanted) : randomAttribute(random, at)
    const step: Step = { name: next.name }
    path.push(step)
    const end = follow(world, at, [step])
    if (end.attribute.kind === 'storage') return storageComparison(random, world, path, end.dataClass, end.attribute)
    // A relation, or an alias of one: it ends here, or leads on.
    if (relations <= 0) return nullComparison(random, path)
    if (random.chance(0.12)) step.classIndex = random.integer(2, 3)
    at = classOf(world, end.attribute.target)
  }
}

/** Texts and objects, which have the most cases, more often than others; now and then a member that every entity has. */
function randomAttribute(random: Random, { attributes }: ClassSpec): Pick<AttributeSpec, 'name'> {
  if (random.chance(0.05)) return { name: random.pick(['__KEY', '__KEY', '__STAMP']) }
  const visible = attributes.filter(each => each.kind !== 'storage' || each.scope === undefined)
  const type = random.pick([undefined, undefined, undefined, 'string', 'object'] as const)
  const preferred = visible.filter(each => each.kind === 'storage' && each.type === type)
  return random.pick(preferred.length > 0 ? preferred : visible)
}

const ORDERING: Comparator[] = ['less', 'lessOrEqual', 'greater', 'greaterOrEqual']
const EQUALITY: Comparator[] = ['equal', 'equal', 'equal', 'notEqual', 'is', 'isNot']

function storageComparison(
  random: Random,
  world: World,
  path: Step[],
  dataClass: ClassSpec,
  attribute: StorageSpec,
): Condition {
  const { type } = attribute
  if (type === 'object') return objectComparison(random, path)
  if (type === 'blob' || random.chance(0.08)) return nullComparison(random, path)
  if (type === 'bool') {
    if (random.chance(0.4)) return { kind: 'truth', path }
    return {
      kind: 'comparison',
      path,
      comparator: random.pick(EQUALITY),
      operand: { kind: 'value', value: random.chance(0.5) },
    }
  }
  const stored = rowsOf(world, dataClass.name)
    .map(row => valueIn(row, attribute.name))
    .filter(value => value !== null)
  const near = (): OperandValue =>
    operandNear(
      random,
      attribute,
      stored.length > 0 && random.chance(0.8) ? random.pick(stored) : scalar(random, type, attribute.simpleDate),
    )
  const comparator = random.pick([
    ...EQUALITY,
    ...ORDERING,
    'in',
    ...(type === 'string' ? (['equal', 'notEqual', 'begin', 'keyword'] as const) : []),
  ] as const)
  if (comparator === 'in') {
    // Databases also take hundreds of values.
    const most = dataClass.storage && random.chance(0.1) ? 400 : 4
    const values = Array.from({ length: random.integer(1, most) }, () =>
      type === 'string' ? withWildcards(random, near() as string) : near(),
    )
    return { kind: 'comparison', path, comparator, operand: { kind: 'list', values } }
  }
  let value = near()
  if (type === 'string') {
    const text = value as string
    if (comparator === 'equal' || comparator === 'notEqual') value = withWildcards(random, text)
    if (comparator === 'begin') {
      const beginning = text.replaceAll('@', '').slice(0, random.integer(0, 4))
      // No database has a half of a character.
      value = dataClass.storage ? beginning.replace(/[\ud800-\udbff]$/, '') : beginning
    }
    if (comparator === 'keyword') value = keyword(random, text)
  }
  return { kind: 'comparison', path, comparator, operand: { kind: 'value', value } }
}

const nullComparison = (random: Random, path: Step[]): Condition => ({
  kind: 'comparison',
  path,
  comparator: random.pick(['equal', 'notEqual', 'is', 'isNot']),
  operand: { kind: 'null' },
})

/** A stored value as an operand, often changed a little. */
function operandNear(random: Random, { type, simpleDate }: StorageSpec, value: Plain): OperandValue {
  switch (type) {
    case 'string':
      return random.chance(0.5) ? (value as string) : disguised(random, value as string)
    case 'uuid':
      return value as string
    case 'date': {
      const ms = (value as number) + random.pick([0, 0, 0, 1, -1, 86_400_000])
      const kept = ms > Date.UTC(9999, 11, 31) ? (value as number) : ms
      return simpleDate ? midnight(kept) : kept
    }
    case 'duration':
      return Math.max(0, (value as number) + random.pick([0, 0, 0, 1, -1]))
    case 'number':
    case 'float':
      return String(random.chance(0.8) ? value : (value as number) + random.pick([1, -0.5]))
    default:
      return random.chance(0.7)
        ? String(value)
        : random.pick([`${value}.5`, `${value}.0`, String(BigInt(value as number) + 1n), `${value}e0`])
  }
}

/** A text with the same fold, in other letters. */
function disguised(random: Random, text: string): string {
  return [...text]
    .map(letter =>
      random.pick([
        letter,
        letter.normalize('NFD'),
        /^[a-z]$/.test(letter) ? letter.toUpperCase() : letter,
        /^[aeiou]$/.test(letter) ? `${letter}\u0301` : letter,
      ]),
    )
    .join('')
}

function withWildcards(random: Random, text: string): string {
  // A pattern has a maximum length.
  if (text.length > 900) return text.replaceAll('@', '')
  if (random.chance(0.55)) return text
  const letters = [...text]
  for (let i = random.integer(1, 2); i > 0; i--) {
    letters.splice(random.integer(0, letters.length), random.pick([0, 1, 1, 3]), '@')
  }
  return letters.join('')
}

function keyword(random: Random, text: string): string {
  const word = random.pick(
    text
      .split(/[^\p{L}\p{M}\p{N}]+/u)
      .filter(each => /^[\p{L}\p{N}]/u.test(each))
      .concat('brown'),
  )
  return random.pick([word, word, `${[...word].slice(0, 2).join('')}@`, `@${[...word].at(-1)}`])
}

/** A property of unknown type. */
function jsonComparison(random: Random, path: Step[]): Condition {
  if (random.chance(0.15)) return nullComparison(random, path)
  const value = random.pick(JSON_VALUES)
  if (random.chance(0.1)) {
    return {
      kind: 'comparison',
      path,
      comparator: 'in',
      operand: { kind: 'list', values: [value, random.pick(JSON_VALUES)] },
    }
  }
  const comparator = random.pick(
    typeof value === 'boolean'
      ? EQUALITY
      : typeof value === 'number'
        ? [...EQUALITY, ...ORDERING]
        : [...EQUALITY, ...ORDERING, 'begin' as const],
  )
  const plain = comparator === 'begin' ? String(value).replaceAll('@', '') : value
  return { kind: 'comparison', path, comparator, operand: { kind: 'value', value: plain } }
}

const JSON_VALUES: OperandValue[] = ['abc', 'É', 'E', '5', 5, 5.5, 0, 1, true, 'a@', '@', '', 2]

function objectComparison(random: Random, path: Step[]): Condition {
  const at = (...steps: Step[]): Step[] => [...path, ...steps]
  const compare = (steps: Step[], comparators: Comparator[], value: OperandValue): Condition => ({
    kind: 'comparison',
    path: steps,
    comparator: random.pick(comparators),
    operand: { kind: 'value', value },
  })
  switch (random.integer(0, 10)) {
    case 0:
      return nullComparison(
        random,
        at(
          ...random.pick([
            [],
            [{ name: 'deep' }],
            [{ name: 'missing' }],
            [{ name: 'list' }],
            [{ name: 'code' }],
            [{ name: 'flag' }],
          ]),
        ),
      )
    case 1: {
      const text = random.pick(TEXTS.slice(0, 30)).replaceAll('@', '')
      return compare(at({ name: 'code' }), ['equal', 'notEqual', 'begin', 'less', 'greaterOrEqual', 'is'], text)
    }
    case 2:
      return compare(at({ name: 'deep' }, { name: 'size' }), [...EQUALITY, ...ORDERING], random.pick([1, 2, 2.5, 0]))
    case 3:
      return compare(at({ name: 'list' }, { name: 'length' }), [...EQUALITY, ...ORDERING], random.integer(0, 4))
    case 4:
      return compare(at({ name: 'flag' }), EQUALITY, random.chance(0.5))
    case 10:
      return jsonComparison(random, at({ name: 'any' }))
    case 5:
      return jsonComparison(random, at({ name: 'deep' }, { name: 'tag' }))
    case 6:
      return jsonComparison(random, at({ name: 'list', element: '' }))
    case 7:
      return jsonComparison(random, at({ name: 'items', element: '' }, { name: random.pick(['x', 'y']) }))
    default: {
      const element = random.pick(['a', 'a', 'a', 'b', 'A'])
      return jsonComparison(random, at({ name: 'items', element }, { name: random.pick(['x', 'y']) }))
    }
  }
}
