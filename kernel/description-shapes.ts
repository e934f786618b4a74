import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { shapeProblems } from '../engine/index.ts'
import {
  type Accepts,
  type BodySpec,
  type CommandSpec,
  type MethodSpec,
  type OperationSpec,
  type ParameterSpec,
  type RouteSpec,
  type ServiceSpec,
  type Verb,
  VERBS,
} from './description.ts'

/** A schema for each member, so that none of an interface is forgotten here. */
type Members<T> = Record<keyof T, TSchema>

const closed = (members: TProperties): TObject => Type.Object(members, { additionalProperties: false })

const text = (example: string) => Type.String({ pattern: '\\S', examples: [example] })

const DOC = text('Cities near a place.')
const OPTIONAL_DOC = Type.Optional(DOC)
const SECTION = Type.Optional(text('4.3'))
const TAG = Type.Optional(text('data'))
const FLAG = Type.Optional(Type.Boolean())
const ANYTHING = Type.Optional(Type.Unknown())
const SCHEMA = Type.Object({})
const ON = Type.Optional(Type.Array(text('list')))

const accepts = {
  verbs: Type.Array(Type.Unsafe<Verb>({ type: 'string', enum: VERBS }), { minItems: 1 }),
  guests: FLAG,
  yields: FLAG,
} satisfies Members<Accepts>

const parameter = {
  schema: SCHEMA,
  doc: DOC,
  example: ANYTHING,
  on: ON,
  required: FLAG,
  selects: FLAG,
  section: SECTION,
} satisfies Members<ParameterSpec>

const BODY = closed({
  doc: OPTIONAL_DOC,
  schema: Type.Optional(SCHEMA),
  types: Type.Optional(Type.Array(Type.String({ pattern: '^[\\w.+*-]+/[\\w.+*-]+(?:;.*)?$', examples: ['text/csv'] }))),
  example: ANYTHING,
} satisfies Members<BodySpec>)

/** An object with any names that fit. */
const byName = (name: object, value: TSchema) =>
  Type.Optional(Type.Record(Type.String(), value, { propertyNames: name }))

const OPERATION = closed({
  id: text('acme.report'),
  doc: DOC,
  path: byName({}, closed({ schema: SCHEMA, doc: OPTIONAL_DOC, example: ANYTHING })),
  body: Type.Optional(BODY),
  oneOf: Type.Optional(Type.Array(Type.String(), { minItems: 2 })),
  answers: byName({ pattern: '^(?:[1-5]\\d\\d|default)$', examples: ['200'] }, BODY),
} satisfies Members<OperationSpec>)

const PLACE = {
  pattern: `^(?:${VERBS.join('|')}) /(?:[^?#{}\\s]|\\{[A-Za-z_]\\w*\\})*$`,
  examples: ['GET /{id}'],
}

export const ACCEPTS = closed(accepts)
export const PARAMETER = closed(parameter)
export const COMMAND = closed({ ...parameter, ...accepts } satisfies Members<CommandSpec>)
export const METHOD = closed({
  ...accepts,
  doc: OPTIONAL_DOC,
  section: SECTION,
  on: ON,
} satisfies Members<MethodSpec>)
export const SERVICE = closed({
  ...accepts,
  doc: OPTIONAL_DOC,
  section: SECTION,
  tag: TAG,
  administrators: FLAG,
  operations: byName(PLACE, OPERATION),
} satisfies Members<ServiceSpec>)
export const ROUTE = closed({
  ...accepts,
  doc: OPTIONAL_DOC,
  section: SECTION,
  tag: TAG,
  bodyBytes: Type.Optional(Type.Integer({ minimum: 0 })),
  shownToAdministrators: FLAG,
  operations: byName({ enum: VERBS }, OPERATION),
} satisfies Members<RouteSpec>)

/** @throws {Error} a description is not JSON, or does not have the shape of a registration */
export function demandShape(where: string, shape: TObject, spec: unknown): void {
  if (typeof spec !== 'object' || spec === null || Array.isArray(spec)) {
    const form = 'schema' in shape.properties ? '{ schema, doc }: a JSON Schema and a sentence' : "{ verbs: ['GET'] }"
    throw new Error(`${where} has no description; its second argument is ${form}`)
  }
  demandJson(where, spec)
  const [problem] = shapeProblems(shape, spec, where)
  if (problem !== undefined) throw new Error(problem)
}

const MAX_DEPTH = 100
const SCHEMA_REF = /^#\/components\/schemas\/[\w.-]+$/

/** Refuses what a JSON text cannot have, or would show as something else. */
function demandJson(where: string, value: unknown, depth = 0): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return
  if (depth > MAX_DEPTH)
    throw new Error(`${where.slice(0, 100)}… has more than ${MAX_DEPTH} levels, or contains itself`)
  if (typeof value !== 'object' || !isPlain(value)) throw new Error(`${where}: ${describe(value)} is not JSON`)
  // Tools follow references even in examples.
  const { $ref } = value as { $ref?: unknown }
  if (typeof $ref === 'string' && !SCHEMA_REF.test($ref))
    throw new Error(`${where}: $ref is "${$ref}"; it has to be "#/components/schemas/" and a name`)
  const isList = Array.isArray(value)
  for (const [name, each] of Object.entries(isList ? [...value] : value))
    if (each !== undefined || isList) demandJson(`${where}.${name}`, each, depth + 1)
}

const isPlain = (value: object): boolean =>
  (Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value))) && !('toJSON' in value)

function describe(value: unknown): string {
  if (typeof value === 'object') return `an object of ${value?.constructor?.name || 'a class'}`
  return typeof value === 'number' || value === undefined ? String(value) : `a ${typeof value}`
}
