import type {
  AliasAttribute,
  Attribute,
  RelatedEntitiesAttribute,
  RelatedEntityAttribute,
  StorageAttribute,
} from '../catalog/attribute.ts'
import type { Cell } from '../query/execute/cell-reader.ts'
import { Rows } from '../query/execute/rows.ts'
import { RowSet } from '../row-set/row-set.ts'
import { WriteErrors } from '../write/write-errors.ts'
import type { Binding } from './binding.ts'
import { EntityBase, internals } from './entity.ts'
import { SelectionBase } from './entity-selection.ts'
import { LanguageErrors } from './language-errors.ts'
import type { NumberReader } from './reading.ts'
import { fromAuthor, rowReader, toAuthor } from './values.ts'

interface Accessor {
  get(this: EntityBase): unknown
  set(this: EntityBase, value: unknown): void
}

/** Gives the prototype of an entity class its attributes. What an author's class has under the same name stays. */
export function defineAttributes(prototype: EntityBase, binding: Binding): void {
  for (const attribute of binding.dataClass.attributes) {
    const { name } = attribute
    const own = accessorIn(prototype, name)
    if (!own && name in prototype) continue
    const accessor = guarded(own ?? accessorOf(attribute, binding), attribute, binding)
    Object.defineProperty(prototype, name, { ...accessor, enumerable: own?.enumerable ?? true })
  }
}

/** That of an author's class. */
function accessorIn(prototype: object, name: string): PropertyDescriptor | undefined {
  for (let owner: object | null = prototype; owner; owner = Object.getPrototypeOf(owner) as object | null) {
    const property = Object.getOwnPropertyDescriptor(owner, name)
    if (property) return property.get ? property : undefined
  }
  return undefined
}

/**
 * What may not be read is not there. What is computed, and what an alias leads to, can be read whatever it is made of.
 */
function guarded({ get, set }: PropertyDescriptor, attribute: Attribute, { language }: Binding): PropertyDescriptor {
  return {
    get(this: EntityBase) {
      if (!language.isBound) return get!.call(this) as unknown
      if (language.hides(attribute)) return undefined
      return isMade(attribute) ? language.withOwnRights(() => get!.call(this) as unknown) : (get!.call(this) as unknown)
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
        const assigned = internals.assigned(this, attribute)
        if (assigned !== undefined) return assigned
        const row = internals.row(this)
        return internals.object(this, attribute, () => (row ? read(row) : null))
      },
      set,
    }
  }
  const isBool = attribute.type === 'bool'
  if (isBool || NUMERIC.has(attribute.type)) {
    const ofCell = isBool ? boolOfCell : numberOfCell
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
      const assigned = internals.assigned(this, attribute)
      if (assigned !== undefined) return toAuthor(attribute, assigned)
      const row = internals.row(this)
      return row ? read(row) : null
    },
    set,
  }
}

const NUMERIC = new Set(['byte', 'word', 'long', 'long64', 'number', 'float', 'duration'])

const numberOfCell = (cell: Cell): unknown => cell ?? null
const boolOfCell = (cell: Cell): unknown => (cell === undefined ? null : cell === 1)

function binaryGetter(attribute: StorageAttribute, { language, dataClass }: Binding): (this: EntityBase) => unknown {
  return function () {
    const assigned = internals.assigned(this, attribute)
    if (assigned !== undefined) return assigned
    const rowId = internals.rowId(this)
    // There is a value: only then is it worth looking.
    if (rowId === undefined || internals.row(this)!.value(attribute) === null) return null
    const binary = language.snapshot.table(dataClass).binary(rowId, attribute)
    // Its bytes are the store's until the next read.
    return binary ? { mediaType: binary.mediaType, bytes: binary.bytes.slice() } : null
  }
}

function relatedEntityAccessor(relation: RelatedEntityAttribute, { language, layout }: Binding): Accessor {
  const { foreignKey, target, name } = relation
  const index = layout.referenceOf.get(relation)!
  const bindingOf = () => language.bindings.get(target)!
  const rowIdOf = (entity: EntityBase): number | undefined => {
    const key = internals.assigned(entity, foreignKey)
    if (key === undefined) return internals.row(entity)?.reference(index)
    return key === null ? undefined : language.snapshot.table(target).findKey(key)
  }
  return {
    get() {
      return internals.related(this, relation, () => {
        const rowId = rowIdOf(this)
        const isThere = rowId !== undefined && !language.snapshot.table(target).hidden?.has(rowId)
        return isThere ? bindingOf().entity(rowId) : null
      })
    },
    set(value) {
      const related = value ?? null
      const isFitting = related === null || (isEntityOf(related, bindingOf()) && !related.isNew())
      if (!isFitting) throw LanguageErrors.WRONG_ENTITY(name, nameOf(related), target.name)
      internals.setRelated(this, relation, related as EntityBase | null)
    },
  }
}

const isEntityOf = (value: unknown, binding: Binding): value is EntityBase =>
  value instanceof EntityBase && value.getDataClass() === binding.instance

const nameOf = (value: unknown): string =>
  value instanceof EntityBase ? `an entity of ${value.constructor.name}` : typeof value

function relatedEntitiesAccessor({ target, inverse, name }: RelatedEntitiesAttribute, { language }: Binding): Accessor {
  return {
    get() {
      const rowId = internals.rowId(this)
      const table = language.snapshot.table(target)
      const rows = rowId === undefined ? RowSet.empty : RowSet.fromSorted(table.referencing(inverse, rowId).slice())
      return language.bindings.get(target)!.selection(Rows.ofSet(rows))
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
 * What a path leads to from an entity, a selection or an object: null where it ends too early; over a 1→N relation a
 * selection, or the values of all its entities.
 */
export function valueAt(from: unknown, names: readonly string[]): unknown {
  let value = from
  for (const [i, name] of names.entries()) {
    if (value === null || typeof value !== 'object') return null
    if (value instanceof SelectionBase) return value.valuesAt(names.slice(i))
    // Objects of the data have properties of their own only.
    value = value instanceof EntityBase || Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : null
  }
  return value ?? null
}
