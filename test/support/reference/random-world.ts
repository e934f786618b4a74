/**
 * Random worlds: a model, rows, and changes of them.
 */
import { fold } from './compare.ts'
import type { Random } from '../base/random.ts'
import { jsonObject, poolOf, TEXTS, uuid } from './values.ts'
import {
  type AliasSpec,
  type AttributeSpec,
  attributeOf,
  type ClassSpec,
  classOf,
  follow,
  keyOf,
  type ManySpec,
  type OneSpec,
  type Plain,
  rowsOf,
  type ScalarType,
  type StorageSpec,
  storageOf,
  type World,
} from './world.ts'

const TYPES: ScalarType[] = [
  'bool',
  'byte',
  'word',
  'long',
  'long64',
  'number',
  'float',
  'date',
  'duration',
  'string',
  'uuid',
]
const CLASSES = ['Alpha', 'Beta', 'Gamma', 'Δelta']

/** Dataclasses without rows. */
export function randomModel(random: Random): World {
  const specs = CLASSES.slice(0, random.integer(2, 4)).map(name => randomClass(random, name))
  let count = 0
  for (const from of specs) {
    for (const to of specs) if (random.chance(from === to ? 0.6 : 0.55)) addRelation(random, from, to, ++count)
  }
  const world: World = { classes: new Map(specs.map(spec => [spec.name, { spec, rows: [], nextId: 1 }])) }
  for (const spec of specs) for (let i = 1; i <= random.integer(0, 3); i++) addAlias(random, world, spec, `alias${i}`)
  return world
}

function randomClass(random: Random, name: string): ClassSpec {
  const keyType = random.pick(['long', 'long', 'string', 'uuid'] as const)
  const autoFill = keyType === 'long' ? 'increment' : 'uuid'
  const attributes: AttributeSpec[] = [
    { kind: 'storage', name: 'id', type: keyType, ...(keyType !== 'string' && random.chance(0.5) && { autoFill }) },
  ]
  const counts = new Map<string, number>()
  const add = (type: StorageSpec['type'], options: Partial<StorageSpec> = {}) => {
    const n = (counts.get(type) ?? 0) + 1
    counts.set(type, n)
    attributes.push({ kind: 'storage', name: n === 2 && type === 'string' ? 'größe' : `${type}${n}`, type, ...options })
  }
  const scalarOptions = (): Partial<StorageSpec> => ({ ...(random.chance(0.5) && { indexed: true }) })
  for (const type of TYPES) {
    for (let i = 0; i < (type === 'string' ? random.integer(1, 2) : 1); i++) {
      if (type === 'string' || random.chance(0.6)) {
        add(type, {
          ...scalarOptions(),
          ...(type === 'date' && random.chance(0.5) && { simpleDate: true }),
          ...(type === 'byte' && random.chance(0.4) && { mandatory: true, minValue: 0 }),
          ...(type === 'string' && random.chance(0.3) && { maxLength: 500 }),
        })
      }
    }
  }
  if (random.chance(0.4)) add(random.pick(['string', 'long', 'date', 'uuid'] as const), { unique: true })
  if (random.chance(0.7)) {
    add(
      'object',
      random.chance(0.6)
        ? {
            properties: {
              code: { type: 'string', indexed: random.chance(0.5) },
              'deep.size': { type: 'number', indexed: random.chance(0.5) },
              flag: { type: 'bool', indexed: random.chance(0.5) },
              'list.length': { type: 'long', indexed: random.chance(0.5) },
            },
          }
        : {},
    )
  }
  if (random.chance(0.2)) add('blob')
  if (random.chance(0.3)) attributes.push({ kind: 'storage', name: 'secret', type: 'string', scope: 'private' })
  return { name, key: 'id', attributes }
}

function addRelation(random: Random, from: ClassSpec, to: ClassSpec, n: number): void {
  const foreignKey = `ref${n}`
  from.attributes.push({ kind: 'storage', name: foreignKey, type: storageOf(to, to.key).type })
  const inverse = random.chance(0.85) ? `many${n}` : undefined
  const onDelete = random.pick(['restrict', 'setNull', 'setNull', 'cascade'] as const)
  from.attributes.push({ kind: 'relatedEntity', name: `one${n}`, target: to.name, foreignKey, inverse, onDelete })
  if (inverse) to.attributes.push({ kind: 'relatedEntities', name: inverse, target: from.name, inverse: `one${n}` })
}

