/** Types of a client: derive results from shapes of dataclasses, which the generator writes, and lists of attribute paths. */

// biome-ignore lint/suspicious/noExplicitAny: constraints of types; anything narrower makes the compiler look into all of a model
export type Members = Readonly<Record<string, any>>

// biome-ignore lint/suspicious/noExplicitAny: the model says nothing of what objects hold
export type Json = any

/** Type-level description of a dataclass. */
export interface Shape {
  readonly name: string
  readonly key: string | number | bigint
  /** Attributes as they are read, with `__KEY`, `__STAMP` and `__TIMESTAMP`; N→1 relations as references. */
  readonly values: Members
  /** Names for lists: attributes, and `*` for all except 1→N relations. */
  readonly own: string
  /** `own`, and paths over one relation: most paths are resolved here in one step. */
  readonly near: string
  /** Pattern of paths into objects. */
  readonly inside: string
  /** Dataclasses that relations lead to. */
  readonly to: Members
  /** Names of the 1→N relations in `to`. */
  readonly many: string
  /** Attributes that can be saved. */
  readonly input: object
  /** Names of the attributes in `input` that a new entity needs. */
  readonly needs: string
  readonly functions: Functions
}

/** Class functions of a dataclass, by the target they are called on: {@link Declared}, or null. */
interface Functions {
  readonly dataClass: Members
  readonly selection: Members
  readonly entity: Members
}

/** Related entity whose attributes were not requested. */
export interface Reference {
  readonly __KEY: string
}

/** Link to the bytes of an image or a blob, valid until the value is replaced. */
export interface BinaryLink {
  readonly url: string
}

/** Uploaded file, to be saved as the value of an image or a blob within two minutes. */
export interface Upload {
  readonly ID: string
}

/** Comparison of a vector attribute, with `>`, `>=`, `<` or `<=`. */
export interface Similar {
  readonly vector: readonly number[]
  readonly metric?: 'cosine' | 'dot' | 'euclidean'
  /** Null lets every entity pass, the nearest first. */
  readonly threshold?: number | null
}

/** A page of a selection. */
export interface Page<Entity> {
  /** Number of entities in the selection. */
  readonly count: number
  /** Position of the first one of this page. */
  readonly first: number
  readonly entities: Entity[]
}

type Head<P> = P extends `${infer H}.${string}` ? H : P
type Tail<P, K extends string> = P extends `${K}.${infer T}` ? T : never

/** Entity with the attributes of a list. */
export type Row<C extends Shape, P extends string> = {
  [K in '*' extends P ? Exclude<Head<P>, '*'> | (keyof C['values'] & string) : Head<P> | HeadName]: K extends P
    ? C['values'][K]
    : K extends C['many']
      ? Page<Row<C['to'][K], Tail<P, K>>>
      : K extends keyof C['to']
        ? Row<C['to'][K], Tail<P, K & string>> | null
        : C['values'][K]
}
type HeadName = '__KEY' | '__STAMP' | '__TIMESTAMP'

/** The path if it leads to an attribute, else the valid paths, which editors offer. */
export type Path<C extends Shape, P> = P extends C['near']
  ? P
  : P extends `${infer H}.${infer T}`
    ? H extends keyof C['to']
      ? `${H}.${Path<C['to'][H], T>}`
      : P extends C['inside']
        ? P
        : C['near']
    : C['near']

/** The path if it leads to a relation, else all valid ones. */
export type Relation<C extends Shape, P> = P extends keyof C['to']
  ? P
  : P extends `${infer H}.${infer T}`
    ? H extends keyof C['to']
      ? `${H}.${Relation<C['to'][H], T>}`
      : keyof C['to'] & string
    : keyof C['to'] & string

/** A path, optionally followed by `asc` or `desc`. */
export type Order<C extends Shape, T> = T extends C['near']
  ? T
  : T extends `${infer P} ${infer D extends 'asc' | 'desc'}`
    ? `${Path<C, P>} ${D}`
    : Path<C, T>

/** A list element that is inferred literally and then checked against `Path`, which is excluded from inference. */
export type Checked<L, Path> = [L] extends [never] ? L : NoInfer<Path>

/** Value at the end of a path. */
export type ValueAt<C extends Shape, P> = P extends `${infer H}.${infer T}`
  ? H extends keyof C['to']
    ? ValueAt<C['to'][H], T>
    : unknown
  : C['values'][P & string]

/** Type of a sum or an average; a string for a decimal, whose values are strings. */
export type Total<Value> = unknown extends Value ? number : Value extends string ? string : Value

/** A value in a filter. An entity or a reference stands for its key; null is written into the filter. */
export type QueryValue =
  | string
  | number
  | bigint
  | boolean
  | Date
  | null
  | Similar
  | Reference
  | readonly (string | number | bigint | boolean | Date)[]
