import type { TObject } from '@sinclair/typebox'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { type JsonSchema, mapSchema, suggestion } from '../engine/index.ts'
import {
  type BodySpec,
  type CommandSpec,
  DATA_OPERATIONS,
  type MethodSpec,
  type OperationSpec,
  type ParameterSpec,
  type RouteSpec,
  type ServiceSpec,
  type Verb,
} from './description.ts'
import { ACCEPTS, COMMAND, demandShape, METHOD, PARAMETER, ROUTE, SERVICE } from './description-shapes.ts'

/** Agents take no other characters in names of parameters, and no longer ones. */
const NAME = /^\$[A-Za-z][\w.-]{0,62}$/
const METHOD_NAME = /^[A-Za-z][\w-]{0,62}$/
const SCHEMA_ID = /^[\w-]+(?:\.[\w-]+)+$/
/** Vocabulary of OpenAPI 3.1 in schemas. */
const OPEN_API_KEYWORDS = ['discriminator', 'xml', 'externalDocs', 'example']

let ajv: Ajv2020 | undefined

/**
 * Checks what one plugin registers: documents, agents and typed clients show its descriptions to all users of the server, and a
 * plugin without a compiler can write anything into them. Each function throws an error that begins with the registration.
 */
export class DescriptionCheck {
  /** @param schemas JSON of the schemas with `$id`, by it; those of this plugin are added */
  constructor(
    private readonly plugin: string,
    private readonly schemas = new Map<string, string>(),
  ) {}

  parameter(name: string, spec: ParameterSpec, apply?: unknown): void {
    this.#parameter(PARAMETER, name, spec)
    if (apply !== undefined) this.handler(name, apply)
  }

  command(name: string, spec: CommandSpec, handle: unknown): void {
    this.#parameter(COMMAND, name, spec)
    this.handler(name, handle)
  }

  method(name: string, spec: MethodSpec, handle: unknown): void {
    if (typeof name !== 'string' || !METHOD_NAME.test(name))
      throw new Error(
        `${quote(name)} is not a name of a method; write a letter, and up to 62 letters, digits, "_" or "-"`,
      )
    demandShape(`$method=${name}`, METHOD, spec)
    this.handler(`$method=${name}`, handle)
  }

  service(name: string, spec: ServiceSpec, handle: unknown): void {
    demandName(name, 'service')
    demandShape(name, SERVICE, spec)
    this.handler(name, handle)
    const paths = new Map<string, string>()
    for (const [place, operation] of Object.entries(spec.operations ?? {})) {
      const where = `${name}.operations.${place}`
      const [verb, path] = place.split(' ') as [Verb, string]
      const pathShape = path.replaceAll(/\{\w+\}/g, '*')
      const otherPath = paths.get(pathShape) ?? path
      if (otherPath !== path) throw new Error(`${where}: ${otherPath} is the same address; use the same names in both`)
      paths.set(pathShape, path)
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, addressName]) => addressName!)
      this.#operation(where, operation, { verb, verbs: spec.verbs, names })
    }
  }

  route(path: string, spec: RouteSpec, handle: unknown): void {
    const where = `the route ${String(path).slice(0, 100)}`
    if (typeof path !== 'string' || !/^\/[^?#{}\s]*$/.test(path))
      throw new Error(
        `${where} cannot be used: it begins with / and has no blanks, braces, ? or #; a parameter is :name`,
      )
    if (/^\/rest(?:\/|$)/.test(path))
      throw new Error(`${where} is below /rest, where services are; register one with scope.service`)
    demandShape(where, ROUTE, spec)
    this.handler(where, handle)
    const names = path.split('/').flatMap(segment => (/^[:*]/.test(segment) ? [segment.slice(1)] : []))
    for (const [verb, operation] of Object.entries(spec.operations ?? {}))
      this.#operation(`${where}.operations.${verb}`, operation, { verb: verb as Verb, verbs: spec.verbs, names })
  }

  part(name: string, apply: unknown): void {
    demandName(name, 'part')
    this.handler(name, apply)
  }

  binary(accepts: unknown, handle: unknown): void {
    demandShape('binary', ACCEPTS, accepts)
    this.handler('binary', handle)
  }

  handler(where: string, handle: unknown): void {
    if (typeof handle !== 'function') throw new Error(`${where} has no handler; its last argument is a function`)
  }

  #parameter(shape: TObject, name: string, spec: ParameterSpec): void {
    demandName(name, 'parameter')
    if (name === '$method') throw new Error('$method takes the methods of plugins; register one with scope.method')
    demandShape(name, shape, spec)
    const { schema, example } = spec
    mapSchema(schema, part => {
      if (part.$ref === undefined && part.$id === undefined) return part
      throw new Error(`${name}.schema: a parameter cannot have $ref or $id; write the whole schema here`)
    })
    demandFit(name, spec)
    if (schema.contentSchema === undefined || example === undefined) return
    try {
      JSON.parse(String(example))
    } catch {
      throw new Error(`${name}.example: ${JSON.stringify(example)} is not a JSON text, which contentSchema describes`)
    }
  }

  #operation(
    where: string,
    { id, path = {}, body = {}, answers = {} }: OperationSpec,
    { verb, verbs, names }: { readonly verb: Verb; readonly verbs: readonly Verb[]; readonly names: readonly string[] },
  ): void {
    if (!verbs.includes(verb) && !(verb === 'HEAD' && verbs.includes('GET')))
      throw new Error(`${where}: ${verb} is not among the verbs, ${verbs.join(', ')}`)
    if ((DATA_OPERATIONS as readonly string[]).includes(id))
      throw new Error(`${where}.id: "${id}" means requests on data; write "${this.plugin}.${id}"`)
    demandNames(where, Object.keys(path), names)
    for (const [name, parameter] of Object.entries(path)) this.#content(`${where}.path.${name}`, parameter, false)
    this.#content(`${where}.body`, body)
    for (const [status, answer] of Object.entries(answers)) this.#content(`${where}.answers.${status}`, answer)
  }

  /** @param isShared true if parts of the schema may have an `$id` */
  #content(where: string, { schema, example }: BodySpec, isShared = true): void {
    if (!schema) return
    mapSchema(schema, part => {
      if (part.$id !== undefined) this.#claimId(`${where}.schema`, part, isShared)
      return part
    })
    demandFit(where, { schema, example })
  }

  #claimId(where: string, part: JsonSchema, isShared: boolean): void {
    const { $id } = part
    if (!isShared) throw new Error(`${where}: a parameter cannot have $id`)
    // Ids that belong to the protocol begin with `rest.`.
    const prefix =
      this.plugin === 'rest' ? 'plugin.rest.' : `${this.plugin.replaceAll(/[^\w-]+/g, '-').replace(/^-/, '')}.`
    if (typeof $id !== 'string' || !SCHEMA_ID.test($id) || !$id.startsWith(prefix))
      throw new Error(`${where}: the $id ${quote($id)} is not a name such as "${prefix}Report"`)
    const text = JSON.stringify(part)
    if ((this.schemas.get($id) ?? text) !== text)
      throw new Error(`${where}: a different schema has the $id "${$id}", too`)
    this.schemas.set($id, text)
  }
}

