import type {
  AliasAttribute,
  Attribute,
  RelatedEntitiesAttribute,
  RelatedEntityAttribute,
  StorageAttribute,
} from '../../catalog/attribute.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { Value } from '../../catalog/value.ts'
import type { Cell } from '../../query/scan/cell-reader.ts'
import { rowExists } from '../../data/existing.ts'
import { referenceOf, referencingOf } from '../../data/reference-of.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import { type Binding, isEntity, isSelection } from './binding.ts'
import type { EntityBase } from './entity.ts'
import { internals } from './entity-internals.ts'
import { UsageErrors } from '../declare/usage-error.ts'
import { membersOf } from '../declare/members.ts'
import type { NumberReader } from './reading.ts'
import { type CodePlace, placeOf } from '../declare/code-place.ts'
import { runAs } from '../declare/running-code.ts'
import { fromAuthor, rowReader, toAuthor } from './values.ts'

interface Accessor {
  get(this: EntityBase): unknown
  set(this: EntityBase, value: unknown): void
}

/** Defines the attributes on the prototype of an entity class. Members of the plugin class with the same name stay. */
export function defineAttributes(prototype: EntityBase, binding: Binding): void {
  const authorClass = prototype.constructor
  const membersByName = new Map(membersOf(authorClass).map(member => [member.name, member]))
  for (const attribute of binding.dataClass.attributes) {
    const { name } = attribute
    const ownAccessor = accessorIn(prototype, name)
    if (!ownAccessor && name in prototype) continue
    const member = ownAccessor && membersByName.get(name)
    const code = member ? accessorAt(ownAccessor, placeOf(member, authorClass.name)) : ownAccessor
    // A stored value is the same for every caller.
    const isUnrestricted = member?.kind === 'calculated' && (member.unrestricted || member.stored)
    const seeing = code && isUnrestricted ? seeingAll(code, binding) : code
    const accessor = guardedDescriptor(seeing ?? accessorOf(attribute, binding), attribute, binding)
    Object.defineProperty(prototype, name, { ...accessor, enumerable: ownAccessor?.enumerable ?? true })
  }
}

/** Accessor with this name in the plugin class. */
function accessorIn(prototype: object, name: string): PropertyDescriptor | undefined {
  for (let owner: object | null = prototype; owner; owner = Object.getPrototypeOf(owner) as object | null) {
    const property = Object.getOwnPropertyDescriptor(owner, name)
    if (property) return property.get ? property : undefined
  }
  return undefined
}

/** Accessor of a plugin class that runs with its place for errors and log lines. */
const accessorAt = ({ get, set }: PropertyDescriptor, place: CodePlace): PropertyDescriptor => ({
  get(this: EntityBase) {
    return runAs(place, () => get!.call(this) as unknown)
  },
  set:
    set &&
    function (this: EntityBase, value: unknown) {
      runAs(place, () => set.call(this, value))
    },
})

/** A getter that reads what restrict events hide from the caller. */
const seeingAll = ({ get, set }: PropertyDescriptor, { codeSession }: Binding): PropertyDescriptor => ({
  get(this: EntityBase) {
    return codeSession.scope.seeingAll(() => get!.call(this) as unknown)
  },
  set,
})

/** Hides unreadable attributes. Computed attributes and aliases can be read even when their sources cannot. */
function guardedDescriptor(
  { get, set }: PropertyDescriptor,
  attribute: Attribute,
  { codeSession }: Binding,
): PropertyDescriptor {
  return {
    get(this: EntityBase) {
      if (!codeSession.scope.hasCallerRights) return get!.call(this) as unknown
      if (codeSession.scope.hides(attribute)) return undefined
      return isMade(attribute)
        ? codeSession.scope.withOwnRights(() => get!.call(this) as unknown)
        : (get!.call(this) as unknown)
    },
    set,
  }
}

const isMade = (attribute: Attribute): boolean =>
  attribute.kind === 'alias' ||
  attribute.kind === 'calculated' ||
  (attribute.kind === 'storage' && !!attribute.calculation)

function accessorOf(attribute: Attribute, binding: Binding): Accessor {
  switch (attribute.kind) {
    case 'storage':
      return storageAccessor(attribute, binding)
    case 'relatedEntity':
      return relatedEntityAccessor(attribute, binding)
    case 'relatedEntities':
      return relatedEntitiesAccessor(attribute, binding)
    case 'alias':
      return aliasAccessor(attribute)
    case 'calculated':
      return { get: () => null, set: readOnly(attribute.name, 'it is calculated, without code to set it') }
  }
}

const readOnly = (name: string, reason: string) => (): never => {
  throw WriteErrors.NOT_MODIFIABLE(name, reason)
}

