import {
  type AliasAttribute,
  type Attribute,
  isBinary,
  isByRow,
  type RelatedEntityAttribute,
} from '../../catalog/attribute.ts'
import { isUnique } from '../../catalog/unique-together.ts'
import type { Value } from '../../catalog/value.ts'
import type { RowView } from '../../row-format/row-view.ts'
import { ProtocolError } from '../../base/errors.ts'
import { attachUpload, uploadId } from './attach-upload.ts'
import { convertKey, convertValue } from '../value/convert.ts'
import { type EntityChange, sameValue } from './entity-change.ts'
import { isJsonObject, ownMember } from '../../base/json-object.ts'
import type { PreparedElement } from '../contract/requests.ts'
import { describe, WriteErrors } from '../contract/write-errors.ts'

/**
 * Reads the sent values of one entity, and the values that plugin code has set, into its change.
 * Source: base specification 4.4; protocol notes 5.1 and 5.2.
 */
export function readElement(
  change: EntityChange,
  element: Record<string, unknown>,
  preparedElement: PreparedElement | undefined,
): void {
  for (const name of Object.keys(element)) {
    if (name.startsWith('__') || preparedElement?.unchanged.includes(name)) continue
    const attribute = find(change, name)
    if (attribute) readAttribute(change, attribute, element[name], preparedElement !== undefined)
    else if (change.isFull) change.further++
    else change.problems.push(unknownAttribute(change, name))
  }
  if (!preparedElement) return
  const { attributesByName } = change.context.dataClass
  for (const [name, json] of Object.entries(preparedElement.values))
    make(change, attributesByName.get(name), json, preparedElement.assigned?.includes(name) ?? false)
}

/** Key in a link: `{"__KEY":…}`, `{"__deferred":{"__KEY":…}}`, the bare key, or null. Undefined if there is none. */
export function linkedKey(json: unknown): unknown {
  if (!isJsonObject(json)) return json
  const deferredLink = ownMember(json, '__deferred')
  return isJsonObject(deferredLink) ? ownMember(deferredLink, '__KEY') : ownMember(json, '__KEY')
}

/** True for an image, a blob or a relation that is sent back as it was read, with the whole entity. */
const isDeferred = (json: unknown): boolean => isJsonObject(json) && Object.hasOwn(json, '__deferred')

/**
 * The attribute that a client names. A client that may create entities but not read them may name the attributes that it may set,
 * except those that are unique, alone or together with others: a refusal would reveal existing values.
 */
function find(change: EntityChange, name: string): Attribute | undefined {
  const { dataClass, view } = change.context
  if (change.old || view.shows(dataClass)) return view.attribute(dataClass, name)
  const attribute = dataClass.attributesByName.get(name)
  if (attribute?.kind !== 'storage' || isUnique(attribute) || !view.includes(attribute)) return undefined
  return change.mayChange(attribute) ? attribute : undefined
}

function unknownAttribute({ context: { dataClass, view } }: EntityChange, name: string): ProtocolError {
  return WriteErrors.UNKNOWN_ATTRIBUTE(name.slice(0, 100), dataClass.name, view.suggestAttribute(dataClass, name))
}

/**
 * Reads the sent value of one attribute.
 * @param isPrepared plugin code has already removed unchanged values
 * @param sentName name that the client has sent: that of the attribute, or of its alias
 */
function readAttribute(
  change: EntityChange,
  attribute: Attribute,
  json: unknown,
  isPrepared: boolean,
  sentName = attribute.name,
): void {
  switch (attribute.kind) {
    case 'storage': {
      if (isBinary(attribute.type) && isDeferred(json)) return
      // Its setter has already received the value.
      if (attribute.calculation?.settable && change.mayChange(attribute)) return
      const { context } = change
      const upload = uploadId(attribute, json)
      const value =
        upload === undefined ? convertValue(attribute, json, context.trusted) : attachUpload(context, attribute, upload)
      if (value instanceof ProtocolError) change.reject(attribute, value)
      else change.change(attribute, value)
      return
    }
    case 'relatedEntity': {
      const { name, target, foreignKey } = attribute
      const link = linkedKey(json)
      const key = link === undefined ? undefined : convertKey(target, link)
      if (key === undefined || key instanceof ProtocolError) {
        const problem = WriteErrors.WRONG_TYPE(
          name,
          describe(link ?? json),
          `{"__KEY":…} of an entity of ${target.name}`,
        )
        change.reject(foreignKey, problem)
      } else change.sentRelations = [...change.sentRelations, { relation: attribute, key }]
      return
    }
    case 'relatedEntities':
      return
    case 'alias':
      readAlias(change, attribute, json, isPrepared)
      return
    case 'calculated':
      if (json === null || isDeferred(json)) return
      if (!attribute.calculation?.settable)
        change.problems.push(WriteErrors.NOT_MODIFIABLE(sentName, 'it is calculated'))
      else if (!change.mayChange(attribute)) change.problems.push(change.notPermitted(attribute))
      return
    default:
      attribute satisfies never
  }
}

