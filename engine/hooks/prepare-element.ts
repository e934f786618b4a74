import type { Attribute, StorageAttribute, ValueAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import type { View } from '../catalog/view.ts'
import { ProtocolError } from '../errors.ts'
import type { Binding } from '../language/binding.ts'
import { valueAt } from '../language/attributes.ts'
import { EntityBase, internals } from '../language/entity.ts'
import { toJson } from '../language/values.ts'
import { convertValue } from '../write/convert.ts'
import { isJsonObject } from '../write/parse-body.ts'
import type { HookedElement } from '../write/requests.ts'
import { sameValue } from '../write/entity-change.ts'
import { linkedKey, own } from '../write/read-element.ts'
import { describe, saveFailure, WriteErrors } from '../write/write-errors.ts'
import { computedValue } from './computed-value.ts'
import { thrownFailure } from './hook-errors.ts'
import type { Hooks } from './hooks.ts'

/** What code has made of an element of a body before it is saved. */
export interface Prepared {
  readonly hooked: HookedElement
  readonly entity?: EntityBase
}

/** Stands for an entity that there is not, or that may not be seen. */
const UNSEEN = -1

export interface PrepareContext {
  readonly trusted: boolean
  /** What exists for the one who saves, and what may be done. */
  readonly view: View
  readonly binding: Binding
  readonly hooks: Hooks
}

/** Gives an element to the code that runs before its save; what is wrong with it is for the writer to say. */
export function prepareElement(element: unknown, context: PrepareContext): Prepared {
  // The writer says what is wrong with it.
  if (!isJsonObject(element)) return { hooked: { seen: UNSEEN, values: {}, unchanged: [] } }
  const { binding, hooks } = context
  const { dataClass } = binding
  // Nothing has been sent to the writer yet, and the other elements have nothing to do with it.
  try {
    return prepareEntity(element, context)
  } catch (thrown) {
    if (!(thrown instanceof ProtocolError)) hooks.onFault(thrown)
    const key = own(element, '__KEY') ?? null
    const consequence =
      key === null
        ? WriteErrors.NEW_ENTITY_NOT_SAVED(dataClass.name)
        : WriteErrors.ENTITY_NOT_SAVED(describe(key), dataClass.name)
    return {
      hooked: { seen: 0, values: {}, unchanged: [], failure: thrownFailure(thrown, dataClass.name, consequence) },
    }
  }
}

function prepareEntity(element: Record<string, unknown>, { trusted, view, binding, hooks }: PrepareContext): Prepared {
  const { dataClass } = binding
  const key = own(element, '__KEY') ?? null
  const action = key === null ? 'create' : 'update'
  // The writer refuses it: no code is to run for nothing.
  if (!view.may(action, dataClass) || (key !== null && !view.shows(dataClass))) {
    return { hooked: { seen: UNSEEN, values: {}, unchanged: [] } }
  }
  const entity = key === null ? binding.entity(undefined) : binding.instance.get(key)
  if (!entity) {
    const problem = WriteErrors.ENTITY_NOT_FOUND(describe(key), dataClass.name)
    const failure = saveFailure([problem], WriteErrors.ENTITY_NOT_SAVED(describe(key), dataClass.name))
    return { hooked: { seen: UNSEEN, values: {}, unchanged: [], failure } }
  }
  const seen = entity.getStamp()
  const sent = new Map<StorageAttribute, Value>()
  const given = Object.entries(element).flatMap(([name, json]) => {
    if (name.startsWith('__')) return []
    // Of a dataclass that may not be read entities may be created all the same.
    const attribute = view.shows(dataClass) ? view.attribute(dataClass, name) : dataClass.attributesByName.get(name)
    return attribute && view.includes(attribute) ? [{ attribute, json }] : []
  })
  const unchanged = new Set(given.filter(({ attribute, json }) => isAsBefore(entity, attribute, json)))
  for (const each of given) {
    if (unchanged.has(each) || !view.may(action, dataClass, each.attribute)) continue
    assign(entity, each.attribute, each.json, { trusted, sent, binding })
  }
  const failure = hooks.beforeSave(entity)
  const values: Record<string, unknown> = {}
  for (const [attribute, value] of internals.changes(entity)) {
    if (!sent.has(attribute) || sent.get(attribute) !== value) values[attribute.name] = toJson(attribute, value)
  }
  const names = Array.from(unchanged, ({ attribute }) => attribute.name)
  return { hooked: { seen, values, unchanged: names, ...(failure && { failure }) }, entity }
}

/** A calculated value as the client has read it, when it sends a whole entity back. To be asked before anything is assigned. */
function isAsBefore(entity: EntityBase, attribute: Attribute, json: unknown): boolean {
  const end = attribute.kind === 'alias' ? attribute.target : attribute
  if ((end.kind !== 'calculated' && end.kind !== 'storage') || !end.calculation || entity.isNew()) return false
  const value = convertValue(end, json, false)
  if (value instanceof ProtocolError) return false
  const owner =
    attribute.kind === 'alias'
      ? valueAt(
          entity,
          attribute.relations.map(({ name }) => name),
        )
      : entity
  return sameValue(owner instanceof EntityBase ? valueIn(owner, end) : null, value)
}

const valueIn = (entity: EntityBase, attribute: ValueAttribute): Value =>
  attribute.kind === 'calculated'
    ? computedValue(entity, attribute)
    : (internals.row(entity)!.value(attribute) as Value)

interface Assignment {
  readonly trusted: boolean
  /** Values that the writer gets from the element itself. */
  readonly sent: Map<StorageAttribute, Value>
  readonly binding: Binding
}

/** Gives an entity what a client sends, as far as it can be read and set: the writer tells of the rest. */
function assign(entity: EntityBase, attribute: Attribute, json: unknown, context: Assignment): void {
  const { trusted, sent, binding } = context
  const { calculation } = attribute as { calculation?: StorageAttribute['calculation'] }
  if (calculation) {
    if (calculation.settable) (entity as unknown as Record<string, unknown>)[attribute.name] = json
    return
  }
  switch (attribute.kind) {
    case 'storage': {
      if (attribute.type === 'image' || attribute.type === 'blob' || (attribute.readOnly && !trusted)) return
      const value = convertValue(attribute, json, trusted)
      if (!(value instanceof ProtocolError)) set(attribute, value)
      return
    }
    case 'relatedEntity': {
      const link = linkedKey(json)
      const key = link === undefined ? undefined : convertValue(attribute.target.key, link, false)
      if (key === undefined || key instanceof ProtocolError) return
      // The foreign key is the value of a relation.
      const value = key === null ? null : convertValue(attribute.foreignKey, key, false)
      if (!(value instanceof ProtocolError)) set(attribute.foreignKey, value)
      return
    }
    case 'alias':
      if (attribute.relations.length === 0) assign(entity, attribute.target, json, context)
  }

  function set(target: StorageAttribute, value: Value): void {
    // The key of an entity that exists stays.
    if (target === binding.dataClass.key && !entity.isNew()) return
    sent.set(target, value)
    // What is as it was is not touched, so that a save that changes nothing has no events.
    if (!entity.isNew() && sameValue(internals.row(entity)!.value(target) as Value, value)) return
    internals.assign(entity, target, value)
  }
}