function demandName(name: unknown, kind: 'parameter' | 'service' | 'part'): void {
  const problem = `${quote(name)} is not a name of a ${kind}`
  if (typeof name !== 'string' || !NAME.test(name))
    throw new Error(`${problem}; write $, a letter, and up to 62 letters, digits, ".", "_" or "-"`)
  if (name.slice(1) in {}) throw new Error(`${problem}, since every object in JavaScript has ${name.slice(1)}`)
}

/** @param names in the address */
function demandNames(where: string, describedNames: readonly string[], names: readonly string[]): void {
  const other = describedNames.find(name => !names.includes(name))
  if (other !== undefined) throw new Error(`${where}.path: "${other}" is not in the address${suggestion(other, names)}`)
  const missing = names.find(name => !describedNames.includes(name))
  if (missing !== undefined) throw new Error(`${where}.path: "${missing}" is missing; add { ${missing}: { schema } }`)
  if (new Set(names).size < names.length) throw new Error(`${where}: two parameters in the address have one name`)
}

/** @throws {Error} a schema is not JSON Schema, or has an example that it does not accept */
function demandFit(where: string, { schema, example }: BodySpec): void {
  ajv ??= new Ajv2020({ strictTypes: false, strictTuples: false, validateFormats: false }).addVocabulary(
    OPEN_API_KEYWORDS,
  )
  let validate: ValidateFunction
  try {
    validate = ajv.compile(mapSchema(schema, withoutRefs) as JsonSchema)
  } catch (error) {
    throw new Error(`${where}.schema cannot be used: ${(error as Error).message}`)
  }
  if (example === undefined || validate(example)) return
  const reason = ajv.errorsText(validate.errors, { dataVar: 'example' })
  throw new Error(`${where}.example: ${JSON.stringify(example)} does not fit the schema: ${reason}`)
}

/** References to components of a document, and extensions, mean nothing here. */
function withoutRefs({ $id: _, $schema: __, ...part }: JsonSchema): JsonSchema {
  if (typeof part.$ref === 'string') return {}
  return Object.fromEntries(Object.entries(part).filter(([name]) => !name.startsWith('x-')))
}

const quote = (name: unknown): string => (typeof name === 'string' ? `"${name.slice(0, 100)}"` : String(name))
