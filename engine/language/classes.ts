/**
 * `tesser/classes`: what the authors of plugins write the classes of their data model with. Only function threads load
 * this module. What it promises is in the README of this room.
 */
import type { Attributes, BaseDataClass, BaseEntity, BaseSelection, DataClassName } from './author-types.ts'
import { DataClassBase } from './data-class.ts'
import { type ClassKind, SUBJECT } from './describe-classes.ts'
import { EntityBase } from './entity.ts'
import { SelectionBase } from './entity-selection.ts'

export type {
  AttributePath,
  Attributes,
  BaseDataClass,
  BaseDataStore,
  BaseEntity,
  BaseSelection,
  Binary,
  Calculated,
  Classes,
  DataClassInfo,
  DataClassName,
  DataClassOf,
  DataStoreOf,
  EntityOf,
  Key,
  Model,
  QuerySettings,
  QueryValue,
  SelectionOf,
  Status,
} from './author-types.ts'
export { ProtocolError } from '../errors.ts'
export { DataStore, ds, Singleton } from './data-store.ts'
export {
  type CalculatedOptions,
  calculated,
  event,
  type EventKind,
  exposed,
  type FunctionOptions,
  onHTTPGet,
  orderByOf,
  queryOf,
} from './decorators.ts'

/** Base class of a dataclass's functions; `this` is `ds.Employee` in them. */
export const DataClass = <const N extends DataClassName>(name: N): (new () => BaseDataClass<N>) =>
  about(DataClassBase, 'dataClass', name) as never

/** Base class of an entity's functions, calculated attributes and events. */
export const Entity = <const N extends DataClassName>(name: N): (new () => BaseEntity<N> & Attributes<N>) =>
  about(EntityBase, 'entity', name) as never

/** Base class of a selection's functions. */
export const EntitySelection = <const N extends DataClassName>(name: N): (new () => BaseSelection<N>) =>
  about(SelectionBase, 'entitySelection', name) as never

function about(base: new () => object, kind: ClassKind, dataClass: string): new () => object {
  return class extends base {
    static readonly [SUBJECT] = { kind, dataClass }
  }
}