/** Reads an alias: writing an alias of an attribute of the same entity writes that attribute. */
function readAlias(change: EntityChange, alias: AliasAttribute, json: unknown, isPrepared: boolean): void {
  const { target, relations, name, path } = alias
  if ((target.kind === 'storage' || target.kind === 'calculated') && relations.length === 0) {
    if (change.mayChange(alias)) readAttribute(change, target, json, isPrepared, name)
    else if (!isStored(change, target, json)) change.problems.push(change.notPermitted(alias))
  } else if (!isUnchangedAlias(change, alias, json, isPrepared)) {
    const isShown = [...relations, target].every(each => change.context.view.shows(each))
    const hint = isShown ? `, change ${path.join('.')}` : ''
    change.problems.push(WriteErrors.NOT_MODIFIABLE(name, `it is an alias${hint}`))
  }
}

function isStored(change: EntityChange, attribute: Attribute, json: unknown): boolean {
  if (attribute.kind !== 'storage') return json === null
  const value = convertValue(attribute, json, change.context.trusted)
  return !(value instanceof ProtocolError) && sameValue(change.storedValue(attribute), value)
}

/** True for a value that is sent back as it was read, with the whole entity. */
function isUnchangedAlias(
  change: EntityChange,
  { relations, target }: AliasAttribute,
  json: unknown,
  isPrepared: boolean,
): boolean {
  if (isDeferred(json) || target.kind === 'relatedEntities' || relations.some(r => r.kind === 'relatedEntities'))
    return true
  if (target.kind !== 'storage') return json === null
  // Code has compared it with what the caller may see; the entities on this path may be hidden.
  if (isPrepared && change.old) return false
  let { row } = change
  for (const relation of relations) {
    // The writer does not wait for a database.
    if (!change.context.transaction.reads(relation.target)) return true
    const rowId = row && referenceOf(change, row, relation as RelatedEntityAttribute)
    row = rowId === undefined ? undefined : change.context.transaction.row(relation.target, rowId)
  }
  const sentValue = convertValue(target, json, false)
  return !(sentValue instanceof ProtocolError) && sameValue(row?.value(target) ?? null, sentValue)
}

/** Row of the related entity. An entity in a database refers to it only by the foreign key. */
function referenceOf(
  { context: { transaction } }: EntityChange,
  row: RowView,
  relation: RelatedEntityAttribute,
): number | undefined {
  if (isByRow(relation)) return row.reference(row.layout.referenceOf.get(relation)!)
  const key = row.value(relation.foreignKey) as Value
  return key === null ? undefined : transaction.findKey(relation.target, key, relation)
}

/** Takes a value that code has set. @param isGuarded the rights of the caller apply */
function make(change: EntityChange, attribute: Attribute | undefined, json: unknown, isGuarded: boolean): void {
  if (attribute?.kind !== 'storage') throw new Error(`code can only set storage attributes, not ${attribute?.name}`)
  change.sentRelations = change.sentRelations.filter(({ relation }) => relation.foreignKey !== attribute)
  if (!isGuarded) change.setMade(attribute)
  const value = convertValue(attribute, json, true)
  if (value instanceof ProtocolError) change.reject(attribute, value)
  else if (attribute === attribute.dataClass.key) change.change(attribute, value)
  else if (change.has(attribute, value)) change.values.delete(attribute)
  else if (!change.mayGive(attribute)) change.refuse(attribute)
  else change.values.set(attribute, value)
}
