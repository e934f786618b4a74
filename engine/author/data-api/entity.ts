import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { BinaryValue, Value } from '../../catalog/value.ts'
import type { ErrorData } from '../../base/errors.ts'
import { isThenable } from '../../base/promised.ts'
import { readJson } from '../../base/read-json.ts'
import { RowView } from '../../row-format/row-view.ts'
import { suggestion } from '../../base/suggestion.ts'
import type { OrThrowOptions, Status } from '../declare/author-types.ts'
import { BINDING, type Binding, KIND } from './binding.ts'
import { construct, takeArgument } from './construct.ts'
import { internals, shareInternals } from './entity-internals.ts'
import type { SelectionBase } from './entity-selection.ts'
import { LanguageErrors } from './language-errors.ts'
import { UsageErrors } from '../declare/usage-error.ts'
import type { Reading } from './reading.ts'
import { saveEntities } from './save-entities.ts'
import { saveStatusOf, statusOf, success, throwError } from './status.ts'
import { assignObject, toObject } from './to-object.ts'
import { toPlain, toAuthor, toJson } from './values.ts'
import { lockStatus } from '../../write/contract/save-failure.ts'

/** Argument of the constructor: a plugin class may have its own constructor without parameters. */
interface Made {
  readonly rowId: number | undefined
  readonly reading: Reading | undefined
  /** Receives the names of the fields; the instance is not used otherwise. */
  readonly fields?: Set<string>
}

/** State of an entity besides its row. */
interface More {
  /** Values that are assigned and not saved. */
  readonly changes: Map<StorageAttribute, Value>
  /** Objects that were read; their contents may have been changed. */
  readonly objects: Map<StorageAttribute, unknown>
  readonly relatedEntities: Map<RelatedEntityAttribute, EntityBase | null>
  /** Set if something was read from another state than that of the row: the stamp that a client has sent, or NaN. */
  staleStamp: number | undefined
  isDropped: boolean
}

/** Number of attempts of `update` while others also save the entity. */
const UPDATE_ATTEMPTS = 5
const MAX_STAMP = 2 ** 32 - 1
/** Status of a save whose entity has changed since it was loaded. */
const STALE = 2

export class EntityBase {
  declare readonly [BINDING]: Binding
  #rowId: number | undefined
  #row: RowView | undefined
  #reading: Reading | undefined
  /** True if something was read from a column: when the row is loaded, it has to be of the same state. */
  #isPeeked = false
  /** State that few entities have. */
  #more: More | undefined

  constructor() {
    const argument = takeArgument<Made>(new.target)
    if (!argument) throw LanguageErrors.NOT_CONSTRUCTIBLE(new.target.name)
    // Comes before any access to the binding, which a class that is only checked lacks.
    // biome-ignore lint/correctness/noConstructorReturn: the fields of subclasses are defined on what is returned
    if (argument.fields) return noteFields(this, argument.fields)
    this.#rowId = argument.rowId
    if (argument.rowId === undefined) this.#row = this[BINDING].newRows.defaults
    this.#reading = argument.reading
  }

  get [KIND](): 'entity' {
    return 'entity'
  }

