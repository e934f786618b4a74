/**
 * `tesser/classes`: what the authors of plugins write the classes of their data model with. Only function threads load
 * this module; compilers see `tesser-classes.d.ts`.
 */
import { DataClassBase } from './data-class.ts'
import { type ClassKind, SUBJECT } from './describe-classes.ts'
import { EntityBase } from './entity.ts'
import { SelectionBase } from './entity-selection.ts'
import type * as Declared from './tesser-classes.d.ts'

export { ProtocolError } from '../errors.ts'
export { OutgoingMessage } from './outgoing-message.ts'
export { DataStore, ds, Session, Singleton } from './data-store.ts'
export * from './decorators.ts'

export const DataClass: typeof Declared.DataClass = name => about(DataClassBase, 'dataClass', name) as never
export const Entity: typeof Declared.Entity = name => about(EntityBase, 'entity', name) as never
export const EntitySelection: typeof Declared.EntitySelection = name =>
  about(SelectionBase, 'entitySelection', name) as never

function about(base: new () => object, kind: ClassKind, dataClass: string): new () => object {
  return class extends base {
    static readonly [SUBJECT] = { kind, dataClass }
  }
}
