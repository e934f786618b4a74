import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../engine/index.ts'
import {
  type Accepts,
  type BodySpec,
  DATA_OPERATIONS,
  type MethodSpec,
  type OperationSpec,
  type ParameterSpec,
  type RouteSpec,
  type ServiceSpec,
} from './description.ts'

/*
 * Checks of what plugins say about themselves. Documents, agents and typed clients of everyone who uses the server show it, and a plugin
 * without types can say anything. Each throws an error that begins with the registration.
 */

/** Names of parameters and services: agents take no other characters, and no longer ones. */
const NAME = /^\$[A-Za-z][\w.-]{0,62}$/
const METHOD = /^[A-Za-z][\w-]{0,62}$/
const PATH_NAME = /^[A-Za-z_]\w*$/
/** Names of components of an OpenAPI document. */
const SCHEMA_ID = /^[\w-]+(?:\.[\w-]+)+$/
const COMPONENT = /^#\/components\/schemas\/[\w.-]+$/
const STATUS = /^(?:[1-5]\d\d|default)$/
const MEDIA_TYPE = /^[\w.+*-]+\/[\w.+*-]+(?:;.*)?$/
const VERBS: readonly unknown[] = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']
const MAX_DEPTH = 100

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== ''

function demand(isRight: boolean, where: string, problem: string): asserts isRight {
  if (!isRight) throw new Error(`${where} ${problem}`)
}

const shown = (name: unknown): string => (typeof name === 'string' ? name.slice(0, 100) || '""' : String(name))

/** @param what `parameter`, `service`, `part` */
export function checkName(name: unknown, what: string): void {
  const isRight = typeof name === 'string' && NAME.test(name)
  demand(
    isRight,
    shown(name),
    `is no name of a ${what}: write $, a letter, and up to 62 letters, digits, ".", "_" or "-"`,
  )
  demand(!(name.slice(1) in {}), name, `is no name of a ${what}: every object in JavaScript has ${name.slice(1)}`)
}

export function checkHandler(where: unknown, handler: unknown): void {
  demand(typeof handler === 'function', shown(where), 'has no handler; its last argument is a function')
}

export function checkVerbs(where: string, accepts: Accepts): void {
  const { verbs } = (accepts ?? {}) as Partial<Accepts>
  const isRight = Array.isArray(verbs) && verbs.length > 0 && verbs.every(each => VERBS.includes(each))
  demand(isRight, where, `has no verbs; its second argument is { verbs: ['GET'] }, with any of ${VERBS.join(', ')}`)
}

/** Parts that may be left out. */
function checkOptional(where: string, spec: Fields, texts: readonly string[], flags: readonly string[] = []): void {
  for (const name of texts) {
    const value = spec[name]
    demand(value === undefined || isText(value), where, `has ${name}: ${String(value)}; a text is expected`)
  }
  for (const name of flags) {
    const value = spec[name]
    const isFlag = value === undefined || typeof value === 'boolean'
    demand(isFlag, where, `has ${name}: ${String(value)}; true or false is expected`)
  }
}

function checkOn(where: string, on: unknown): void {
  const isRight = on === undefined || (Array.isArray(on) && on.every(isText))
  demand(isRight, where, "has an on that is no list of operations: on: ['list']")
}

export function checkParameter(name: string, spec: ParameterSpec): void {
  demand(name !== '$method', name, 'takes the methods of plugins; register one with scope.method')
  const { schema, doc, on, example } = (spec ?? {}) as Partial<ParameterSpec>
  const isDescribed = isObject(schema) && isText(doc)
  demand(isDescribed, name, 'has no description; its second argument is { schema, doc }: a JSON Schema and a sentence')
  checkOptional(name, spec as unknown as Fields, ['section'], ['required', 'selects'])
  checkOn(name, on)
  checkJson(`${name}: its schema`, schema)
  checkJson(`${name}: its example`, example)
  visitSchema(schema, part => {
    const isAlone = part.$ref === undefined && part.$id === undefined
    demand(isAlone, `${name}: its schema`, 'has $ref or $id, which parameters cannot have')
  })
  checkSchema(name, schema)
  try {
    new Ajv2020({ strict: false, validateFormats: false, validateSchema: false }).compile(schema)
  } catch (error) {
    demand(false, `${name}: its schema`, `cannot be used: ${(error as Error).message}`)
  }
  if (schema.contentSchema === undefined || example === undefined) return
  demand(
    typeof example === 'string' && isJsonText(example),
    `${name}: its example`,
    'is not JSON, as its contentSchema says',
  )
}