  static {
    shareInternals({
      rowId: entity => entity.#rowId,
      row: entity => entity.#load(),
      number(entity, reader) {
        const assignedValue = entity.#more?.changes.get(reader.attribute)
        if (assignedValue !== undefined) return toAuthor(reader.attribute, assignedValue)
        if (entity.#row === undefined && entity.#reading !== undefined) {
          const cursor = entity.#reading.cursor(reader)
          if (cursor) {
            entity.#isPeeked = true
            return reader.ofCell(cursor.read(entity.#rowId!))
          }
        }
        const row = entity.#load()
        return row ? reader.ofRow(row) : null
      },
      assigned: (entity, attribute) => entity.#more?.changes.get(attribute),
      seenAt(entity, stamp) {
        if (stamp !== entity.getStamp()) entity.#edit().staleStamp = stamp
      },
      assign: (entity, attribute, value) => entity.#assign(attribute, value),
      put: (entity, attribute, value) => entity.#put(attribute, value),
      changes: entity => entity.#collect(),
      object(entity, attribute, read) {
        const { objects } = entity.#edit()
        if (!objects.has(attribute)) objects.set(attribute, read())
        return objects.get(attribute)
      },
      relatedEntity(entity, relation, find) {
        const { relatedEntities } = entity.#edit()
        const knownEntity = relatedEntities.get(relation)
        const { eventRun } = entity[BINDING].codeSession.writes
        if (eventRun && !(knownEntity && knownEntity.#collect().size > 0))
          return eventRun.relatedOf(entity, relation, knownEntity, find)
        if (knownEntity !== undefined) return knownEntity
        const foundEntity = find()
        relatedEntities.set(relation, foundEntity)
        return foundEntity
      },
      setRelated(entity, relation, relatedEntity) {
        entity.#assign(
          relation.foreignKey,
          relatedEntity ? (internals.row(relatedEntity)!.value(relation.target.key) as Value) : null,
        )
        entity.#edit().relatedEntities.set(relation, relatedEntity)
      },
      toSave(entity) {
        const row = entity.isNew() ? undefined : entity.#load()
        const expectedStamp = row ? entity.#sentStamp(row) : 0
        const values = [...entity.#collect()].map(([attribute, value]) => [attribute.name, toJson(attribute, value)])
        return {
          element: row ? { __KEY: row.key, __STAMP: expectedStamp } : {},
          expectedStamp,
          values: Object.fromEntries(values),
        }
      },
      fill(entity, row) {
        entity.#row = row
      },
      show(entity, bytes) {
        if (entity.#rowId !== undefined) return
        const { layout, newRows } = entity[BINDING]
        entity.#row = bytes ? new RowView(layout, bytes) : newRows.defaults
      },
      afterSave(entity, rowId, bytes) {
        const { codeSession, layout } = entity[BINDING]
        for (const [attribute, value] of entity.#more?.changes ?? []) {
          if (attribute.type !== 'image' && attribute.type !== 'blob') continue
          codeSession.writes.overlay?.addBinary(attribute, rowId, value as BinaryValue | null)
        }
        entity.#become(rowId, new RowView(layout, bytes))
        codeSession.writes.eventRun?.hasSaved(entity)
      },
      follow(entity, other) {
        if (entity.#collect().size === 0 && other.#rowId !== undefined) entity.#become(other.#rowId, other.#row)
      },
      keep(entity) {
        const more = entity.#more
        const changes = new Map(more?.changes)
        const relatedEntities = new Map(more?.relatedEntities)
        const objects = [...(more?.objects ?? [])].map(([attribute, object]) => ({
          attribute,
          object,
          json: JSON.stringify(object),
        }))
        return () => {
          const { staleStamp, isDropped } = entity.#edit()
          for (const { object, json } of objects) if (JSON.stringify(object) !== json) overwrite(object, readJson(json))
          const keptObjects = new Map(objects.map(({ attribute, object }) => [attribute, object]))
          entity.#more = {
            changes: new Map(changes),
            objects: keptObjects,
            relatedEntities: new Map(relatedEntities),
            staleStamp,
            isDropped,
          }
        }
      },
    })
  }

  static make(entityClass: new () => EntityBase, rowId: number | undefined, reading: Reading | undefined): EntityBase {
    return construct(entityClass, { rowId, reading } satisfies Made)
  }

  /** Names of the fields that a class and its base classes declare. Properties that constructors assign are not fields. */
  static fieldsOf(entityClass: new () => EntityBase): ReadonlySet<string> {
    const fields = new Set<string>()
    try {
      construct(entityClass, { rowId: undefined, reading: undefined, fields } satisfies Made)
    } catch {
      // A field initializer needs a stored entity; the fields before it are known.
    }
    return fields
  }

  #edit(): More {
    this.#more ??= {
      changes: new Map(),
      objects: new Map(),
      relatedEntities: new Map(),
      staleStamp: undefined,
      isDropped: false,
    }
    return this.#more
  }

  getDataClass(): object {
    return this[BINDING].instance
  }

  getKey(): unknown {
    const { key } = this[BINDING].dataClass
    const assignedValue = this.#more?.changes.get(key)
    if (assignedValue !== undefined) return toAuthor(key, assignedValue)
    const row = this.#load()
    return row ? toAuthor(key, row.value(key) as Value) : null
  }

  getStamp(): number {
    return this.#load()?.stamp ?? 0
  }

  isNew(): boolean {
    return this.#rowId === undefined && !this.#more?.isDropped
  }

  touched(): boolean {
    return this.#collect().size > 0
  }

  touchedAttributes(): string[] {
    return [...this.#collect().keys()].map(attribute => attribute.name)
  }

  save(): Status {
    return saveStatusOf(saveEntities([this])[0])
  }

  saveOrThrow(options?: OrThrowOptions): void {
    throwError(saveEntities([this])[0]?.error, options)
  }

  update(
    changes: object | ((entity: this) => void),
    { attempts = UPDATE_ATTEMPTS }: { attempts?: number } = {},
  ): Status {
    // Another attempt would lose the values assigned before.
    const most = this.touched() ? 1 : attempts
    for (let attempt = 1; ; attempt++) {
      if (typeof changes === 'function') refusePromise(changes(this))
      else this.fromObject(changes)
      const status = this.save()
      if (status.status !== STALE || attempt >= most || !this.reload().success) return status
    }
  }

  drop(options?: { force?: boolean }): Status {
    const error = this.#drop(options)
    return error ? statusOf(error) : success()
  }

  dropOrThrow({ index, ...options }: { force?: boolean } & OrThrowOptions = {}): void {
    throwError(this.#drop(options), { index })
  }

  #drop({ force = false }: { force?: boolean } = {}): ErrorData | undefined {
    const { codeSession, dataClass } = this[BINDING]
    const row = this.#load()
    // Found by key, not by row id: after a rolled-back transaction the row id may belong to another entity.
    const rowId = row && codeSession.snapshots.current.table(dataClass).findKey(row.value(dataClass.key) as Value)
    if (rowId === undefined) return LanguageErrors.ENTITY_GONE(dataClass.name).toData()
    const { deleted: deletedCount, error } = codeSession.writes.drop({
      dataClass: dataClass.name,
      rowIds: Uint32Array.of(rowId),
      atomic: false,
      ...(!force && { stamps: Uint32Array.of(this.#sentStamp(row!)) }),
    })
    if (error) return error
    // Another caller has deleted it since the snapshot.
    if (deletedCount === 0) return LanguageErrors.ENTITY_GONE(dataClass.name).toData()
    this.#rowId = undefined
    this.#edit().isDropped = true
    return undefined
  }

  lock(): Status {
    return this.#lock(true)
  }

  unlock(): Status & { wasNotLocked?: boolean } {
    return this.#lock(false)
  }

  reload(): Status {
    const { codeSession, dataClass } = this[BINDING]
    const row = this.#load()
    const rowId = row && codeSession.snapshots.current.table(dataClass).findKey(row.value(dataClass.key) as Value)
    if (rowId === undefined) return statusOf(LanguageErrors.ENTITY_GONE(dataClass.name).toData())
    this.#become(rowId, undefined)
    return success()
  }

  clone(): EntityBase {
    const clone = this[BINDING].entity(this.#rowId)
    clone.#row = this.#load()
    clone.#edit().staleStamp = this.#more?.staleStamp
    for (const [attribute, value] of this.#collect()) clone.#assign(attribute, structuredClone(value))
    return clone
  }

  diff(
    other: EntityBase,
    attributes?: readonly string[],
  ): { attributeName: string; value: unknown; otherValue: unknown }[] {
    const { dataClass } = this[BINDING]
    if (other[BINDING] !== this[BINDING])
      throw UsageErrors.incompatible('an entity of another class', `one of ${dataClass.name}`)
    const names = attributes ?? dataClass.attributes.filter(isComparable).map(({ name }) => name)
    const valueIn = (entity: EntityBase, name: string): unknown => (entity as unknown as Record<string, unknown>)[name]
    return names
      .map(name => ({ attributeName: name, value: valueIn(this, name), otherValue: valueIn(other, name) }))
      .filter(({ value, otherValue }) => JSON.stringify(toPlain(value)) !== JSON.stringify(toPlain(otherValue)))
  }

  toObject(
    filter?: string | readonly string[],
    options?: { withKey?: boolean; withStamp?: boolean },
  ): Record<string, unknown> {
    return toObject(this, this[BINDING], filter, options)
  }

  toJSON(): Record<string, unknown> {
    return this.toObject()
  }

  fromObject(values: object): void {
    assignObject(this, this[BINDING], values)
  }

  indexOf(selection: SelectionBase): number {
    return this.#rowId === undefined ? -1 : selection.positionOf(this.#rowId)
  }

  #lock(lock: boolean): Status & { wasNotLocked?: boolean } {
    const { codeSession, dataClass } = this[BINDING]
    const row = this.#load()
    const rowId = row && codeSession.snapshots.current.table(dataClass).findKey(row.value(dataClass.key) as Value)
    if (rowId === undefined) return statusOf(LanguageErrors.ENTITY_GONE(dataClass.name).toData())
    const { blocker, wasNotLocked } = codeSession.writes.lock(dataClass, rowId, lock)
    if (blocker) return { success: false, ...lockStatus(blocker) }
    return wasNotLocked ? { success: true, wasNotLocked } : success()
  }

  #load(): RowView | undefined {
    if (this.#rowId === undefined) return this.#row
    const { codeSession, dataClass } = this[BINDING]
    if (this.#row) {
      codeSession.writes.eventRun?.recorded?.sawRow(dataClass, this.#rowId, this.#row.globalStamp)
      return this.#row
    }
    const row = codeSession.snapshots.current.table(dataClass).row(this.#rowId)
    if (!row) throw LanguageErrors.ENTITY_GONE(dataClass.name)
    this.#row = row.copy()
    const reading = this.#reading
    const isStale =
      this.#isPeeked && reading!.version !== codeSession.snapshots.version && row.globalStamp > reading!.globalStamp
    if (isStale) this.#edit().staleStamp = Number.NaN
    this.#reading = undefined
    return this.#row
  }

  /** Expected stamp to send. If a value was read from another state, it is a stamp with which the save fails. */
  #sentStamp(row: RowView): number {
    const { staleStamp = row.stamp } = this.#more ?? {}
    return staleStamp >= 0 && staleStamp <= MAX_STAMP ? staleStamp : row.stamp - 1
  }

  #assign(attribute: StorageAttribute, value: Value): void {
    this.#put(attribute, value)
    const { codeSession } = this[BINDING]
    const { hooks } = codeSession.options
    if (hooks?.touched) codeSession.scope.asEvent(() => hooks.touched!(this, attribute))
  }

  #put(attribute: StorageAttribute, value: Value): void {
    const { layout, codeSession } = this[BINDING]
    // Loads the row, so that attributes that are not assigned keep their present values.
    this.#load()
    const { changes, objects, relatedEntities } = this.#edit()
    changes.set(attribute, value)
    objects.delete(attribute)
    for (const relation of layout.references) {
      if (relation.foreignKey !== attribute) continue
      relatedEntities.delete(relation)
      codeSession.writes.eventRun?.forget(this, relation)
    }
  }

  /** Assigned values, and objects whose contents were changed. */
  #collect(): ReadonlyMap<StorageAttribute, Value> {
    this.#checkNames()
    const changes = new Map(this.#more?.changes)
    for (const [attribute, object] of this.#more?.objects ?? []) {
      const slot = this[BINDING].layout.slotOf.get(attribute)!
      const storedJson = this.#row?.json(slot) ?? 'null'
      if (!changes.has(attribute) && JSON.stringify(object) !== storedJson) changes.set(attribute, object as Value)
    }
    return changes
  }

  /** Rejects properties that are neither attributes nor declared fields: their values would be lost silently. */
  #checkNames(): void {
    const { dataClass, fields } = this[BINDING]
    for (const name of Object.keys(this)) {
      if (fields.has(name)) continue
      const attributeNames = dataClass.attributes.map(attribute => attribute.name)
      throw UsageErrors.unknownAttribute(name, dataClass.name, suggestion(name, attributeNames))
    }
  }

  #become(rowId: number, row: RowView | undefined): void {
    this.#rowId = rowId
    this.#row = row
    this.#more = undefined
    this.#isPeeked = false
  }
}

/** Rejects an asynchronous function of `update`: values that it assigns later would not be saved. */
function refusePromise(result: unknown): void {
  if (!isThenable(result)) return
  result.then(undefined, () => {})
  throw LanguageErrors.ASYNC_UPDATE()
}

/** Gives an object from a JSON value the contents of another one. */
function overwrite(object: unknown, contents: unknown): void {
  if (typeof object !== 'object' || object === null) return
  for (const name of Object.keys(object)) delete (object as Record<string, unknown>)[name]
  if (Array.isArray(object)) object.length = 0
  Object.assign(object, contents)
}

const isComparable = ({ kind }: { kind: string }): boolean => kind !== 'relatedEntities' && kind !== 'relatedEntity'

/** Records fields: they are defined on an object, whereas values are set. Compiled fields first ask whether the name exists. */
const noteFields = <T extends object>(target: T, fields: Set<string>): T =>
  new Proxy(target, {
    has: () => true,
    set: () => true,
    defineProperty(_, name) {
      if (typeof name === 'string') fields.add(name)
      return true
    },
  })
