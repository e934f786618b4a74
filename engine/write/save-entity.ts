import {
  type AliasAttribute,
  type Attribute,
  isBinary,
  type RelatedEntityAttribute,
  type RowAttribute,
  type StorageAttribute,
} from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { View } from '../catalog/view.ts'
import { BinaryValue, type Value } from '../catalog/value.ts'
import { ProtocolError } from '../errors.ts'
import { PermissionErrors } from '../permission/permission-errors.ts'
import type { RowView } from '../storage/row-view.ts'
import { attachUpload, uploadId } from './attach-upload.ts'
import { convertKey, convertValue } from './convert.ts'
import type { LockTable } from './lock-table.ts'
import { isJsonObject } from './parse-body.ts'
import type { HookedElement, SavedEntity, SaveRequest } from './requests.ts'
import { violations } from './validate.ts'
import { describe, lockStatus, saveFailure, WriteErrors } from './write-errors.ts'
import type { Entity, RelatedEntity, WriteTransaction } from './write-transaction.ts'

/** What all entities of a request share. */
export interface SaveContext {
  readonly locks: LockTable
  /** Handle of the session. */
  readonly owner: string | undefined
  readonly transaction: WriteTransaction
  readonly dataClass: DataClass
  /** What exists for the one who saves, and what may be done. */
  readonly view: View
  readonly mode: SaveRequest['mode']
  readonly trusted: boolean
  readonly anyStamp: boolean
  readonly uploads: SaveRequest['uploads']
  readonly received: SaveRequest['received']
  /** `__TIMESTAMP` of what is saved now. */
  readonly timestamp: string
  readonly randomUuid: () => string
}

/**
 * Saves one element of a body. Everything is checked before the first put, so a failure leaves nothing behind; all
 * problems of the entity are reported at once.
 * @param hooked what code has made of the element; it stops a save before the stamp is looked at
 * Source: base specification 4.4 and 7; protocol notes 5.1, 5.2 and 9.
 */
export function saveEntity(context: SaveContext, element: unknown, hooked?: HookedElement): SavedEntity {
  const { dataClass, transaction, view } = context
  if (!isJsonObject(element)) {
    return {
      failure: saveFailure(
        [WriteErrors.NOT_AN_ENTITY(describe(element))],
        WriteErrors.NEW_ENTITY_NOT_SAVED(dataClass.name),
      ),
    }
  }
  const sentKey = own(element, '__KEY') ?? null
  if (sentKey === null) {
    if (!view.may('create', dataClass)) {
      const { name } = dataClass
      return { failure: saveFailure([PermissionErrors.CREATE(name)], WriteErrors.NEW_ENTITY_NOT_SAVED(name)) }
    }
    if (hooked?.failure) return { failure: hooked.failure }
    return new Saver(context, undefined, undefined).save(element, hooked)
  }

  const key = describe(sentKey)
  const converted = convertKey(dataClass, sentKey)
  const isKey = !(converted instanceof ProtocolError) && view.shows(dataClass)
  const rowId = isKey ? transaction.findKey(dataClass, converted) : undefined
  if (rowId === undefined) {
    const problem = WriteErrors.ENTITY_NOT_FOUND(key, dataClass.name)
    return { failure: saveFailure([problem], WriteErrors.ENTITY_NOT_SAVED(key, dataClass.name)) }
  }
  const row = transaction.row(dataClass, rowId)!
  if (!view.may('update', dataClass)) {
    const { name } = dataClass
    const failure = saveFailure([PermissionErrors.UPDATE(name)], WriteErrors.ENTITY_NOT_SAVED(key, name))
    return { row: row.bytes, rowId, failure }
  }
  // What code does not find it is not to show.
  if (hooked?.failure) return { ...(hooked.seen >= 0 && { row: row.bytes, rowId }), failure: hooked.failure }
  const blocker = context.locks.blocker(dataClass, rowId, context.owner)
  if (blocker) {
    const problem = WriteErrors.LOCKED(key, dataClass.name)
    const { error } = saveFailure([problem], WriteErrors.ENTITY_NOT_SAVED(key, dataClass.name))
    return { row: row.bytes, rowId, failure: { status: lockStatus(blocker.info), error } }
  }
  const sentStamp = own(element, '__STAMP')
  const isCurrent = context.anyStamp || Number(sentStamp ?? Number.NaN) === row.stamp
  if (!isCurrent || (hooked?.seen ?? row.stamp) !== row.stamp) {
    const sent = sentStamp === undefined ? 'none' : describe(sentStamp)
    const failure = saveFailure(
      [WriteErrors.STALE_STAMP(key, dataClass.name, sent, row.stamp)],
      WriteErrors.RECORD_NOT_SAVED(key, dataClass.name),
      WriteErrors.ENTITY_NOT_SAVED(key, dataClass.name),
    )
    return { row: row.bytes, rowId, failure }
  }
  return new Saver(context, row, transaction.entity(row, rowId)).save(element, hooked)
}

