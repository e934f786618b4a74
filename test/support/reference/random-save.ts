/**
 * Elements of a save as clients send them, valid and invalid, each with the expected outcome. Making a valid one changes the
 * world. Source: base specification, 4.4 and 7; protocol notes, 5.1, 5.2, 5.9 and 5.10.
 */
import { addRow } from './changes.ts'
import { projectPage } from './project.ts'
import { fold } from './compare.ts'
import type { Random } from '../base/random.ts'
import { bodyOf, type Pools, randomRow, randomValue } from './random-world.ts'
import {
  type AttributeSpec,
  type ClassSpec,
  classOf,
  follow,
  keyOf,
  keyText,
  type OneSpec,
  type Plain,
  type Row,
  rowsOf,
  type StorageSpec,
  valueIn,
  type World,
} from './world.ts'

export interface SaveElement {
  body: Record<string, unknown>
  /** Kind of save, for the report. */
  kind: string
  /** Entity in the answer; none if an insertion fails. If the server makes its key, that is unknown until then. */
  row: Row | undefined
  hasNewKey: boolean
  /** Possible codes of the first entry of `__ERROR`; undefined if the element is saved. */
  errors: number[] | undefined
}

const STALE = [1263]

/** @param used rows that the same request has touched: what is answered for those would depend on timing */
export function randomSave(random: Random, world: World, spec: ClassSpec, pools: Pools, used: Set<Row>): SaveElement {
  const rows = rowsOf(world, spec.name).filter(each => !used.has(each))
  const row = rows.length === 0 || random.chance(0.25) ? undefined : random.pick(rows)
  const fault = random.chance(0.35) ? randomFault(random, world, spec, row) : undefined
  const element = row
    ? randomUpdate(random, world, spec, pools, row, fault)
    : randomInsertion(random, world, spec, pools, fault)
  if (element.row) used.add(element.row)
  return element
}

function randomUpdate(
  random: Random,
  world: World,
  spec: ClassSpec,
  pools: Pools,
  row: Row,
  fault: Fault | undefined,
): SaveElement {
  const base = { row, hasNewKey: false }
  const identity = { __KEY: random.chance(0.3) ? jsonKey(keyOf(spec, row)) : keyText(spec, row), __STAMP: row.stamp }
  const values = changedValues(random, world, spec, pools, row)
  const changes = { ...bodyOf(spec, values), ...inOtherWords(random, world, spec, values) }
  if (random.chance(0.08))
    return {
      ...base,
      kind: 'stale',
      body: { ...identity, __STAMP: row.stamp + random.pick([-1, 1, 7]), ...changes },
      errors: STALE,
    }
  if (random.chance(0.04))
    return { ...base, kind: 'no stamp', body: { __KEY: identity.__KEY, ...changes }, errors: STALE }
  if (random.chance(0.04))
    return {
      ...base,
      row: undefined,
      kind: 'unknown key',
      body: { ...identity, __KEY: unknownKey(spec), ...changes },
      errors: [1542, 1543],
    }
  if (random.chance(0.04))
    return { ...base, kind: 'other key', body: { ...identity, [spec.key]: unknownKey(spec) }, errors: [1516] }
  if (fault)
    return {
      ...base,
      kind: fault.kind,
      body: { ...identity, ...bodyOf(spec, values), ...fault.body },
      errors: fault.errors,
    }
  if (random.chance(0.1)) {
    const same = spec.attributes.filter(
      (each): each is StorageSpec => each.kind === 'storage' && each.scope === undefined && each.type !== 'blob',
    )
    const stored = same.map(({ name }): [string, Plain] => [name, valueIn(row, name)])
    return { ...base, kind: 'same values', body: { ...identity, ...bodyOf(spec, stored) }, errors: undefined }
  }
  if (random.chance(0.1)) return wholeEntity(random, world, spec, pools, row)
  if (values.some(([name, value]) => JSON.stringify(plain(valueIn(row, name))) !== JSON.stringify(plain(value))))
    row.stamp++
  for (const [name, value] of values) row.values.set(name, value)
  return { ...base, kind: 'update', body: { ...identity, ...changes }, errors: undefined }
}

