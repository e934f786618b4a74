import type { RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { BinaryValue, Value } from '../catalog/value.ts'
import { RowView } from '../storage/row-view.ts'
import { suggestion } from '../suggestion.ts'
import type { Status } from './author-types.ts'
import { BINDING, type Binding } from './binding.ts'
import type { SelectionBase } from './entity-selection.ts'
import { LanguageErrors } from './language-errors.ts'
import type { NumberReader, Reading } from './reading.ts'
import { saveEntities } from './save-entities.ts'
import { statusOf, success } from './status.ts'
import { assignObject, toObject } from './to-object.ts'
import { plain, toAuthor, toJson } from './values.ts'
import { lockStatus } from '../write/write-errors.ts'

/** What other modules may do with an entity and an author may not. */
export interface EntityInternals {
  /** Undefined: it has never been saved, or has been dropped. */
  rowId(entity: EntityBase): number | undefined
  /** Its row as it was loaded; undefined of a new entity. Of one that was found but not read yet it is read now. */
  row(entity: EntityBase): RowView | undefined
  /** A number or a bool. From its column when many entities of one selection are asked for it, else from the row. */
  number(entity: EntityBase, reader: NumberReader): unknown
  /** Assigned and not saved. Undefined: not assigned. */
  assigned(entity: EntityBase, attribute: StorageAttribute): Value | undefined
  /** Its values are of a state that somebody has seen before: it cannot be saved when that is not the one of its row. */
  seenAt(entity: EntityBase, stamp: number): void
  assign(entity: EntityBase, attribute: StorageAttribute, value: Value): void
  /** The same when no code does it: without the event. */
  put(entity: EntityBase, attribute: StorageAttribute, value: Value): void
  /** Everything that a save would send. */
  changes(entity: EntityBase): ReadonlyMap<StorageAttribute, Value>
  /** An object value, the same one each time, so that changes inside it are found. */
  object(entity: EntityBase, attribute: StorageAttribute, read: () => unknown): unknown
  related(entity: EntityBase, relation: RelatedEntityAttribute, find: () => EntityBase | null): EntityBase | null
  setRelated(entity: EntityBase, relation: RelatedEntityAttribute, related: EntityBase | null): void
}

export let internals!: EntityInternals

/** For the next constructor that runs: an author's class may have one of its own without parameters. */
let isMaking = false
let nextRowId: number | undefined
let nextReading: Reading | undefined

/** What is kept of an entity beside its row. */
interface More {
  /** Assigned and not saved. */
  readonly changes: Map<StorageAttribute, Value>
  /** Objects that were read, which may be changed inside. */
  readonly objects: Map<StorageAttribute, unknown>
  readonly related: Map<RelatedEntityAttribute, EntityBase | null>
  /** Something was read from an older state than its row is of. */
  isStale: boolean
  isDropped: boolean
}

export class EntityBase {
  declare readonly [BINDING]: Binding
  #rowId: number | undefined
  #row: RowView | undefined
  #reading: Reading | undefined
  /** Something was read from a column: the row, when it is loaded, has to be of the same state. */
  #isPeeked = false
  /** What few entities have. */
  #more: More | undefined

  constructor() {
    if (!isMaking) throw LanguageErrors.NOT_CONSTRUCTIBLE(new.target.name)
    isMaking = false
    this.#rowId = nextRowId
    this.#reading = nextReading
  }

  static {
    internals = {
      rowId: entity => entity.#rowId,
      row: entity => entity.#load(),
      number(entity, reader) {
        const assigned = entity.#more?.changes.get(reader.attribute)
        if (assigned !== undefined) return assigned
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
        if (stamp !== entity.getStamp()) entity.#edit().isStale = true
      },
      assign: (entity, attribute, value) => entity.#assign(attribute, value),
      put: (entity, attribute, value) => entity.#put(attribute, value),
      changes: entity => entity.#collect(),
      object(entity, attribute, read) {
        const { objects } = entity.#edit()
        if (!objects.has(attribute)) objects.set(attribute, read())
        return objects.get(attribute)
      },
      related(entity, relation, find) {
        const { related } = entity.#edit()
        const known = related.get(relation)
        if (known !== undefined) return known
        const found = find()
        related.set(relation, found)
        return found
      },
      setRelated(entity, relation, related) {
        entity.#assign(
          relation.foreignKey,
          related ? (internals.row(related)!.value(relation.target.key) as Value) : null,
        )
        entity.#edit().related.set(relation, related)
      },
    }
  }

  static make(entityClass: new () => EntityBase, rowId: number | undefined, reading: Reading | undefined): EntityBase {
    isMaking = true
    nextRowId = rowId
    nextReading = reading
    return new entityClass()
  }

  #edit(): More {
    this.#more ??= { changes: new Map(), objects: new Map(), related: new Map(), isStale: false, isDropped: false }
    return this.#more
  }

  getDataClass(): object {
    return this[BINDING].instance
  }

  getKey(): unknown {
    const { key } = this[BINDING].dataClass
    const assigned = this.#more?.changes.get(key)
    if (assigned !== undefined) return toAuthor(key, assigned)
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
    return saveEntities([this])[0]!
  }

  drop({ force = false }: { force?: boolean } = {}): Status {
    const { language, dataClass } = this[BINDING]
    const row = this.#load()
    // By its key and not by its row id: after a transaction that was taken back this may be another entity's.
    const rowId = row && language.snapshot.table(dataClass).findKey(row.value(dataClass.key) as Value)
    if (rowId === undefined) return statusOf(LanguageErrors.ENTITY_GONE(dataClass.name).toData())
    const { error } = language.drop({
      dataClass: dataClass.name,
      rowIds: Uint32Array.of(rowId),
      atomic: false,
      ...(!force && { stamps: Uint32Array.of(this.#sentStamp(row!)) }),
    })
    const status = error ? statusOf(error) : success()
    if (!error) {
      this.#rowId = undefined
      this.#edit().isDropped = true
    }
    return status
  }

  lock(): Status {
    return this.#lock(true)
  }

  unlock(): Status & { wasNotLocked?: boolean } {
    return this.#lock(false)
  }

  reload(): Status {
    const { language, dataClass } = this[BINDING]
    const row = this.#load()
    const rowId = row && language.snapshot.table(dataClass).findKey(row.value(dataClass.key) as Value)
    if (rowId === undefined) return statusOf(LanguageErrors.ENTITY_GONE(dataClass.name).toData())
    this.#become(rowId, undefined)
    return success()
  }

  clone(): EntityBase {
    const clone = this[BINDING].entity(this.#rowId)
    clone.#row = this.#load()
    clone.#edit().isStale = this.#more?.isStale ?? false
    for (const [attribute, value] of this.#collect()) clone.#assign(attribute, structuredClone(value))
    return clone
  }

  diff(
    other: EntityBase,
    attributes?: readonly string[],
  ): { attributeName: string; value: unknown; otherValue: unknown }[] {
    const { dataClass } = this[BINDING]
    if (other[BINDING] !== this[BINDING])
      throw LanguageErrors.INCOMPATIBLE('an entity of another class', `one of ${dataClass.name}`)
    const names = attributes ?? dataClass.attributes.filter(isComparable).map(({ name }) => name)
    const valueIn = (entity: EntityBase, name: string): unknown => (entity as unknown as Record<string, unknown>)[name]
    return names
      .map(name => ({ attributeName: name, value: valueIn(this, name), otherValue: valueIn(other, name) }))
      .filter(({ value, otherValue }) => JSON.stringify(plain(value)) !== JSON.stringify(plain(otherValue)))
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
    const { language, dataClass } = this[BINDING]
    const row = this.#load()
    const rowId = row && language.snapshot.table(dataClass).findKey(row.value(dataClass.key) as Value)
    if (rowId === undefined) return statusOf(LanguageErrors.ENTITY_GONE(dataClass.name).toData())
    const { blocker, wasNotLocked } = language.lock(dataClass, rowId, lock)
    if (blocker) return { success: false, ...lockStatus(blocker) }
    return wasNotLocked ? { success: true, wasNotLocked } : success()
  }

  #load(): RowView | undefined {
    if (this.#row || this.#rowId === undefined) return this.#row
    const { language, dataClass } = this[BINDING]
    const row = language.snapshot.table(dataClass).row(this.#rowId)
    if (!row) throw LanguageErrors.ENTITY_GONE(dataClass.name)
    this.#row = row.copy()
    const reading = this.#reading
    const isStale = this.#isPeeked && reading!.version !== language.version && row.globalStamp > reading!.globalStamp
    if (isStale) this.#edit().isStale = true
    this.#reading = undefined
    return this.#row
  }

  /** What was read from it must not be of an older state than what is sent as seen. */
  #sentStamp(row: RowView): number {
    return this.#more?.isStale ? row.stamp - 1 : row.stamp
  }

  #assign(attribute: StorageAttribute, value: Value): void {
    this.#put(attribute, value)
    const { language } = this[BINDING]
    language.withOwnRights(() => language.options.hooks?.touched?.(this, attribute))
  }

  #put(attribute: StorageAttribute, value: Value): void {
    const { layout } = this[BINDING]
    // What is not assigned is to stay as it is now.
    this.#load()
    const { changes, objects, related } = this.#edit()
    changes.set(attribute, value)
    objects.delete(attribute)
    for (const relation of layout.references) if (relation.foreignKey === attribute) related.delete(relation)
  }

  /** What has been assigned, and objects that were changed inside. */
  #collect(): ReadonlyMap<StorageAttribute, Value> {
    this.#checkNames()
    const changes = new Map(this.#more?.changes)
    for (const [attribute, object] of this.#more?.objects ?? []) {
      const slot = this[BINDING].layout.slotOf.get(attribute)!
      const stored = this.#row?.json(slot) ?? 'null'
      if (!changes.has(attribute) && JSON.stringify(object) !== stored) changes.set(attribute, object as Value)
    }
    return changes
  }

  /** A name that is no attribute would be lost in silence. Fields that a class declares are there from the start. */
  #checkNames(): void {
    const { dataClass, fields } = this[BINDING]
    for (const name of Object.keys(this)) {
      if (fields.has(name)) continue
      const known = dataClass.attributes.map(attribute => attribute.name)
      throw LanguageErrors.UNKNOWN_ATTRIBUTE(name, dataClass.name, suggestion(name, known))
    }
  }

  #become(rowId: number, row: RowView | undefined): void {
    this.#rowId = rowId
    this.#row = row
    this.#more = undefined
    this.#isPeeked = false
  }

  /** What the writer gets: which entity in which state, and what has been assigned. */
  static toSave(entity: EntityBase): { element: object; seen: number; values: Record<string, unknown> } {
    const row = entity.#load()
    const seen = row ? entity.#sentStamp(row) : 0
    const values = [...entity.#collect()].map(([attribute, value]) => [attribute.name, toJson(attribute, value)])
    return { element: row ? { __KEY: row.key, __STAMP: seen } : {}, seen, values: Object.fromEntries(values) }
  }

  /** After a save. */
  static saved(entity: EntityBase, rowId: number, bytes: Uint8Array): void {
    const { language, layout } = entity[BINDING]
    for (const [attribute, value] of entity.#more?.changes ?? []) {
      if (attribute.type !== 'image' && attribute.type !== 'blob') continue
      language.transactionOverlay?.addBinary(attribute, rowId, value as BinaryValue | null)
    }
    entity.#become(rowId, new RowView(layout, bytes))
  }
}

const isComparable = ({ kind }: { kind: string }): boolean => kind !== 'relatedEntities' && kind !== 'relatedEntity'