export const own = (object: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined

/** An image, a blob or a relation as it was read, sent back with the whole entity. */
const isDeferred = (json: unknown): boolean => isJsonObject(json) && Object.hasOwn(json, '__deferred')

/** The work on one entity: what it is to become, and what speaks against it. */
class Saver {
  private readonly problems: ProtocolError[] = []
  /** Attributes with a problem that makes further checks of them pointless. */
  private readonly broken = new Set<StorageAttribute>()
  /** Read after everything else: what they mean depends on the foreign keys that are sent beside them. */
  private readonly sentRelations = new Map<RelatedEntityAttribute, Value>()
  /** Set by code, which needs nobody's leave. */
  private readonly made = new Set<StorageAttribute>()
  /** What differs from what is stored. */
  private readonly changes = new Map<StorageAttribute, Value>()
  private readonly references: (number | undefined)[]

  constructor(
    private readonly context: SaveContext,
    private readonly row: RowView | undefined,
    private readonly old: Entity | undefined,
  ) {
    this.references = old ? [...old.references] : []
  }

  save(element: Record<string, unknown>, hooked?: HookedElement): SavedEntity {
    const { dataClass } = this.context
    for (const name of Object.keys(element)) {
      if (name.startsWith('__') || hooked?.unchanged.includes(name)) continue
      const attribute = this.find(name)
      if (attribute) this.read(attribute, element[name])
      else this.problems.push(this.unknown(name))
    }
    for (const [name, json] of Object.entries(hooked?.values ?? {}))
      this.make(dataClass.attributesByName.get(name), json, hooked?.assigned?.includes(name) ?? false)
    for (const [relation, key] of this.sentRelations) this.changeRelation(relation, key)
    if (!this.old) this.fill()
    this.link()
    this.check()
    if (this.problems.length > 0) return this.fail()
    if (this.old && this.changes.size === 0) return { row: this.row!.bytes, rowId: this.old.rowId }
    return this.put()
  }

  /**
   * The attribute that a client names. Where it may create entities that it cannot read, it may name what it may give a
   * value to, but for values of which a refusal would tell that others have them.
   */
  private find(name: string): Attribute | undefined {
    const { dataClass, view } = this.context
    if (this.old || view.shows(dataClass)) return view.attribute(dataClass, name)
    const attribute = dataClass.attributesByName.get(name)
    if (attribute?.kind !== 'storage' || attribute.unique || !view.includes(attribute)) return undefined
    return this.mayChange(attribute) ? attribute : undefined
  }

  private unknown(name: string): ProtocolError {
    const { dataClass, view } = this.context
    return WriteErrors.UNKNOWN_ATTRIBUTE(name.slice(0, 100), dataClass.name, view.suggestAttribute(dataClass, name))
  }

  private mayChange(attribute: Attribute): boolean {
    const { dataClass, view } = this.context
    return view.may(this.old ? 'update' : 'create', dataClass, attribute)
  }

  /** Whether it may be given another value. */
  private mayGive(attribute: StorageAttribute): boolean {
    const { dataClass, transaction, view } = this.context
    if (!view.isRestricted || this.made.has(attribute)) return true
    if (this.old && !view.shows(attribute)) return false
    // Whoever may change only one of a relation and its foreign key may change neither: they are one value.
    const relations = transaction.layout(dataClass).references.filter(({ foreignKey }) => foreignKey === attribute)
    return [attribute, ...relations].every(guard => this.mayChange(guard))
  }

  /** Reads what was sent for one attribute. */
  private read(attribute: Attribute, json: unknown): void {
    switch (attribute.kind) {
      case 'storage': {
        if (isBinary(attribute.type) && isDeferred(json)) return
        // Its code has been given the value.
        if (attribute.calculation?.settable && this.mayChange(attribute)) return
        const { trusted } = this.context
        const upload = uploadId(attribute, json)
        const value =
          upload === undefined ? convertValue(attribute, json, trusted) : attachUpload(this.context, attribute, upload)
        if (value instanceof ProtocolError) this.reject(attribute, value)
        else this.change(attribute, value)
        return
      }
      case 'relatedEntity': {
        const { name, target, foreignKey } = attribute
        const link = linkedKey(json)
        const key = link === undefined ? undefined : convertKey(target, link)
        if (key === undefined || key instanceof ProtocolError) {
          this.reject(
            foreignKey,
            WriteErrors.WRONG_TYPE(name, describe(link ?? json), `{"__KEY":…} of an entity of ${target.name}`),
          )
        } else this.sentRelations.set(attribute, key)
        return
      }
      case 'relatedEntities':
        return
      case 'alias':
        if (isValue(attribute.target) && attribute.relations.length === 0) {
          if (this.mayChange(attribute)) this.read(attribute.target, json)
          else if (!this.isStored(attribute.target, json)) this.problems.push(notPermitted(attribute))
        } else if (!this.isUnchangedAlias(attribute, json)) {
          this.problems.push(
            WriteErrors.NOT_MODIFIABLE(attribute.name, `it is an alias, change ${attribute.path.join('.')}`),
          )
        }
        return
      case 'calculated':
        if (json === null || isDeferred(json)) return
        if (!attribute.calculation?.settable)
          this.problems.push(WriteErrors.NOT_MODIFIABLE(attribute.name, 'it is calculated'))
        else if (!this.mayChange(attribute)) this.problems.push(notPermitted(attribute))
    }
  }

  /** @param isGuarded with the rights of the caller */
  private make(attribute: Attribute | undefined, json: unknown, isGuarded: boolean): void {
    if (attribute?.kind !== 'storage') throw new Error(`code can only set storage attributes, not ${attribute?.name}`)
    for (const relation of this.sentRelations.keys()) {
      if (relation.foreignKey === attribute) this.sentRelations.delete(relation)
    }
    if (!isGuarded) this.made.add(attribute)
    const value = convertValue(attribute, json, true)
    if (value instanceof ProtocolError) this.reject(attribute, value)
    else if (attribute === attribute.dataClass.key) this.change(attribute, value)
    else if (sameValue(this.stored(attribute), value)) this.changes.delete(attribute)
    else if (!this.mayGive(attribute)) this.refuse(attribute)
    else this.changes.set(attribute, value)
  }

  private reject(attribute: StorageAttribute, problem: ProtocolError): void {
    this.problems.push(problem)
    this.broken.add(attribute)
    this.changes.delete(attribute)
  }

  private refuse(attribute: StorageAttribute): void {
    this.reject(attribute, notPermitted(attribute))
  }

  private isStored(attribute: Attribute, json: unknown): boolean {
    if (attribute.kind !== 'storage') return json === null
    const value = convertValue(attribute, json, this.context.trusted)
    return !(value instanceof ProtocolError) && sameValue(this.stored(attribute), value)
  }

  private stored(attribute: StorageAttribute): Value {
    return this.old?.values.get(attribute) ?? null
  }

  private change(attribute: StorageAttribute, value: Value): void {
    if (sameValue(this.stored(attribute), value)) return
    if (!this.mayGive(attribute)) this.refuse(attribute)
    else if (this.old && attribute === attribute.dataClass.key) {
      this.reject(attribute, WriteErrors.NOT_MODIFIABLE(attribute.name, 'it is the primary key'))
    } else if (attribute.readOnly && !(this.context.trusted && !attribute.calculation)) {
      const reason = attribute.calculation ? 'it is calculated' : 'it is read-only'
      this.reject(attribute, WriteErrors.NOT_MODIFIABLE(attribute.name, reason))
    } else this.changes.set(attribute, value)
  }

  /** A relation and its foreign key are one value: of two that are sent, the one that differs from what is stored counts. */
  private changeRelation(relation: RelatedEntityAttribute, key: Value): void {
    const { foreignKey, target, name } = relation
    const related = key === null ? null : this.related(relation, key)
    if (related === undefined) {
      this.reject(foreignKey, WriteErrors.RELATED_ENTITY_NOT_FOUND(name, describe(key), target.name))
      return
    }
    // Keys and foreign keys may be integers of different widths.
    const value =
      related && (foreignKey.type === target.key.type ? related.key : convertValue(foreignKey, related.key, false))
    if (value instanceof ProtocolError) {
      this.reject(foreignKey, value)
      return
    }
    if (sameValue(this.stored(foreignKey), value)) return
    const direct = this.changes.get(foreignKey)
    const agrees =
      direct === undefined ||
      (direct === null ? value === null : this.related(relation, direct)?.rowId === related?.rowId)
    if (agrees) this.change(foreignKey, value)
    else
      this.reject(foreignKey, WriteErrors.RELATION_CONFLICT(name, describe(value), foreignKey.name, describe(direct)))
  }

  /** The entity that `key` leads to. A new entity may be related to itself. */
  private related(relation: RelatedEntityAttribute, key: Value): RelatedEntity | undefined {
    const { dataClass, transaction } = this.context
    const related = transaction.related(relation.target, key)
    if (related || this.old || relation.target !== dataClass) return related
    return this.changes.get(dataClass.key) === key ? { rowId: transaction.state(dataClass).nextRowId, key } : undefined
  }

  /** Makes the values that the model says are made for a new entity. */
  private fill(): void {
    const { dataClass, transaction, randomUuid } = this.context
    for (const attribute of transaction.autoFilled(dataClass)) {
      if ((this.changes.get(attribute) ?? null) !== null || this.broken.has(attribute)) continue
      if (attribute.autoFill === 'uuid') {
        this.changes.set(attribute, randomUuid())
        continue
      }
      const { nextAutoIncrement } = transaction.state(dataClass)
      const next = convertValue(attribute, nextAutoIncrement, false)
      if (next instanceof ProtocolError)
        this.reject(attribute, WriteErrors.AUTO_INCREMENT_EXHAUSTED(attribute.name, nextAutoIncrement))
      else this.changes.set(attribute, next)
    }
  }

  /** Finds the entities that changed foreign keys lead to. */
  private link(): void {
    const { dataClass, transaction, view } = this.context
    const relations = transaction.layout(dataClass).references
    for (let i = 0; i < relations.length; i++) {
      const relation = relations[i]!
      const { foreignKey, target } = relation
      const key = this.changes.get(foreignKey)
      if (key === undefined) continue
      // The answer would tell which entities there are.
      if (key !== null && !this.made.has(foreignKey) && !view.may('read', target)) {
        this.refuse(foreignKey)
        continue
      }
      const related = key === null ? null : this.related(relation, key)
      if (related === undefined) {
        this.reject(foreignKey, WriteErrors.FOREIGN_KEY_NOT_FOUND(foreignKey.name, describe(key), target.name))
        continue
      }
      this.references[i] = related?.rowId
      // The target's spelling of the key is kept, which may be what is stored already.
      if (related && foreignKey.type === target.key.type) this.changes.set(foreignKey, related.key)
    }
    for (const { foreignKey } of relations) {
      if (this.old && sameValue(this.stored(foreignKey), this.changes.get(foreignKey))) this.changes.delete(foreignKey)
    }
  }

  private check(): void {
    const { dataClass, transaction, view } = this.context
    for (const attribute of this.old ? this.changes.keys() : transaction.stored(dataClass)) {
      if (this.broken.has(attribute)) continue
      const value = this.changes.get(attribute) ?? null
      const isKey = attribute === dataClass.key
      if (isKey && value === null) {
        this.problems.push(WriteErrors.KEY_MISSING(attribute.name))
        continue
      }
      const problems = [...violations(attribute, value), ...this.duplicates(attribute, value)]
      const isNamed = view.shows(attribute) || isKey || !view.shows(dataClass)
      this.problems.push(...(isNamed || problems.length === 0 ? problems : [WriteErrors.HIDDEN(dataClass.name)]))
    }
  }

  private duplicates(attribute: StorageAttribute, value: Value): ProtocolError[] {
    if (!attribute.unique || value === null) return []
    const { dataClass, transaction } = this.context
    const holder = transaction.holder(attribute, value)
    if (holder === undefined || holder === this.old?.rowId) return []
    const problem = WriteErrors.DUPLICATE(attribute.name, describe(value))
    return attribute === dataClass.key ? [problem, WriteErrors.KEY_EXISTS(describe(value), dataClass.name)] : [problem]
  }

  private fail(): SavedEntity {
    const { dataClass } = this.context
    if (!this.old) return { failure: saveFailure(this.problems, WriteErrors.NEW_ENTITY_NOT_SAVED(dataClass.name)) }
    const key = describe(this.stored(dataClass.key))
    const failure = saveFailure(this.problems, WriteErrors.ENTITY_NOT_SAVED(key, dataClass.name))
    return { row: this.row!.bytes, rowId: this.old.rowId, failure }
  }

  private put(): SavedEntity {
    const { dataClass, transaction, mode, timestamp } = this.context
    const state = transaction.state(dataClass)
    const rowId = this.old?.rowId ?? transaction.newRowId(dataClass)
    const values = new Map<RowAttribute, Value>(this.old?.values)
    for (const [attribute, value] of this.changes) {
      values.set(attribute, value instanceof BinaryValue ? true : value)
      if (isBinary(attribute.type)) transaction.putBinary(attribute, rowId, value as BinaryValue | null)
      if (attribute.autoFill === 'increment' && typeof value === 'number' && value >= state.nextAutoIncrement) {
        state.nextAutoIncrement = value + 1
      }
    }
    for (const relation of transaction.layout(dataClass).references) {
      const key = this.changes.get(relation.foreignKey)
      if (key !== undefined) values.set(relation, key === null ? null : transaction.keyText(relation.target, key))
    }
    const isPreview = mode !== 'update'
    const stamp = (this.old?.stamp ?? 0) + (isPreview ? 0 : 1)
    const entity: Entity = { rowId, stamp, values, references: this.references }
    const row = this.old
      ? transaction.update(dataClass, entity, this.old, timestamp)
      : transaction.insert(dataClass, entity, timestamp)
    return isPreview && !this.old ? { row } : { row, rowId }
  }

  /** True for a value as it was read, when a client sends a whole entity back. */
  private isUnchangedAlias({ relations, target }: AliasAttribute, json: unknown): boolean {
    if (isDeferred(json) || target.kind === 'relatedEntities' || relations.some(r => r.kind === 'relatedEntities'))
      return true
    if (target.kind !== 'storage') return json === null
    const { transaction } = this.context
    let row = this.row
    for (const relation of relations) {
      const rowId = row?.reference(row.layout.referenceOf.get(relation)!)
      row = rowId === undefined ? undefined : transaction.row(relation.target, rowId)
    }
    const sent = convertValue(target, json, false)
    return !(sent instanceof ProtocolError) && sameValue(row?.value(target) ?? null, sent)
  }
}

/** Key in a link: `{"__KEY":…}`, `{"__deferred":{"__KEY":…}}`, the bare key, or null. Undefined when there is none. */
export function linkedKey(json: unknown): unknown {
  if (!isJsonObject(json)) return json
  const deferred = own(json, '__deferred')
  return isJsonObject(deferred) ? own(deferred, '__KEY') : own(json, '__KEY')
}

const notPermitted = ({ name, dataClass }: Attribute): ProtocolError =>
  PermissionErrors.UPDATE_ATTRIBUTE(name, dataClass.name)

/** Of an alias of an own attribute: writing it writes that one. */
const isValue = ({ kind }: Attribute): boolean => kind === 'storage' || kind === 'calculated'

export function sameValue(a: Value, b: Value | undefined): boolean {
  if (a === b) return true
  // Objects; their text is what is stored.
  return (
    typeof a === 'object' &&
    typeof b === 'object' &&
    a !== null &&
    b !== null &&
    JSON.stringify(a) === JSON.stringify(b)
  )
}
