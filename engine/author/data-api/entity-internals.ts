import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import type { RowView } from '../../row-format/row-view.ts'
import type { EntityBase } from './entity.ts'
import type { NumberReader } from './reading.ts'

/** Internals of an entity for other modules, not for plugin code. */
interface EntityInternals {
  /** Undefined: never saved, or dropped. */
  rowId(entity: EntityBase): number | undefined
  /** Row of the entity as it was loaded; loads it if necessary. A new entity has a row only for its defaults, without a key. */
  row(entity: EntityBase): RowView | undefined
  /** A number or a bool. Read from its column when many entities of one selection are asked for it, otherwise from the row. */
  number(entity: EntityBase, reader: NumberReader): unknown
  /** Value that is assigned and not saved. Undefined: not assigned. */
  assigned(entity: EntityBase, attribute: StorageAttribute): Value | undefined
  /** Sets the expected stamp: the entity cannot be saved if its row has another one. */
  seenAt(entity: EntityBase, stamp: number): void
  assign(entity: EntityBase, attribute: StorageAttribute, value: Value): void
  /** Assigns without the touched event, for values that the engine sets. */
  put(entity: EntityBase, attribute: StorageAttribute, value: Value): void
  /** Everything that a save would send. */
  changes(entity: EntityBase): ReadonlyMap<StorageAttribute, Value>
  /** An object value, the same instance each time, so that changes inside it are detected. */
  object(entity: EntityBase, attribute: StorageAttribute, read: () => unknown): unknown
  relatedEntity(entity: EntityBase, relation: RelatedEntityAttribute, find: () => EntityBase | null): EntityBase | null
  setRelated(entity: EntityBase, relation: RelatedEntityAttribute, relatedEntity: EntityBase | null): void
  /** Message for the writer: the entity, its expected stamp, and its assigned values. */
  toSave(entity: EntityBase): { element: object; expectedStamp: number; values: Record<string, unknown> }
  /** Gives a new entity automatic values, which are not changes. */
  fill(entity: EntityBase, row: RowView): void
  /** Gives a new entity the values that the writer would fill in; with undefined, only its defaults again. */
  show(entity: EntityBase, bytes: Uint8Array | undefined): void
  /** Updates the entity after a save. */
  afterSave(entity: EntityBase, rowId: number, bytes: Uint8Array): void
  /** Takes over the row of another object of the same entity, unless it has unsaved values. */
  follow(entity: EntityBase, other: EntityBase): void
  /** @returns a function that restores the current values of the entity */
  keep(entity: EntityBase): () => void
}

export let internals!: EntityInternals

/** Called once by the class of entities, the only one that can access their private members. */
export function shareInternals(implementation: EntityInternals): void {
  internals = implementation
}
