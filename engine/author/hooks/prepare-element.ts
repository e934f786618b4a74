import type { Attribute, StorageAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import { withDigits } from '../../catalog/types/with-digits.ts'
import type { Value } from '../../catalog/value.ts'
import type { View } from '../../catalog/view.ts'
import { ProtocolError } from '../../base/errors.ts'
import { beyondDoubles, roundNumbers } from '../../base/exact-json.ts'
import { excerpt } from '../../base/text/excerpt.ts'
import type { Binding } from '../data-api/binding.ts'
import { valueAt } from '../data-api/attributes.ts'
import { EntityBase } from '../data-api/entity.ts'
import type { EventRun } from '../data-api/event-run.ts'
import { internals } from '../data-api/entity-internals.ts'
import { toJson } from '../data-api/values.ts'
import type { NewJob } from '../../jobs/job.ts'
import { convertValue, foreignKeyFor } from '../../write/value/convert.ts'
import { isJsonObject, ownMember } from '../../base/json-object.ts'
import { type PreparedElement, UNSEEN } from '../../write/contract/requests.ts'
import { sameValue } from '../../write/entity/entity-change.ts'
import { linkedKey } from '../../write/entity/read-element.ts'
import { notFound, notSaved } from '../../write/contract/save-failure.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import { computedValue } from './computed-value.ts'
import { thrownFailure } from './hook-errors.ts'
import type { Hooks } from './hooks.ts'

/** Element of a body after code has prepared it for a save. */
export interface Prepared {
  readonly hooked: PreparedElement
  readonly entity?: EntityBase
}

export interface PrepareContext {
  readonly trusted: boolean
  /** View and rights of the caller. */
  readonly view: View
  readonly binding: Binding
  readonly hooks: Hooks
}

/**
 * Runs the code before the save of an element. Invalid elements are reported by the writer.
 * @param run learns the entity
 */
export function prepareElement(element: unknown, context: PrepareContext, run: EventRun): Prepared {
  if (!isJsonObject(element)) return { hooked: NOTHING_SEEN }
  const { view, binding, hooks } = context
  const { dataClass, codeSession } = binding
  const key = ownMember(element, '__KEY') ?? null
  let stamp = UNSEEN
  // Nothing has been sent to the writer yet, so a failure concerns only this element.
  try {
    // Looked up before any right is checked: a refusal shows the entity, and a hidden entity must be answered like a missing one.
    const entity = find(key, context)
    if (key !== null && !entity) return { hooked: { ...NOTHING_SEEN, failure: notFound(key, dataClass) } }
    stamp = entity?.getStamp() ?? 0
    // The writer refuses the element, so no plugin code runs.
    if (!view.may(entity ? 'update' : 'create', dataClass))
      return { hooked: { expectedStamp: stamp, values: {}, unchanged: [] } }
    return codeSession.writes.runEvents(run, () => {
      const jobs: NewJob[] = []
      const target = entity ?? codeSession.writes.collecting({ jobs }, () => binding.entity(undefined))
      run.entity = target
      return prepareEntity(element, target, { stamp, jobs }, context)
    })
  } catch (exception) {
    if (!(exception instanceof ProtocolError || run.needsTransaction)) hooks.onFault(exception)
    return {
      hooked: {
        expectedStamp: stamp,
        values: {},
        unchanged: [],
        failure: thrownFailure(exception, dataClass.name, notSaved(dataClass, key)),
      },
    }
  }
}

export const NOTHING_SEEN: PreparedElement = { expectedStamp: UNSEEN, values: {}, unchanged: [] }

/** The entity that the caller names, if it may see it. No entity has the key null. */
function find(key: unknown, { view, binding }: PrepareContext): EntityBase | undefined {
  return view.shows(binding.dataClass) ? (binding.instance.get(key) ?? undefined) : undefined
}

/** An element whose entity has been found or made. */
interface Begun {
  /** Stamp of the entity. */
  readonly stamp: number
  /** Jobs that its events have enqueued. */
  readonly jobs: NewJob[]
}

function prepareEntity(
  element: Record<string, unknown>,
  entity: EntityBase,
  { stamp, jobs }: Begun,
  { trusted, view, binding, hooks }: PrepareContext,
): Prepared {
  const { dataClass, codeSession } = binding
  const action = entity.isNew() ? 'create' : 'update'
  const sentValues = new Map<StorageAttribute, Value>()
  const inputs = Object.entries(element).flatMap(([name, json]) => {
    if (name.startsWith('__')) return []
    // Creating does not require read permission.
    const attribute = view.shows(dataClass) ? view.attribute(dataClass, name) : dataClass.attributesByName.get(name)
    return attribute && view.includes(attribute) ? [{ attribute, json }] : []
  })
  const unchangedInputs = new Set(inputs.filter(({ attribute, json }) => isAsBefore(entity, attribute, json)))
  codeSession.writes.collecting({ entity, jobs }, () => {
    for (const each of inputs) {
      if (unchangedInputs.has(each) || !view.may(action, dataClass, each.attribute)) continue
      assign(entity, each.attribute, each.json, { trusted, sentValues, binding })
    }
  })
  const failure = codeSession.scope.asEvent(() => hooks.beforeSave(entity, view))
  const values: Record<string, unknown> = {}
  for (const [attribute, value] of internals.changes(entity)) {
    if (!sentValues.has(attribute) || sentValues.get(attribute) !== value)
      values[attribute.name] = toJson(attribute, value)
  }
  const names = Array.from(unchangedInputs, ({ attribute }) => attribute.name)
  jobs.push(...(hooks.jobsOf(entity) ?? []))
  const preparedElement = {
    ...{ expectedStamp: stamp, values, unchanged: names },
    ...(failure && { failure }),
    ...(jobs.length > 0 && { jobs }),
  }
  return { hooked: preparedElement, entity }
}

/**
 * True if a calculated value, or one of a related entity, is sent back as the client read it, for example when the client sends a whole
 * entity. To be called before anything is assigned.
 */
function isAsBefore(entity: EntityBase, attribute: Attribute, json: unknown): boolean {
  const relations = attribute.kind === 'alias' ? attribute.relations : []
  const end = attribute.kind === 'alias' ? attribute.target : attribute
  if ((end.kind !== 'calculated' && end.kind !== 'storage') || entity.isNew()) return false
  // Values of many entities cannot be changed through an alias: the writer ignores them.
  if (relations.some(({ kind }) => kind === 'relatedEntities') || (relations.length === 0 && !end.calculation))
    return false
  const value = convertValue(end, json, false)
  if (value instanceof ProtocolError) return false
  const owner =
    relations.length > 0
      ? valueAt(
          entity,
          relations.map(({ name }) => name),
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
  /** Values that the writer takes from the element itself. */
  readonly sentValues: Map<StorageAttribute, Value>
  readonly binding: Binding
}

/** Assigns those values from a client that are valid and can be set; the writer reports the others. */
function assign(entity: EntityBase, attribute: Attribute, json: unknown, context: Assignment): void {
  const { trusted, sentValues, binding } = context
  const { calculation, type } = attribute as Partial<ValueAttribute>
  if (calculation) {
    if (!calculation.settable) return
    const { exactJson } = TYPES[type!]
    const number = exactJson === 'numbers' ? undefined : beyondDoubles(json)
    if (number !== undefined)
      throw WriteErrors.WRONG_TYPE(attribute.name, excerpt(number), 'a number of double precision')
    const exactValue = exactJson ? withDigits(type!, json) : roundNumbers(json)
    ;(entity as unknown as Record<string, unknown>)[attribute.name] = exactValue
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
      const value = key === null ? null : foreignKeyFor(attribute.foreignKey, key, attribute.target.key)
      if (!(value instanceof ProtocolError)) set(attribute.foreignKey, value)
      return
    }
    case 'alias':
      if (attribute.relations.length === 0) assign(entity, attribute.target, json, context)
      return
    // Settable calculated attributes have been set above.
    case 'calculated':
    case 'relatedEntities':
      return
    default:
      attribute satisfies never
  }

  function set(target: StorageAttribute, value: Value): void {
    // The key of an existing entity stays.
    if (target === binding.dataClass.key && !entity.isNew()) return
    sentValues.set(target, value)
    // Unchanged attributes are not touched, so that a save that changes nothing triggers no events.
    if (!entity.isNew() && sameValue(internals.row(entity)!.value(target) as Value, value)) return
    internals.assign(entity, target, value)
  }
}
