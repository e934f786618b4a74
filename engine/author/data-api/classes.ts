/**
 * `tesser/classes`: the module with which plugins write the classes of their data model. Only function threads load it; compilers
 * see `tesser-classes.d.ts`.
 */
import { DataClassBase } from './data-class.ts'
import { type ClassKind, SUBJECT } from '../declare/describe-classes.ts'
import { EntityBase } from './entity.ts'
import { SelectionBase } from './entity-selection.ts'
import { giveMetadata } from '../declare/members.ts'
import { noteBase } from '../declare/module-declarations.ts'
import type * as Declared from './tesser-classes.d.ts'

export { type Static, Type } from '@sinclair/typebox'
export { entityOf, selectionOf } from '../declare/signature.ts'
export { ProtocolError } from '../../base/errors.ts'
export { OutgoingMessage } from './outgoing-message.ts'
export { DataStore, ds, request, Session, Singleton } from './data-store.ts'
export * from '../declare/decorators.ts'

export const DataClass = factory('DataClass', DataClassBase, 'dataClass') as typeof Declared.DataClass
export const Entity = factory('Entity', EntityBase, 'entity') as typeof Declared.Entity
export const EntitySelection = factory(
  'EntitySelection',
  SelectionBase,
  'entitySelection',
) as typeof Declared.EntitySelection

/** Factory of the base classes of one kind: each stores the dataclass of its subclasses. */
function factory(name: string, base: new () => object, kind: ClassKind): unknown {
  return function make(dataClass: string): new () => object {
    const baseClass = class extends base {
      static readonly [SUBJECT] = { kind, dataClass }
    }
    noteBase(baseClass, giveMetadata(baseClass), `${name}('${dataClass}')`, make)
    return baseClass
  }
}
