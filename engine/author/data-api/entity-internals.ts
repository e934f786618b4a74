import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import type { RowView } from '../../row-format/row-view.ts'
import type { EntityBase } from './entity.ts'
import type { NumberReader } from './reading.ts'

/** Internals of an entity for other modules, not for plugin code. */
interface EntityInternals {
  /** Undefined: it has never been saved, or has been dropped. */
  rowId(entity: EntityBase): number | undefined
  /** Its row as it was loaded; undefined of a new entity. Of one that was found but not read yet it is read now. */
  row(entity: EntityBase): RowView | undefined
  /** A number or a bool. From its column when many entities of one selection are asked for it, else from the row. */
  number(entity: EntityBase, reader: NumberReader): unknown
  /** Assigned and not saved. Undefined: not assigned. */
  assigned(entity: EntityBase, attribute: StorageAttribute): Value | undefined
  /** Sets the expected stamp: the entity cannot be saved when its row has another one. */
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
  /** Message for the writer: the entity, its expected stamp, and its assigned values. */
  toSave(entity: EntityBase): { element: object; seen: number; values: Record<string, unknown> }
  /** After a save. */
  saved(entity: EntityBase, rowId: number, bytes: Uint8Array): void
}

export let internals!: EntityInternals

/** Called once by the class of entities, which alone sees their private members. */
export function shareInternals(own: EntityInternals): void {
  internals = own
}
