/**
 * Entities of two stores that a client cannot tell apart. Those in both stores are equal except for attributes that the client
 * may not read; the others are in one store only, or differ, and are always hidden by their own values.
 */
import type { Random } from '../base/random.ts'
import type { ClassSpec, ScalarSpec, Type, WorldModel } from './model.ts'

/** Values in the first and in the second store; undefined: the entity is missing. */
export interface Pair {
  readonly key: number
  readonly a: Readonly<Record<string, unknown>> | undefined
  readonly b: Readonly<Record<string, unknown>> | undefined
  /** `common`: may be visible. `fixed`: hidden, and others may refer to it. `varied`: hidden, and nothing depends on it. */
  readonly sort: 'common' | 'fixed' | 'varied'
}

export type Pairs = Readonly<Record<string, readonly Pair[]>>

export const FIRST_HIDDEN_KEY = 500
/** The greatest key, so that new entities get the same keys in both stores. */
export const LAST_KEY = 1_000

export function randomPairs(random: Random, { classes }: WorldModel): Record<string, Pair[]> {
  const pairs: Record<string, Pair[]> = {}
  for (const spec of classes) pairs[spec.name] = []
  for (const spec of classes) {
    const own = pairs[spec.name]!
    own.push(commonPair(random, spec, LAST_KEY, pairs))
    let [common, hidden] = [0, FIRST_HIDDEN_KEY]
    const count = random.integer(15, 40)
    while (own.length < count) {
      if (random.chance(0.65) || !canHide(spec)) own.push(commonPair(random, spec, ++common, pairs))
      else if (random.chance(0.3)) own.push(fixedPair(random, spec, hidden++, pairs))
      else own.push(variedPair(random, spec, hidden++, pairs))
    }
  }
  return pairs
}

/** True if entities can be hidden whatever the client does to others. */
export const canHide = ({ isReadable, hiding }: ClassSpec): boolean => !isReadable || hiding !== undefined

function commonPair(random: Random, spec: ClassSpec, key: number, pairs: Record<string, Pair[]>): Pair {
  const { hiding } = spec
  const isShown = random.chance(0.75)
  const a = { ...scalarValues(random, spec, key), ...references(random, spec, pairs, isStable) }
  const grade = () => hiding && { grade: random.pick(isShown ? hiding.shown : hiding.hidden) }
  const first = { ID: key, ...a, ...grade() }
  const varied = spec.scalars.filter(each => variesIn(spec, each))
  const other = { ...scalarValues(random, spec, key + 5_000), ...grade() } as Record<string, unknown>
  const b = { ...first, ...Object.fromEntries(varied.map(({ name }) => [name, other[name]])) }
  return { key, a: first, b, sort: 'common' }
}

/** True if an attribute of entities in both stores may differ. */
export const variesIn = (spec: ClassSpec, { name, varies }: ScalarSpec): boolean =>
  varies || (!spec.isReadable && name !== 'rank')

function fixedPair(random: Random, spec: ClassSpec, key: number, pairs: Record<string, Pair[]>): Pair {
  const shared = references(random, spec, pairs, isStable)
  const { rank } = scalarValues(random, spec, key)
  const isSame = !spec.hiding || spec.looksAtItself
  const values = (number: number) => ({
    ...hiddenValues(random, spec, key, number),
    ...(isSame && { rank }),
    ...shared,
  })
  return { key, a: values(key), b: values(key + 5_000), sort: 'fixed' }
}

function variedPair(random: Random, spec: ClassSpec, key: number, pairs: Record<string, Pair[]>): Pair {
  const where = random.pick(['a', 'b', 'both'] as const)
  return {
    key,
    a: where === 'b' ? undefined : variedValues(random, spec, key, pairs),
    b: where === 'a' ? undefined : variedValues(random, spec, key + 5_000, pairs),
    sort: 'varied',
  }
}

/** Values of an entity that the client never sees. @param number of its unique value */
export function variedValues(
  random: Random,
  spec: ClassSpec,
  number: number,
  pairs: Pairs,
): Record<string, unknown> & { ID: number } {
  const key = number >= 5_000 ? number - 5_000 : number
  const free = references(random, spec, pairs, isStable, ({ onDelete }) => onDelete !== 'restrict')
  return { ...hiddenValues(random, spec, key, number), ...free }
}

function hiddenValues(random: Random, spec: ClassSpec, key: number, number: number) {
  const grade = spec.hiding && { grade: random.pick(spec.hiding.hidden) }
  return { ID: key, ...scalarValues(random, spec, number), ...grade }
}

const isStable = ({ sort }: Pair): boolean => sort !== 'varied'

/** Foreign keys. A deletion that a varied entity stops would reveal that entity. */
function references(
  random: Random,
  { relations }: ClassSpec,
  pairs: Pairs,
  accepts: (pair: Pair) => boolean,
  may: (relation: ClassSpec['relations'][number]) => boolean = () => true,
): Record<string, number | null> {
  return Object.fromEntries(
    relations.map(relation => {
      const targets = may(relation) && random.chance(0.8) ? pairs[relation.target]!.filter(accepts) : []
      return [relation.foreignKey, targets.length > 0 ? random.pick(targets).key : null]
    }),
  )
}

function scalarValues(random: Random, { scalars }: ClassSpec, number: number): Record<string, unknown> {
  return Object.fromEntries(
    scalars.map(each => [each.name, each.name === 'code' ? `C-${number}` : randomValue(random, each)]),
  )
}

export function randomValue(random: Random, { name, type }: Pick<ScalarSpec, 'name' | 'type'>): unknown {
  if (random.chance(0.1)) return null
  return name === 'rank' ? random.integer(0, 9) : ofType(random, type)
}

const NAMES = ['Ada', 'ada', 'Émile', 'Zoë', 'Bob', 'Bobby', 'café', 'x@y', '', "O'Neill", 'a b c', '東京']
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const GIF = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'

function ofType(random: Random, type: Type): unknown {
  switch (type) {
    case 'long':
      return random.integer(-3, 12)
    case 'long64':
      return random.chance(0.2) ? '9007199254740993' : random.integer(-5, 50)
    case 'number':
    case 'float':
      // The sum of the rest and large numbers depends on the order of addition.
      return random.chance(0.3)
        ? random.pick([1e40, -1e40, 1e20, -1e20, 1])
        : random.integer(-50, 900) / random.pick([1, 3, 7, 10])
    case 'bool':
      return random.chance(0.5)
    case 'string':
      return random.pick(NAMES)
    case 'date':
      return `20${random.integer(10, 29)}-0${random.integer(1, 9)}-1${random.integer(0, 9)}`
    case 'duration':
      return random.integer(0, 90_000)
    case 'object':
      return random.pick([
        { a: { b: random.integer(0, 5) } },
        { list: [1, { c: 'x' }] },
        {},
        { text: random.pick(NAMES) },
      ])
    case 'image':
      return random.pick([PNG, GIF])
    case 'vector':
      return [random.integer(-9, 9) / 8, random.integer(1, 9) / 8]
    case 'blob':
      return `data:application/octet-stream;base64,${Buffer.from(`blob ${random.integer(0, 99)}`).toString('base64')}`
  }
}
