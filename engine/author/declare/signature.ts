import {
  OptionalKind,
  type SchemaOptions,
  type Static,
  type TOptional,
  type TSchema,
  type TTuple,
  type TUnsafe,
  Type,
} from '@sinclair/typebox'
import type { JsonSchema } from '../../base/json-schema.ts'
import type { BaseEntity, BaseSelection, EntityOf, SelectionOf } from './author-types.ts'
import type { DataClassName } from './model-types.ts'

/** A declared parameter of a class function: plain data. */
export interface FunctionParameter {
  /** Unique in its function. */
  readonly name: string
  /** Schema of the argument as it is sent. For an entity or a selection it has {@link ENTITY_OF} or {@link SELECTION_OF}. */
  readonly schema: JsonSchema
  /** It may be omitted, or be null if others follow. */
  readonly isOptional: boolean
}

/** Declaration of a class function besides its code. */
export interface FunctionSignature {
  /** One sentence for documentation and agents. */
  readonly description?: string
  /** Undefined: any arguments. */
  readonly parameters?: readonly FunctionParameter[]
  /** Schema of the result in JSON. For an entity or a selection it has {@link ENTITY_OF} or {@link SELECTION_OF}. */
  readonly result?: JsonSchema
}

/** Keywords of schemas that stand for an entity or a selection, with the name of its dataclass. */
export const ENTITY_OF = 'x-entity-of'
export const SELECTION_OF = 'x-selection-of'

/** A schema, followed by the alternatives of its `anyOf`. */
export const alternativesOf = (schema: JsonSchema): JsonSchema[] => [
  schema,
  ...((schema.anyOf as JsonSchema[] | undefined) ?? []),
]

/** A schema of an author without the dataclasses that are hidden from a caller. */
export function visibleSchema(schema: JsonSchema, shows: (dataClass: string) => boolean): JsonSchema {
  const { anyOf } = schema
  if (Array.isArray(anyOf)) return { ...schema, anyOf: (anyOf as JsonSchema[]).map(each => visibleSchema(each, shows)) }
  const dataClass = schema[ENTITY_OF] ?? schema[SELECTION_OF]
  return dataClass === undefined || shows(String(dataClass)) ? schema : { type: 'object', additionalProperties: true }
}

/** Schema of a parameter or result that is an entity, as `{"__ENTITY":true,"__DATACLASS":"City","__KEY":1}`. */
export const entityOf = <const N extends DataClassName>(name: N, options: SchemaOptions = {}): TUnsafe<EntityOf<N>> =>
  Type.Unsafe<EntityOf<N>>({
    ...options,
    type: 'object',
    properties: {
      __ENTITY: { const: true },
      __DATACLASS: { const: name },
      __KEY: { type: ['string', 'number', 'null'] },
      __STAMP: { type: 'integer' },
    },
    required: ['__ENTITY', '__DATACLASS'],
    [ENTITY_OF]: name,
  })

/** Schema of a parameter or result that is a selection, as `{"__DATASET":"{id of an entity set}","__ENTITIES":true}`. */
export const selectionOf = <const N extends DataClassName>(
  name: N,
  options: SchemaOptions = {},
): TUnsafe<SelectionOf<N>> =>
  Type.Unsafe<SelectionOf<N>>({
    ...options,
    type: 'object',
    properties: { __DATASET: { type: 'string', examples: ['0'.repeat(32)] }, __ENTITIES: { const: true } },
    required: ['__DATASET'],
    [SELECTION_OF]: name,
  })

/** Arguments that a tuple of schemas describes. */
export type ArgumentsOf<P> = 0 extends 1 & P
  ? // biome-ignore lint/suspicious/noExplicitAny: nothing is declared
    any[]
  : P extends readonly [infer First extends TSchema, ...infer Rest]
    ? First extends TOptional<TSchema>
      ? [first?: Static<First>, ...rest: ArgumentsOf<Rest>]
      : [first: Static<First>, ...rest: ArgumentsOf<Rest>]
    : []

/** Values that a function may return for a declared result; a generator declares the result of each of its values. */
export type ResultOf<R> = 0 extends 1 & R ? unknown : R extends TSchema ? MaybeLater<Sendable<Static<R>>> : never

type MaybeLater<T> = T | Promise<T> | Generator<T, unknown, unknown> | AsyncGenerator<T, unknown, unknown>

/** Values that can be sent as a `T`. */
type Sendable<T> = T extends string
  ? T | (string extends T ? Date : never)
  : T extends null
    ? // biome-ignore lint/suspicious/noConfusingVoidType: a method that returns nothing
      null | undefined | void
    : // biome-ignore lint/suspicious/noExplicitAny: an entity or a selection of any dataclass
      T extends BaseEntity<any> | BaseSelection<any>
      ? T
      : T extends object
        ? { readonly [K in keyof T]: Sendable<T[K]> }
        : T

/**
 * Parameters of a tuple as plain data.
 * @throws {TypeError} it is not a tuple of schemas
 */
export function parametersOf(tuple: TTuple): FunctionParameter[] {
  const { type, items = [], additionalItems = false } = tuple as Partial<TTuple<TSchema[]>>
  if (type !== 'array' || !Array.isArray(items) || additionalItems !== false) {
    throw new TypeError('"parameters" takes a tuple of schemas: Type.Tuple([Type.String({ title: "name" })])')
  }
  return items.map(item => ({ name: item.title ?? '', schema: plainSchema(item), isOptional: OptionalKind in item }))
}

/** A schema as plain data in the dialect 2020-12. @throws {TypeError} it is not an object, or refers to itself */
export function plainSchema(schema: TSchema): JsonSchema {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new TypeError(`a schema is made with Type, such as Type.String(); received ${JSON.stringify(schema)}`)
  }
  return withTuples(JSON.parse(JSON.stringify(schema)) as JsonSchema) as JsonSchema
}

/** Keywords whose values are data and not schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])

/** Converts tuples, which TypeBox writes as in draft 7. */
function withTuples(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withTuples)
  if (typeof schema !== 'object' || schema === null) return schema
  const { items, additionalItems, ...rest } = schema as Record<string, unknown>
  const entries = Object.entries(rest).map(([name, value]) => [name, DATA.has(name) ? value : withTuples(value)])
  const keywords = Object.fromEntries(entries) as Record<string, unknown>
  if (!Array.isArray(items)) return { ...keywords, ...(items !== undefined && { items: withTuples(items) }) }
  return { ...keywords, prefixItems: items.map(withTuples), items: additionalItems ?? false }
}
