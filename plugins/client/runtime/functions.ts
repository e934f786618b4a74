/** Types of class functions, from their declarations or from the classes of their authors. */
import type { RequestOptions } from './connection.ts'
import type { Members, Page, Row } from './types.ts'

/** Everything from which the types of a client are derived. */
export interface Environment {
  /** Shapes of the dataclasses by name. */
  readonly model: Members
  /** Functions of the datastore, and of singletons by name. */
  readonly services: { readonly dataStore: Members; readonly singletons: Members }
  /** Module with the classes: `typeof import('./classes.ts')`. */
  readonly classes: unknown
  /** Parameters of reads that plugins of the server add, by name. */
  readonly parameters?: object
}

/** A function with declared parameters. */
export interface Declared<Arguments extends readonly unknown[], Result> {
  readonly arguments: Arguments
  readonly result: Result
}

/** Result of a declared function that is an entity or a selection of a dataclass. */
export interface EntityResult<Name> {
  readonly entity: Name
}
export interface SelectionResult<Name> {
  readonly selection: Name
}

/** Result of a declared function that is a generator. */
export interface StreamResult<Value> {
  readonly yields: Value
}

/** An entity as an argument: a handle, `db.City.at(7)`. */
export interface EntityArgument<Name> {
  toJSON(): { readonly __ENTITY: true; readonly __DATACLASS: Name; readonly __KEY: string | number | bigint }
}

/** A selection as an argument: an entity set. */
export interface SelectionArgument<Name> {
  toJSON(): { readonly __ENTITIES: true; readonly __DATASET: string; readonly __DATACLASS: Name }
}

/** Arguments of `call` after the name. */
export type CallArguments<Arguments extends readonly unknown[]> = [] extends Arguments
  ? [args?: Arguments, options?: RequestOptions]
  : [args: Arguments, options?: RequestOptions]

/** Arguments and result of a function, from its declaration if there is one, else from the method of a class. */
export type Signature<Declaration, Class, Name, E extends Environment, C extends string, P extends string> =
  Declaration extends Declared<infer Arguments, infer Result>
    ? Declared<Arguments, Received<Result, E, C, P>>
    : Name extends keyof Class
      ? Class[Name] extends (...args: infer Arguments) => infer Result
        ? Declared<{ [I in keyof Arguments]: SentAs<Arguments[I]> }, Received<Result, E, C, P>>
        : Declared<readonly unknown[], unknown>
      : Declared<readonly unknown[], unknown>

/** Instance type of an exported class. */
export type ClassNamed<E extends Environment, Name> = Name extends keyof E['classes']
  ? InstanceOf<E['classes'][Name]>
  : unknown

/** Instance type of the class that has this function of the datastore. */
export type StoreWith<E extends Environment, Name> = {
  [K in keyof E['classes']]: InstanceOf<E['classes'][K]> extends infer I extends Record<Name & string, unknown> &
    Transactions
    ? I
    : never
}[keyof E['classes']]
interface Transactions {
  transaction(work: () => unknown): unknown
}
type InstanceOf<Class> = Class extends abstract new (...args: never[]) => infer I ? I : never

interface AuthorEntity<Name> {
  getKey(): unknown
  getDataClass(): { getInfo(): { readonly name: Name } }
}
interface AuthorSelection<Name> {
  isOrdered(): boolean
  getDataClass(): { getInfo(): { readonly name: Name } }
}

/** An argument as a client sends it: methods get dates as texts. */
type SentAs<T> = T extends Date
  ? string
  : T extends AuthorSelection<infer N>
    ? SelectionArgument<N>
    : T extends AuthorEntity<infer N>
      ? EntityArgument<N>
      : T

/** A result as a client receives it. */
type Received<T, E extends Environment, C extends string, P extends string> = unknown extends T
  ? unknown
  : T extends StreamResult<infer V> | Generator<infer V, unknown, never> | AsyncGenerator<infer V, unknown, never>
    ? AsyncIterable<Received<V, E, C, P>>
    : T extends SelectionResult<infer N> | AuthorSelection<infer N>
      ? Page<RowNamed<N, E, C, P>>
      : T extends EntityResult<infer N> | AuthorEntity<infer N>
        ? RowNamed<N, E, C, P>
        : T extends { setStatus(status: number): void }
          ? unknown
          : AsJson<T>
type RowNamed<N, E extends Environment, C extends string, P extends string> = N extends keyof E['model'] & string
  ? Row<E['model'][N], N extends C ? P : '*'>
  : unknown

/** A value after a round trip through JSON. */
type AsJson<T> = unknown extends T
  ? T
  : T extends Date
    ? string
    : T extends bigint
      ? number | bigint
      : T extends void
        ? null
        : T extends object
          ? { [K in keyof T]: AsJson<T[K]> }
          : T
