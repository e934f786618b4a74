import { Ajv2020 } from 'ajv/dist/2020.js'
import { type JsonSchema, suggestion } from '../engine/index.ts'
import type { Accepts, BodySpec, OperationSpec, ParameterSpec, Verb } from './description.ts'
import { VERBS } from './description.ts'

/** Keywords that OpenAPI 3.1 adds to schemas. */
const OPEN_API_KEYWORDS = ['discriminator', 'xml', 'externalDocs', 'example']
const PARAMETER = ['schema', 'doc', 'example', 'on', 'required', 'selects', 'section', 'verbs', 'guests']
const OPERATION = ['id', 'doc', 'path', 'body', 'answers']
const BODY = ['doc', 'schema', 'types', 'example']

/**
 * Checks descriptions as they are registered: plugins need no compiler, and a wrong one would make the OpenAPI document invalid.
 * Schemas of built-in plugins are left to the tests.
 */
export class DescriptionCheck {
  #ajv: Ajv2020 | undefined

  constructor(private readonly isBuiltIn: boolean) {}

  /** @throws {Error} a parameter or command is not described, or wrongly */
  parameter<T extends ParameterSpec>(name: string, spec: T): T {
    demandDollar(name)
    const { schema, doc, on } = (spec ?? {}) as Partial<ParameterSpec>
    if (!isObject(schema) || !isText(doc)) {
      throw new Error(
        `${name} has no description; its second argument is { schema, doc }: a JSON Schema and a sentence`,
      )
    }
    demandMembers(`the description of ${name}`, spec, PARAMETER)
    if (on !== undefined && !(Array.isArray(on) && on.every(isText))) {
      throw new Error(`${name} has on: ${JSON.stringify(on)}; a list of operations is expected, such as ["list"]`)
    }
    this.#schema(`the schema of ${name}`, schema, spec.example)
    return spec
  }

  /** @throws {Error} verbs are missing, or unknown */
  verbs(name: string, spec: Accepts): void {
    const { verbs } = (spec ?? {}) as Partial<Accepts>
    const isRight = Array.isArray(verbs) && verbs.length > 0 && verbs.every(each => VERBS.includes(each))
    if (isRight) return
    throw new Error(`${name} has verbs: ${JSON.stringify(verbs)}; a list of verbs is expected, such as ["GET"]`)
  }

  /** @throws {Error} an operation of a service is described wrongly */
  service(
    name: string,
    { verbs, operations = {} }: Accepts & { operations?: Readonly<Record<string, OperationSpec>> },
  ) {
    demandDollar(name)
    for (const [place, operation] of Object.entries(operations)) {
      const [, verb, path] = /^([A-Z]+) (\/\S*)$/.exec(place) ?? []
      if (!path) {
        throw new Error(
          `${name} has an operation "${place}"; a verb and a path are expected, such as "GET /" or "GET /{id}"`,
        )
      }
      const inPath = [...path.matchAll(/\{([^}]*)\}/g)].map(([, parameter]) => parameter!)
      this.#operation(`${name}, operation "${place}"`, operation, { verb: verb!, verbs, inPath })
    }
  }

  /** @throws {Error} an operation of a route is described wrongly */
  route(path: string, { verbs, operations = {} }: Accepts & { operations?: Readonly<Record<string, OperationSpec>> }) {
    const inPath = [...path.matchAll(/\/[:*](\w+)/g)].map(([, parameter]) => parameter!)
    for (const [verb, operation] of Object.entries(operations)) {
      if (!/^[A-Z]+$/.test(verb)) {
        throw new Error(`the route ${path} has an operation "${verb}"; a verb alone is expected, such as "GET"`)
      }
      this.#operation(`the route ${path}, operation "${verb}"`, operation, { verb, verbs, inPath })
    }
  }

  #operation(
    where: string,
    operation: OperationSpec,
    { verb, verbs, inPath }: { readonly verb: string; readonly verbs: readonly Verb[]; readonly inPath: string[] },
  ): void {
    if (!verbs.includes(verb as Verb))
      throw new Error(`${where}: the verb is not one of its verbs, ${verbs.join(', ')}`)
    const { id, doc, path = {}, body, answers = {} } = (operation ?? {}) as Partial<OperationSpec>
    if (!isText(id) || !isText(doc))
      throw new Error(`${where} has no description; it is { id, doc }: an id and a line of text`)
    demandMembers(where, operation, OPERATION)
    for (const [name, parameter] of Object.entries(path)) {
      if (!inPath.includes(name))
        throw new Error(`${where}: path has "${name}", which its address does not have${suggestion(name, inPath)}`)
      if (!isObject(parameter?.schema)) throw new Error(`${where}: "${name}" in path has no schema`)
      this.#schema(`${where}: the schema of "${name}" in path`, parameter.schema, parameter.example)
    }
    const missing = inPath.find(name => !Object.hasOwn(path, name))
    if (missing) throw new Error(`${where}: path has no "${missing}"; add { ${missing}: { schema } }`)
    if (body !== undefined) this.#body(`${where}: body`, body)
    for (const [status, answer] of Object.entries(answers)) {
      if (!/^([1-5]\d\d|default)$/.test(status)) {
        throw new Error(`${where}: answers has "${status}"; a status is expected, such as { 200: { schema } }`)
      }
      this.#body(`${where}: answer ${status}`, answer)
    }
  }

  #body(where: string, body: BodySpec): void {
    if (!isObject(body)) throw new Error(`${where} is ${JSON.stringify(body)}; { schema } is expected`)
    demandMembers(where, body, BODY)
    const { schema, example } = body
    if (schema !== undefined && !isObject(schema)) throw new Error(`${where}: the schema is not an object`)
    if (schema) this.#schema(`${where}: the schema`, schema, example)
  }

  #schema(where: string, schema: JsonSchema, example: unknown): void {
    if (this.isBuiltIn) return
    try {
      this.#ajv ??= newAjv()
      const fits = this.#ajv.compile(withoutRefs(schema) as JsonSchema)
      if (example === undefined || fits(example)) return
      const [{ instancePath, message } = { instancePath: '', message: '' }] = fits.errors ?? []
      throw new Error(
        `the example ${JSON.stringify(example)} does not fit: ${instancePath} ${message}`.replace(':  ', ': '),
      )
    } catch (error) {
      throw new Error(`${where} cannot be used: ${(error as Error).message}`)
    }
  }
}

function newAjv(): Ajv2020 {
  const made = new Ajv2020({
    strictTypes: false,
    strictTuples: false,
    validateFormats: false,
    // The compiler itself rejects wrong keywords and types. Compiling the meta-schema takes long.
    validateSchema: false,
    meta: false,
  })
  made.addVocabulary(OPEN_API_KEYWORDS)
  return made
}

/** Removes references to components of the document and extensions, which are not known here. */
function withoutRefs(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutRefs)
  if (!isObject(part)) return part
  if (typeof part.$ref === 'string') return {}
  const kept = Object.entries(part).filter(
    ([name, value]) => !(name === '$id' && typeof value === 'string') && !name.startsWith('x-'),
  )
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutRefs(value)]))
}

function demandDollar(name: string): void {
  if (!/^\$./.test(name)) throw new Error(`"${name}" does not begin with $, as names of parameters and services do`)
}

function demandMembers(where: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find(each => !known.includes(each))
  if (unknown !== undefined) {
    throw new Error(`${where} has "${unknown}"${suggestion(unknown, known) || `; known are ${known.join(', ')}`}`)
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