/** Adds an alias of an attribute here or beyond relations, of a relation, or of another alias. */
function addAlias(random: Random, world: World, spec: ClassSpec, name: string): void {
  const path: string[] = []
  let at = spec
  let isMany = false
  for (let depth = random.integer(0, 2); depth > 0; depth--) {
    const relations = at.attributes.filter(
      (each): each is OneSpec | ManySpec =>
        each.kind === 'relatedEntity' || (each.kind === 'relatedEntities' && random.chance(0.3)),
    )
    if (relations.length === 0) break
    const relation = random.pick(relations)
    path.push(relation.name)
    isMany ||= relation.kind === 'relatedEntities'
    at = classOf(world, relation.target)
  }
  // Through 1→N relations an alias can only name a relation.
  const ends = at.attributes.filter(each =>
    each.kind === 'storage'
      ? !isMany && each.scope === undefined && each.type !== 'blob'
      : each.kind === 'alias' && !isMany && isSingle(world, at, each),
  )
  if (path.length === 0 || (ends.length > 0 && random.chance(0.8))) path.push(random.pick(ends).name)
  const alias: AliasSpec = { kind: 'alias', name, path }
  spec.attributes.push(alias)
}

const isSingle = (world: World, spec: ClassSpec, alias: AliasSpec): boolean => {
  const { relations, attribute } = follow(world, spec, [alias])
  return [attribute, ...relations.map(({ relation }) => relation)].every(({ kind }) => kind !== 'relatedEntities')
}

/** Pools of values for the rows of a world, so that values recur. */
export type Pools = Map<StorageSpec, Plain[]>

export function randomPools(random: Random, world: World, rows: number): Pools {
  const pools: Pools = new Map()
  for (const { spec } of world.classes.values()) {
    for (const attribute of spec.attributes) {
      if (attribute.kind === 'storage' && attribute.type !== 'object' && attribute.type !== 'blob')
        pools.set(attribute, poolOf(random, attribute, rows))
    }
  }
  return pools
}

/** Values of a new row; keys and unique values are new, references lead to rows that exist. */
export function randomRow(random: Random, world: World, spec: ClassSpec, pools: Pools): Map<string, Plain> {
  const values = new Map<string, Plain>()
  for (const attribute of spec.attributes) {
    if (attribute.kind === 'storage') values.set(attribute.name, randomValue(random, world, spec, attribute, pools))
  }
  return values
}

export function randomValue(
  random: Random,
  world: World,
  spec: ClassSpec,
  attribute: StorageSpec,
  pools: Pools,
): Plain {
  const isKey = attribute.name === spec.key
  const relation = spec.attributes.find(
    (each): each is OneSpec => each.kind === 'relatedEntity' && each.foreignKey === attribute.name,
  )
  if (relation) {
    const targets = rowsOf(world, relation.target)
    return targets.length === 0 || random.chance(0.25)
      ? null
      : keyOf(classOf(world, relation.target), random.pick(targets))
  }
  if (isKey) return freshKey(random, world, spec, attribute)
  if (!attribute.mandatory && random.chance(0.15)) return null
  if (attribute.type === 'object') return jsonObject(random)
  if (attribute.type === 'blob') return random.chance(0.7) ? true : null
  const value = random.pick(pools.get(attribute)!)
  return attribute.unique && rowsOf(world, spec.name).some(row => isSame(row.values.get(attribute.name)!, value))
    ? null
    : value
}

const isSame = (a: Plain, b: Plain): boolean =>
  typeof a === 'string' && typeof b === 'string' ? fold(a) === fold(b) : a === b

function freshKey(random: Random, world: World, spec: ClassSpec, attribute: StorageSpec): Plain {
  const taken = (key: Plain) => rowsOf(world, spec.name).some(row => isSame(keyOf(spec, row), key))
  for (let attempt = 0; ; attempt++) {
    const key =
      attribute.type === 'long'
        ? // Never a number that the store may give to another entity of the same request.
          random.integer(-5, attribute.autoFill ? 1_000_000_000 : 200)
        : attribute.type === 'uuid'
          ? uuid(random.integer(0, 5_000))
          : attempt === 0
            ? random.pick(TEXTS).slice(0, 30)
            : `key ${random.integer(0, 5_000)}`
    if (key !== '' && !taken(key)) return key
  }
}

/** The body with which a client would save values. Numbers beyond 2^53 are texts, so that they arrive exactly. */
export function bodyOf(spec: ClassSpec, values: Iterable<readonly [string, Plain]>): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const [name, value] of values) body[name] = wireOf(attributeOf(spec, name) as StorageSpec, value)
  return body
}

function wireOf({ type, simpleDate }: StorageSpec, value: Plain): unknown {
  if (value === null) return null
  if (type === 'date') return new Date(value as number).toISOString().slice(0, simpleDate ? 10 : undefined)
  if (type === 'long64') return String(value)
  if (type === 'blob') return 'data:application/octet-stream;base64,AAECAw=='
  return value
}