/** The whole entity as read, with one change: its links and aliases are not changes. */
function wholeEntity(random: Random, world: World, spec: ClassSpec, pools: Pools, row: Row): SaveElement {
  const wanted = { form: 'entity', from: 'path', listed: undefined, expanded: new Map() } as const
  const body = projectPage(world, spec, [row], 1, 0, wanted) as Record<string, unknown>
  const meant = new Map(spec.attributes.map(each => [each.name, follow(world, spec, [each])]))
  // A number beyond 2^53 does not survive a client that reads it as a double.
  for (const [name, { attribute }] of meant)
    if (attribute.kind === 'storage' && attribute.type === 'long64') delete body[name]
  const isFree = ({ kind, name }: AttributeSpec): boolean =>
    kind === 'storage' &&
    name in body &&
    name !== spec.key &&
    !spec.attributes.some(each => each.kind === 'relatedEntity' && each.foreignKey === name) &&
    !spec.attributes.some(each => each.kind === 'alias' && meant.get(each.name)!.attribute.name === name)
  const free = spec.attributes.filter(isFree) as StorageSpec[]
  const plainOnes = free.filter(({ type }) => type !== 'blob')
  if (plainOnes.length > 0) {
    const attribute = random.pick(plainOnes)
    const value = randomValue(random, world, spec, attribute, pools)
    Object.assign(body, bodyOf(spec, [[attribute.name, value]]))
    if (JSON.stringify(valueIn(row, attribute.name)) !== JSON.stringify(value)) row.stamp++
    row.values.set(attribute.name, value)
  }
  return { row, hasNewKey: false, kind: 'whole entity', body, errors: undefined }
}

function randomInsertion(
  random: Random,
  world: World,
  spec: ClassSpec,
  pools: Pools,
  fault: Fault | undefined,
): SaveElement {
  const values = randomRow(random, world, spec, pools)
  for (const attribute of spec.attributes) {
    if (attribute.kind === 'storage' && (attribute.scope || attribute.type === 'blob')) values.delete(attribute.name)
  }
  const failed = { row: undefined, hasNewKey: false }
  const { autoFill } = spec.attributes[0] as StorageSpec
  const body = () => ({ ...bodyOf(spec, values), ...inOtherWords(random, world, spec, [...values]) })
  // Keys that the server makes are unknown until it has answered.
  const existing = rowsOf(world, spec.name).filter(each => keyOf(spec, each) !== null)
  if (existing.length > 0 && random.chance(0.1)) {
    values.set(spec.key, keyOf(spec, random.pick(existing)))
    return { ...failed, kind: 'existing key', body: body(), errors: [1545, 1115] }
  }
  const withoutKey = random.chance(0.3)
  if (withoutKey) values.delete(spec.key)
  if (withoutKey && !autoFill) return { ...failed, kind: 'no key', body: body(), errors: [1546] }
  if (fault)
    return { ...failed, kind: fault.kind, body: { ...bodyOf(spec, values), ...fault.body }, errors: fault.errors }
  const sent = body()
  return { kind: 'insert', body: sent, row: addRow(world, spec.name, values), hasNewKey: withoutKey, errors: undefined }
}

function changedValues(random: Random, world: World, spec: ClassSpec, pools: Pools, row: Row): [string, Plain][] {
  const candidates = spec.attributes.filter(
    (each): each is StorageSpec => each.kind === 'storage' && each.name !== spec.key && !each.scope,
  )
  return random
    .some(candidates, 0.25)
    .map((attribute): [string, Plain] => [
      attribute.name,
      attribute.type === 'blob' ? null : randomValue(random, world, spec, attribute, pools),
    ])
    .filter(
      ([name, value]) =>
        !(isMandatory(spec, name) && value === null) && (value === null || valueIn(row, name) !== undefined),
    )
}

const isMandatory = (spec: ClassSpec, name: string): boolean =>
  spec.attributes.some(each => each.kind === 'storage' && each.name === name && each.mandatory)

/** Gives a reference by its relation instead of its foreign key or in addition to it, and any value by an alias. */
function inOtherWords(
  random: Random,
  world: World,
  spec: ClassSpec,
  values: [string, Plain][],
): Record<string, unknown> {
  const body: Record<string, unknown> = {}
  for (const relation of spec.attributes) {
    if (relation.kind === 'alias') {
      const { relations, attribute } = follow(world, spec, [relation])
      const value = values.find(([name]) => name === attribute.name)
      // A foreign key already has its relation as another name; an attribute has at most one other name.
      const isForeignKey = spec.attributes.some(
        each => each.kind === 'relatedEntity' && each.foreignKey === attribute.name,
      )
      if (!value || attribute.kind !== 'storage' || relations.length > 0 || isForeignKey || attribute.name === spec.key)
        continue
      if (attribute.name in body || random.chance(0.5)) continue
      body[relation.name] = bodyOf(spec, [value])[attribute.name]
      body[attribute.name] = undefined
    }
    if (relation.kind !== 'relatedEntity') continue
    const value = values.find(([name]) => name === relation.foreignKey)
    if (!value || random.chance(0.5)) continue
    const key = value[1]
    const text = String(key)
    body[relation.name] =
      key === null
        ? null
        : random.pick([
            jsonKey(key),
            text,
            { __KEY: text },
            { __KEY: jsonKey(key) },
            { __deferred: { uri: `/rest/${relation.target}(${text})`, __KEY: text } },
          ])
    if (random.chance(0.6)) body[relation.foreignKey] = undefined
  }
  return body
}