export function checkMethod(name: unknown, spec: MethodSpec): void {
  const isName = typeof name === 'string' && METHOD.test(name)
  demand(isName, shown(name), 'is no name of a method: write a letter, and up to 62 letters, digits, "_" or "-"')
  checkVerbs(`$method=${name}`, spec)
  checkOptional(`$method=${name}`, spec as unknown as Fields, ['doc', 'section'])
  checkOn(`$method=${name}`, spec.on)
}

export function checkService(name: string, spec: ServiceSpec, plugin: string): void {
  checkVerbs(name, spec)
  checkOptional(name, spec as unknown as Fields, ['doc', 'section', 'tag'], ['administrators', 'guests'])
  const shapes = new Map<string, string>()
  for (const [place, operation] of entriesOf(name, spec.operations)) {
    const where = `${name}: ${place}`
    const [verb = '', path = '', ...others] = place.split(' ')
    const isPlace = VERBS.includes(verb) && /^\/[^?#]*$/.test(path) && others.length === 0
    demand(isPlace, where, 'is no operation: write a verb and the path below the service, as GET /{name}')
    checkVerb(where, verb, spec)
    const names = [...path.matchAll(/\{([^{}]*)\}/g)].map(([, found]) => found!)
    const shape = path.replaceAll(/\{[^{}]*\}/g, '*')
    demand(!/[{}]/.test(shape), where, 'has a brace without its other one')
    demand(
      (shapes.get(shape) ?? path) === path,
      where,
      `is the same address as ${shapes.get(shape)}; use the same names`,
    )
    shapes.set(shape, path)
    checkOperation(where, operation, names, plugin)
  }
}

export function checkRoute(path: string, spec: RouteSpec, plugin: string): void {
  const where = `the route ${shown(path)}`
  const isPath = typeof path === 'string' && path.startsWith('/') && !/[?#{}\s]/.test(path)
  demand(isPath, where, 'cannot be used: it begins with / and has no blanks, braces, ? or #; a parameter is :name')
  demand(!/^\/rest(?:\/|$)/.test(path), where, 'is below /rest, where services are; register one with scope.service')
  checkVerbs(where, spec)
  checkOptional(where, spec as unknown as Fields, ['doc', 'section', 'tag'], ['shownToAdministrators', 'yields'])
  const names = path.split('/').flatMap(segment => (/^[:*]/.test(segment) ? [segment.slice(1)] : []))
  for (const [verb, operation] of entriesOf(where, spec.operations)) {
    checkVerb(`${where}: ${verb}`, verb, spec)
    checkOperation(`${where}: ${verb}`, operation, names, plugin)
  }
}

function entriesOf(where: string, operations: unknown): [string, OperationSpec][] {
  demand(operations === undefined || isObject(operations), where, 'has operations that are no object')
  return Object.entries((operations ?? {}) as Record<string, OperationSpec>)
}

function checkVerb(where: string, verb: string, { verbs }: Accepts): void {
  const isAccepted = (verbs as readonly string[]).includes(verb) || (verb === 'HEAD' && verbs.includes('GET'))
  demand(isAccepted, where, `is described, but its verbs are ${verbs.join(', ')}`)
}

function checkOperation(where: string, operation: OperationSpec, names: readonly string[], plugin: string): void {
  demand(isObject(operation) && isText(operation.id) && isText(operation.doc), where, 'has no { id, doc }, two texts')
  const { id, path = {}, body, answers = {} } = operation
  const isOwn = !(DATA_OPERATIONS as readonly string[]).includes(id)
  demand(isOwn, where, `has the id ${id}, which means requests on data; write ${plugin}.${id}`)
  demand(isObject(path), where, 'has a path that is no object')
  for (const name of names) {
    demand(PATH_NAME.test(name), where, `has "${name}" in its address, which is no name of letters and digits`)
    demand(
      Object.hasOwn(path, name),
      where,
      `does not describe "${name}" of its address: path: { ${name}: { schema } }`,
    )
  }
  demand(new Set(names).size === names.length, where, 'has two parameters of one name in its address')
  for (const [name, parameter] of Object.entries(path)) {
    demand(names.includes(name), where, `describes "${name}", which is not in its address`)
    demand(isObject(parameter) && isObject(parameter.schema), `${where}: ${name}`, 'has no schema')
    checkOptional(`${where}: ${name}`, parameter as unknown as Fields, ['doc'])
    checkJson(`${where}: ${name}`, parameter)
    checkRefs(`${where}: ${name}`, parameter.schema, undefined)
    checkSchema(`${where}: ${name}`, parameter.schema)
  }
  if (body !== undefined) checkBody(`${where}: its body`, body, plugin)
  demand(isObject(answers), where, 'has answers that are no object')
  for (const [status, answer] of Object.entries(answers)) {
    demand(STATUS.test(status), where, `has an answer "${status}"; a status is expected, or default`)
    checkBody(`${where}: its answer ${status}`, answer as BodySpec, plugin)
  }
}

function checkBody(where: string, body: BodySpec, plugin: string): void {
  demand(isObject(body), where, 'is no object')
  const { schema, types = [] } = body
  checkOptional(where, body as Fields, ['doc'])
  const areTypes = Array.isArray(types) && types.every(type => typeof type === 'string' && MEDIA_TYPE.test(type))
  demand(areTypes, where, "has types that are no list of media types: types: ['text/csv']")
  checkJson(where, body)
  if (schema === undefined) return
  demand(isObject(schema), where, 'has a schema that is no object')
  checkRefs(where, schema, plugin)
  checkSchema(where, schema)
}

/** @param plugin whose name the ids begin with; undefined: there may be none */
function checkRefs(where: string, schema: JsonSchema, plugin: string | undefined): void {
  visitSchema(schema, ({ $ref, $id }) => {
    const isRef = $ref === undefined || (typeof $ref === 'string' && COMPONENT.test($ref))
    demand(isRef, where, `has the $ref ${String($ref)}; it can only be #/components/schemas/ and a name`)
    if ($id === undefined) return
    demand(plugin !== undefined, where, 'has an $id, which parameters cannot have')
    // Those of the protocol begin with `rest.`.
    const prefix = plugin === 'rest' ? 'plugin.rest.' : `${plugin.replaceAll(/[^\w-]+/g, '-').replace(/^-/, '')}.`
    const isId = typeof $id === 'string' && SCHEMA_ID.test($id) && $id.startsWith(prefix)
    demand(isId, where, `has the $id ${String($id)}; it begins with ${prefix}, and has letters and digits`)
  })
}

let metaSchema: Ajv2020 | undefined

function checkSchema(where: string, schema: JsonSchema): void {
  metaSchema ??= new Ajv2020({ strict: false, validateFormats: false })
  // It looks for the meta-schema by this name alone.
  const { $schema: _, ...plain } = schema
  const isValid = metaSchema.validate('https://json-schema.org/draft/2020-12/schema', plain)
  demand(
    isValid === true,
    where,
    `has a schema that is not JSON Schema: ${metaSchema.errorsText(metaSchema.errors, { dataVar: 'schema' })}`,
  )
}

/** Keywords with values in place of schemas. */
const VALUES = new Set(['default', 'const', 'enum', 'example', 'examples'])
/** Keywords with schemas by name, whose names are not keywords. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** Visits a schema and all that are in it, and nothing that is a value. */
export function visitSchema(schema: unknown, visit: (part: Fields) => void): void {
  if (Array.isArray(schema)) for (const each of schema) visitSchema(each, visit)
  if (!isObject(schema)) return
  visit(schema)
  for (const [name, value] of Object.entries(schema)) {
    if (VALUES.has(name)) continue
    if (BY_NAME.has(name) && isObject(value)) for (const each of Object.values(value)) visitSchema(each, visit)
    else visitSchema(value, visit)
  }
}

/** Refuses what a JSON text cannot have, or would show as something else. */
function checkJson(where: string, value: unknown): void {
  const above: object[] = []
  const visit = (part: unknown, isMember: boolean): void => {
    if (part === null || typeof part === 'string' || typeof part === 'boolean' || Number.isFinite(part)) return
    if (part === undefined && isMember) return
    demand(typeof part === 'object', where, `has ${describe(part)}, which is not JSON`)
    demand(!above.includes(part), where, 'contains itself')
    demand(above.length < MAX_DEPTH, where, `has more than ${MAX_DEPTH} levels`)
    const isPlain = Array.isArray(part) || [Object.prototype, null].includes(Object.getPrototypeOf(part))
    demand(isPlain && !('toJSON' in part), where, `has ${describe(part)}, which is not JSON`)
    const { $ref } = part as Fields
    // Tools follow references in examples, too.
    const isRef = typeof $ref !== 'string' || COMPONENT.test($ref)
    demand(isRef, where, `has the $ref ${String($ref)}; it can only be #/components/schemas/ and a name`)
    above.push(part)
    if (Array.isArray(part)) for (const each of part) visit(each, false)
    else for (const each of Object.values(part)) visit(each, true)
    above.pop()
  }
  visit(value, true)
}

function describe(value: unknown): string {
  if (typeof value === 'object') return `an object of ${value?.constructor?.name || 'a class'}`
  return typeof value === 'number' || value === undefined ? String(value) : `a ${typeof value}`
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
