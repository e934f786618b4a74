/**
 * A data store as plain objects, and the meaning of its relations: the basis of the reference evaluator. It shares
 * nothing with the engine except the texts that both implement.
 */
import { fold } from './compare.ts'

export type ScalarType =
  | 'bool'
  | 'byte'
  | 'word'
  | 'long'
  | 'long64'
  | 'number'
  | 'float'
  | 'date'
  | 'duration'
  | 'string'
  | 'uuid'

export interface StorageSpec {
  kind: 'storage'
  name: string
  type: ScalarType | 'object' | 'blob'
  scope?: 'private'
  simpleDate?: boolean
  indexed?: boolean
  unique?: boolean
  mandatory?: boolean
  autoFill?: 'increment' | 'uuid'
  minValue?: number
  maxLength?: number
  properties?: Record<string, { type: ScalarType; indexed: boolean }>
  /** Column of a table, if it has another name. */
  column?: string
}
export interface OneSpec {
  kind: 'relatedEntity'
  name: string
  target: string
  foreignKey: string
  inverse: string | undefined
  onDelete: 'restrict' | 'setNull' | 'cascade'
}
export interface ManySpec {
  kind: 'relatedEntities'
  name: string
  target: string
  inverse: string
}
export interface AliasSpec {
  kind: 'alias'
  name: string
  path: string[]
}
export type AttributeSpec = StorageSpec | OneSpec | ManySpec | AliasSpec

export interface ClassSpec {
  name: string
  key: string
  attributes: AttributeSpec[]
  /** Table of a dataclass whose entities are in a database; its rows are in the order of their keys. */
  storage?: { postgres: string; schema: string; table: string; stamp: string }
}

/** Numbers for dates and durations (ms), bigint for long64, `true` for a stored blob. */
export type Plain =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly unknown[]
  | { readonly [name: string]: unknown }

export interface Row {
  /** Order of creation in its dataclass. */
  id: number
  stamp: number
  values: Map<string, Plain>
}

export interface World {
  classes: Map<string, { spec: ClassSpec; rows: Row[]; nextId: number }>
}

export const classOf = (world: World, name: string): ClassSpec => world.classes.get(name)!.spec
export const rowsOf = (world: World, name: string): Row[] => world.classes.get(name)!.rows
export function attributeOf(spec: ClassSpec, name: string): AttributeSpec {
  if (name === '__KEY') return attributeOf(spec, spec.key)
  return name === '__STAMP' ? STAMP : spec.attributes.find(each => each.name === name)!
}
const STAMP: StorageSpec = { kind: 'storage', name: '__STAMP', type: 'long' }
export const storageOf = (spec: ClassSpec, name: string): StorageSpec => attributeOf(spec, name) as StorageSpec
export const valueIn = (row: Row, name: string): Plain =>
  name === STAMP.name ? row.stamp : (row.values.get(name) ?? null)
export const keyOf = (spec: ClassSpec, row: Row): Plain => valueIn(row, spec.key)
/** `__KEY` as it is sent. */
export const keyText = (spec: ClassSpec, row: Row): string => String(keyOf(spec, row))

/** True if two keys name the same entity: texts by their folds, those of a database exactly. */
function sameKey(a: Plain, b: Plain, isExact: boolean): boolean {
  if (a === null || b === null) return false
  if (!isExact && typeof a === 'string' && typeof b === 'string') return fold(a) === fold(b)
  return !((a as number) < (b as number) || (a as number) > (b as number))
}

/** The entity at the end of a N→1 relation, or undefined. */
export function relatedEntity(world: World, relation: OneSpec, row: Row): Row | undefined {
  const target = classOf(world, relation.target)
  const foreignKey = valueIn(row, relation.foreignKey)
  const isExact = target.storage !== undefined
  return rowsOf(world, relation.target).find(candidate => sameKey(keyOf(target, candidate), foreignKey, isExact))
}

/** The entities at the end of a 1→N relation of `owner`, in order of creation. */
export function relatedEntities(world: World, owner: ClassSpec, relation: ManySpec, row: Row): Row[] {
  const inverse = attributeOf(classOf(world, relation.target), relation.inverse) as OneSpec
  const key = keyOf(owner, row)
  const isExact = owner.storage !== undefined
  return rowsOf(world, relation.target).filter(candidate =>
    sameKey(valueIn(candidate, inverse.foreignKey), key, isExact),
  )
}

export interface Followed<Step> {
  /** Relations on the path, with aliases resolved, and the step that named each. */
  relations: { relation: OneSpec | ManySpec; step: Step | undefined }[]
  /** Dataclass of the attribute. */
  dataClass: ClassSpec
  attribute: StorageSpec | OneSpec | ManySpec
  /** Steps after a storage attribute: into its object. */
  properties: Step[]
}

/** Resolves a path. A relation at its end is the attribute that it means. */
export function follow<Step extends { name: string }>(
  world: World,
  from: ClassSpec,
  path: readonly Step[],
): Followed<Step> {
  const pending: { name: string; step: Step | undefined }[] = path.map(step => ({ name: step.name, step }))
  const relations: Followed<Step>['relations'] = []
  for (let dataClass = from; ; ) {
    const { name, step } = pending.shift()!
    const attribute = attributeOf(dataClass, name)
    if (attribute.kind === 'alias') {
      // An index after an alias belongs to the last relation of that alias.
      pending.unshift(
        ...attribute.path.map((name, i) => ({ name, step: i === attribute.path.length - 1 ? step : undefined })),
      )
    } else if (attribute.kind === 'storage' || pending.length === 0) {
      return { relations, dataClass, attribute, properties: pending.map(({ step }) => step!) }
    } else {
      relations.push({ relation: attribute, step })
      dataClass = classOf(world, attribute.target)
    }
  }
}

/** The model file of a world. */
export function modelOf(world: World): object {
  const dataClasses: Record<string, object> = {}
  for (const { spec } of world.classes.values()) {
    const attributes: Record<string, object> = {}
    for (const attribute of spec.attributes) attributes[attribute.name] = attributeModel(attribute)
    const { key, storage } = spec
    dataClasses[spec.name] = { key, ...(storage && { storage }), attributes }
  }
  return { name: 'world', dataClasses }
}

function attributeModel(attribute: AttributeSpec): object {
  switch (attribute.kind) {
    case 'relatedEntity': {
      const { kind, target: type, foreignKey, inverse: inverseName, onDelete } = attribute
      return { kind, type, foreignKey, onDelete, ...(inverseName !== undefined && { inverseName }) }
    }
    case 'relatedEntities':
      return { kind: attribute.kind, type: attribute.target, inverseName: attribute.inverse }
    case 'alias':
      return { kind: attribute.kind, path: attribute.path.join('.') }
    case 'storage': {
      const { kind: _kind, name: _name, ...options } = attribute
      return options
    }
  }
}
