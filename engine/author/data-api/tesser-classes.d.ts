/** Types of `tesser/classes` for the compiler of a plugin: `classes.ts` without the engine. A test compares the two files. */
import type {
  BaseDataClass,
  BaseDataStore,
  BaseEntity,
  BaseSelection,
  CallRequest,
  CallSession,
  DataStoreOf,
} from '../declare/author-types.ts'
import type { Attributes, DataClassName } from '../declare/model-types.ts'

// `*` is required: otherwise `Model` and `Classes` cannot be merged into under the name of this module.
export * from '../declare/author-types.ts'
export * from '../declare/model-types.ts'
export type { CalculatedOptions } from '../declare/calculated-options.ts'
export type { EventError, EventKind, EventOf, OrderByEvent, QueryEvent } from '../declare/event-types.ts'
export { type Static, Type } from '@sinclair/typebox'
export { entityOf, selectionOf } from '../declare/signature.ts'
export { ProtocolError } from '../../base/errors.ts'
export * from '../declare/decorators.ts'

/** The datastore while a function runs: `ds.Employee.query(…)`. */
export declare const ds: DataStoreOf

/** Session of the request that a function runs for. */
export declare const Session: CallSession

/** The request that a function runs for. */
export declare const request: CallRequest

/** Base class of the datastore's functions: `export class Store extends DataStore { … }`. */
export declare class DataStore implements BaseDataStore {
  transaction<T>(work: () => T extends PromiseLike<unknown> ? never : T): T
  enqueue: BaseDataStore['enqueue']
}

/** Base class of shared singletons: one instance, called by the name of its class. */
export declare class Singleton {}

/** Base class of a dataclass's functions; `this` is `ds.Employee` in them. */
export declare const DataClass: <const N extends DataClassName>(name: N) => new () => BaseDataClass<N>

/** Base class of an entity's functions, calculated attributes and events. */
export declare const Entity: <const N extends DataClassName>(name: N) => new () => BaseEntity<N> & Attributes<N>

/** Base class of a selection's functions. */
export declare const EntitySelection: <const N extends DataClassName>(name: N) => new () => BaseSelection<N>

/**
 * An answer that a function composes itself and returns: a download, a redirect, a page.
 * Source: protocol notes, 7.4.
 */
export declare class OutgoingMessage {
  /** 200 to 599; 200 by default. */
  setStatus(status: number): void
  /** Sets a header; replaces an earlier one of that name. */
  setHeader(name: string, value: string | number): void
  /** Sets the body: text, bytes, an image or blob of an attribute, or any JSON value. Sets `Content-Type` too. */
  setBody(body: unknown): void
}