interface Fault {
  kind: string
  body: Record<string, unknown>
  errors: number[]
}

/** Puts one fault into an entity, if the dataclass has an attribute for it. */
function randomFault(random: Random, world: World, spec: ClassSpec, row: Row | undefined): Fault | undefined {
  const storage = spec.attributes.filter(
    (each): each is StorageSpec => each.kind === 'storage' && each.name !== spec.key && !each.scope,
  )
  const references = spec.attributes.filter((each): each is OneSpec => each.kind === 'relatedEntity')
  const foreignKeys = new Set(references.map(({ foreignKey }) => foreignKey))
  const own = storage.filter(({ name }) => !foreignKeys.has(name))
  const typed = own.filter(({ type }) => WRONG.has(type))
  const faults: Fault[] = [{ kind: 'unknown attribute', body: { nothing: 1 }, errors: [1500] }]
  if (typed.length > 0) {
    const { name, type } = random.pick(typed)
    faults.push({ kind: 'wrong type', body: { [name]: random.pick(WRONG.get(type)!) }, errors: [1508, 1574] })
  }
  for (const { name } of own.filter(({ mandatory }) => mandatory))
    faults.push({ kind: 'mandatory', body: { [name]: null }, errors: [1116] })
  for (const { name } of own.filter(({ minValue }) => minValue !== undefined))
    faults.push({ kind: 'too small', body: { [name]: -1 }, errors: [1568] })
  for (const { name } of own.filter(({ maxLength }) => maxLength))
    faults.push({ kind: 'too long', body: { [name]: 'x'.repeat(501) }, errors: [1592, 1593] })
  for (const { name } of own.filter(({ unique }) => unique)) {
    const taken = rowsOf(world, spec.name).filter(each => each !== row && valueIn(each, name) !== null)
    if (taken.length === 0) continue
    const body = bodyOf(spec, [[name, valueIn(random.pick(taken), name)]])
    const value = body[name]
    // ß becomes SS, which has another fold.
    const same = typeof value === 'string' && fold(value.toUpperCase()) === fold(value) ? value.toUpperCase() : value
    faults.push({ kind: 'taken', body: { [name]: same }, errors: [1115] })
  }
  if (spec.attributes.some(each => each.kind === 'storage' && each.scope))
    faults.push({ kind: 'private', body: { secret: 'x' }, errors: [1500] })
  for (const relation of references) {
    const key = unknownKey(classOf(world, relation.target))
    faults.push({
      kind: 'dangling key',
      body: { [relation.foreignKey]: key, [relation.name]: undefined },
      errors: [1155],
    })
    faults.push({
      kind: 'dangling relation',
      body: { [relation.name]: { __KEY: key }, [relation.foreignKey]: undefined },
      errors: [1542],
    })
  }
  return random.pick(faults)
}

const WRONG = new Map<string, unknown[]>([
  ['long', ['abc', 1.5, [1], 2 ** 40]],
  ['byte', ['abc', 100_000]],
  ['long64', ['abc', '99999999999999999999']],
  ['number', ['abc', { a: 1 }]],
  ['bool', ['maybe', 7]],
  ['date', ['yesterday', '2021-02-29', { a: 1 }]],
  ['uuid', ['xyz', 'ABC']],
  ['duration', ['soon', [1]]],
  ['string', [{ a: 1 }]],
])

const jsonKey = (key: Plain): unknown => (typeof key === 'bigint' ? Number(key) : key)

/** A key that no entity has. */
function unknownKey(spec: ClassSpec): string | number {
  const { type } = spec.attributes[0] as StorageSpec
  return type === 'long' ? 1_999_999_999 : type === 'uuid' ? 'F'.repeat(32) : 'nobody has this key'
}

const plain = (value: Plain): unknown => (typeof value === 'bigint' ? `${value}n` : value)