function storageAccessor(attribute: StorageAttribute, binding: Binding): Accessor {
  const set = function (this: EntityBase, value: unknown): void {
    internals.assign(this, attribute, fromAuthor(attribute, value))
  }
  if (attribute.type === 'image' || attribute.type === 'blob') return { get: binaryGetter(attribute, binding), set }
  const slot = binding.layout.slotOf.get(attribute)!
  const read = rowReader(attribute, binding.layout)
  if (attribute.type === 'object' || attribute.type === 'vector') {
    return {
      get() {
        const assignedValue = internals.assigned(this, attribute)
        if (assignedValue !== undefined) return assignedValue
        const row = internals.row(this)
        return internals.object(this, attribute, () => (row ? read(row) : null))
      },
      set,
    }
  }
  const { cell, toCode } = TYPES[attribute.type]
  if (cell === 'bit' || cell === 'double' || cell === 'integer') {
    const ofCell = (value: Cell): unknown =>
      value === undefined ? null : cell === 'bit' ? value === 1 : toCode(value as number | bigint, attribute)
    const reader: NumberReader = { attribute, slot, ofRow: read, ofCell }
    return {
      get() {
        return internals.number(this, reader)
      },
      set,
    }
  }
  return {
    get() {
      const assignedValue = internals.assigned(this, attribute)
      if (assignedValue !== undefined) return toAuthor(attribute, assignedValue)
      const row = internals.row(this)
      return row ? read(row) : null
    },
    set,
  }
}

function binaryGetter(attribute: StorageAttribute, { codeSession, dataClass }: Binding): (this: EntityBase) => unknown {
  return function () {
    const assignedValue = internals.assigned(this, attribute)
    if (assignedValue !== undefined) return assignedValue
    const rowId = internals.rowId(this)
    // Without a value there is nothing to look up.
    if (rowId === undefined || internals.row(this)!.value(attribute) === null) return null
    const binary = codeSession.snapshots.current.table(dataClass).binary(rowId, attribute)
    // The bytes belong to the store, and are valid only until the next read.
    return binary ? { mediaType: binary.mediaType, bytes: binary.bytes.slice() } : null
  }
}

function relatedEntityAccessor(relation: RelatedEntityAttribute, { codeSession, layout }: Binding): Accessor {
  const { foreignKey, target, name } = relation
  const index = layout.referenceOf.get(relation)!
  const bindingOf = () => codeSession.bindings.get(target)!
  const rowIdOf = (entity: EntityBase): number | undefined => {
    const row = internals.row(entity)
    const assignedValue = internals.assigned(entity, foreignKey)
    // The row of a new entity has the default, and no reference.
    const isDefault = assignedValue === undefined && entity.isNew()
    const key = isDefault ? (row?.value(foreignKey) as Value | undefined) : assignedValue
    if (key !== undefined) return key === null ? undefined : codeSession.snapshots.current.table(target).findKey(key)
    return row && referenceOf(row, index, codeSession.snapshots.current)
  }
  return {
    get() {
      return internals.relatedEntity(this, relation, () => {
        const rowId = rowIdOf(this)
        if (rowId === undefined) return null
        const table = codeSession.snapshots.current.table(target)
        if (table.rowsOnly) codeSession.snapshots.current.table(relation.dataClass).fetchReference?.(relation, rowId)
        return (table.isRestricted || table.rowsOnly) && !rowExists(table, rowId) ? null : bindingOf().entity(rowId)
      })
    },
    set(value) {
      const relatedEntity = value ?? null
      const isFitting = relatedEntity === null || (isEntityOf(relatedEntity, bindingOf()) && !relatedEntity.isNew())
      if (!isFitting) throw UsageErrors.wrongEntity(name, nameOf(relatedEntity), target.name)
      internals.setRelated(this, relation, relatedEntity as EntityBase | null)
    },
  }
}

const isEntityOf = (value: unknown, binding: Binding): value is EntityBase =>
  isEntity(value) && value.getDataClass() === binding.instance

const nameOf = (value: unknown): string => (isEntity(value) ? `an entity of ${value.constructor.name}` : typeof value)

function relatedEntitiesAccessor(
  { target, inverse, name }: RelatedEntitiesAttribute,
  { codeSession }: Binding,
): Accessor {
  return {
    get() {
      const rowId = internals.rowId(this)
      const rows =
        rowId === undefined
          ? RowSet.empty
          : RowSet.fromIds(referencingOf(inverse, rowId, codeSession.snapshots.current))
      return codeSession.bindings.get(target)!.selection(rows)
    },
    set: readOnly(name, `it follows from ${target.name}.${inverse.name}, change that`),
  }
}

function aliasAccessor({ relations, target, name, path }: AliasAttribute): Accessor {
  const names = [...relations, target].map(each => each.name)
  return {
    get() {
      return valueAt(this, names)
    },
    set(value) {
      if (relations.length > 0) throw WriteErrors.NOT_MODIFIABLE(name, `it is an alias, change ${path.join('.')}`)
      ;(this as unknown as Record<string, unknown>)[target.name] = value
    },
  }
}

/**
 * Value at the end of a path from an entity, a selection or an object; null if the path ends too early. Over a 1→N relation it is
 * a selection, or the values of all its entities.
 */
export function valueAt(from: unknown, names: readonly string[]): unknown {
  let value = from
  for (const [i, name] of names.entries()) {
    if (value === null || typeof value !== 'object') return null
    if (isSelection(value)) return value.valuesAt(names.slice(i))
    // Only own properties of data objects count as data.
    value = isEntity(value) || Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : null
  }
  return value ?? null
}
