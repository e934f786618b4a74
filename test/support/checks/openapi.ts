/** Checks answers against an OpenAPI document: finds the requests of its examples, and the schema that an answer must fit. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { parseQueryString } from '../../../kernel/url/parse-query-string.ts'
import type { TestServer } from '../servers/test-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: the test reads a document at many places
type Json = any

export interface ExampleRequest {
  readonly name: string
  readonly method: string
  /** Below `/rest`; with two slashes at its beginning, outside. */
  readonly path: string
  readonly template: string
  readonly body?: unknown
}

const METHODS = ['get', 'post', 'put', 'delete']

export class Contract {
  private readonly ajv = new Ajv2020({ strict: false, validateFormats: false })
  private readonly compiled = new Map<string, ValidateFunction>()
  /** Templates with an expression for matching addresses, those with fewer variables first. */
  private readonly templates: readonly { template: string; expression: RegExp }[]

  /** Members of entities that the document does not declare are an error. */
  constructor(readonly document: Json) {
    const strict = structuredClone(document)
    for (const [name, schema] of Object.entries<Json>(strict.components.schemas)) {
      // Names of shared schemas, and of parts of a dataclass, contain a dot.
      if (!name.includes('.')) schema.unevaluatedProperties = false
    }
    this.ajv.addSchema(strict, 'document')
    const variables = (template: string): number => template.split('{').length
    this.templates = Object.keys(document.paths)
      .filter(template => !isOutside(document.paths[template]))
      .sort((a, b) => variables(a) - variables(b))
      .map(template => ({ template, expression: expressionOf(template) }))
  }

  /**
   * Template of a request, if the document has its address, its verb, all of its parameters, and the members of a body that may have
   * no others.
   * @param address below `/rest`, with its query string
   */
  covering(method: string, address: string, body?: unknown): string | undefined {
    const [path = '', ...query] = address.split('?')
    const template = this.templateOf(decoded(path))
    const item = template === undefined ? undefined : this.resolve(this.document.paths[template])
    const operation = item?.[method.toLowerCase()]
    if (!operation || !this.takes(operation, body)) return undefined
    const parameters: Json[] = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(each =>
      this.resolve(each),
    )
    const isKnown = ([name, value]: [string, string]): boolean => {
      if (!name.startsWith('$')) return true
      const schema = parameters.find(each => each.name === name && each.in === 'query')?.schema
      const words = schema?.enum ?? (schema && 'const' in schema ? [schema.const] : undefined)
      return parameters.some(each => each.name === name) && (!words || words.map(String).includes(value))
    }
    const given = parseOr(query.join('?'))
    const isComplete = parameters.every(each => !each.required || each.in !== 'query' || given.has(each.name))
    const choice: string[] | undefined = operation['x-one-of']
    if (choice && !choice.some(name => given.has(name))) return undefined
    return isComplete && [...given].every(isKnown) ? template : undefined
  }

  /** False for a body with members that its schema rules out. Other invalid bodies are answered as documented, too. */
  private takes({ requestBody }: Json, body: unknown): boolean {
    const { $ref } = this.resolve(requestBody)?.content['application/json']?.schema ?? {}
    if ($ref === undefined || this.resolve({ $ref }).additionalProperties !== false) return true
    return this.compile(`document${$ref}`)(parsedOr(body))
  }

  /** Template of an address below `/rest`, decoded and without parameters. */
  templateOf(path: string): string | undefined {
    const plain = path
      .replaceAll(/\/+/g, '/')
      .replace(/(.)\/$/, '$1')
      .replace(/\[([^\]]*)\]/, '($1)')
    return this.templates.find(({ expression }) => expression.test(plain))?.template
  }

  /** @throws {Error} if the answer to a request that the document covers does not match it */
  demand(method: string, address: string, body: unknown, answer: Parameters<Contract['problemWith']>[1]): void {
    const template = answer.headers['content-encoding'] ? undefined : this.covering(method, address, body)
    const problem = template && this.problemWith({ method, template }, answer)
    if (problem)
      throw new Error(`${method} ${address.slice(0, 200)} is not answered as the OpenAPI document says: ${problem}`)
  }

  /** @returns a problem of an answer; undefined if there is none */
  problemWith(
    { method, template }: Pick<ExampleRequest, 'method' | 'template'>,
    answer: { status: number; headers: Record<string, unknown>; json: unknown; text: string },
  ): string | undefined {
    const operation = this.resolve(this.document.paths[template])?.[method.toLowerCase()]
    if (!operation) return `${method} ${template} is not in the document`
    const { status } = answer
    const isKnown = (name: string): boolean => name in operation.responses
    const known = [String(status), `${String(status)[0]}XX`].find(isKnown) ?? 'default'
    const response = this.resolve(operation.responses[known])
    if (!response.content) return answer.text === '' ? undefined : `${status} has no body in the document`
    const type = String(answer.headers['content-type']).split(';')[0]!
    const media = [type, `${type.split('/')[0]}/*`, '*/*'].find(each => each in response.content)
    if (answer.text === '') return undefined
    if (media === undefined) return `${status} ${type} is not in the document`
    if (type !== 'application/json') return undefined
    const place = operation.responses[known].$ref
      ? operation.responses[known].$ref
      : `#/paths/${pointer(template)}/${method.toLowerCase()}/responses/${known}`
    const validate = this.compile(`document${place}/content/${pointer(media)}/schema`)
    if (validate(answer.json)) return undefined
    return `${status} ${this.ajv.errorsText(validate.errors)}: ${answer.text.slice(0, 300)}`
  }

  /** Requests, one for each example, with what the operation requires. */
  examples(): ExampleRequest[] {
    const found: ExampleRequest[] = []
    for (const [template, given] of Object.entries<Json>(this.document.paths)) {
      const item = this.resolve(given)
      for (const method of METHODS.filter(each => each in item)) {
        const operation = item[method]
        const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(each => this.resolve(each))
        const needed = parameters.filter(each => each.required)
        const values = new Map(needed.map(each => [each.name, exampleOf(each)]))
        const requestBody = this.resolve(operation.requestBody)
        const media = requestBody?.content['application/json']
        const bodies = media ? this.bodiesOf(media) : requestBody ? [PNG] : [undefined]
        const add = (name: string, more: Json, body: unknown) => {
          const choice: string[] = operation['x-one-of'] ?? [more?.name]
          const chosen = choice.includes(more?.name) ? [] : parameters.filter(each => each.name === choice[0])
          const all = [...needed.filter(each => each !== more), ...chosen, ...(more ? [more] : [])]
          const query = all
            .filter(each => each.in === 'query')
            .map(each => `${each.name}=${encodeURIComponent(textOf(exampleOf(each)))}`)
          const path = template.replaceAll(/\{(\w+)\}/g, (_, variable) =>
            encodeURIComponent(textOf(values.get(variable))),
          )
          const tail = query.length > 0 ? `?${query.join('&')}` : ''
          found.push({
            name: `${operation.operationId ?? template} ${name}`,
            method: method.toUpperCase(),
            // Two slashes: outside `/rest`.
            path: (isOutside(item) ? `/${path}` : path) + tail,
            template,
            body,
          })
        }
        if (bodies.length === 0 || [...values.values()].includes(undefined)) continue
        if (!operation['x-one-of']) for (const body of bodies) add('plain', undefined, body)
        for (const each of parameters) {
          if (!each.required && exampleOf(each) !== undefined) add(each.name, each, bodies[0])
        }
      }
    }
    // Deletions come last.
    return found.sort((a, b) => METHODS.indexOf(a.method.toLowerCase()) - METHODS.indexOf(b.method.toLowerCase()))
  }

  private bodiesOf(media: Json): unknown[] {
    const { additionalProperties, properties } = this.resolve(media.schema)
    // One for each member that has an example.
    const single =
      additionalProperties === false
        ? Object.entries<Json>(properties).flatMap(([name, { examples = [] }]) =>
            examples.map((each: unknown) => ({ [name]: each })),
          )
        : []
    if ('example' in media) return [media.example, ...single]
    const schemas = (media.schema.anyOf ?? [media.schema]).map((each: Json) => this.resolve(each))
    const examples = schemas.flatMap((each: Json) => ('example' in each ? [each.example] : []))
    // An array of all examples is valid, too.
    return examples.length > 0 ? [...examples, examples] : []
  }

  private resolve(value: Json): Json {
    if (!value?.$ref) return value
    let found = this.document
    for (const step of value.$ref.slice(2).split('/')) found = found[step.replaceAll('~1', '/').replaceAll('~0', '~')]
    return found
  }

  private compile(ref: string): ValidateFunction {
    let validate = this.compiled.get(ref)
    if (!validate) {
      validate = this.ajv.compile({ $ref: ref })
      this.compiled.set(ref, validate)
    }
    return validate
  }
}

/** Value of a body that is a JSON text; the body itself otherwise. */
function parsedOr(body: unknown): unknown {
  if (typeof body !== 'string') return body
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Parameters of a query string; if the server refuses it, one parameter that is unknown. */
function parseOr(query: string): ReadonlyMap<string, string> {
  try {
    return parseQueryString(query)
  } catch {
    return new Map([['$', '']])
  }
}

/** An image of one pixel, for bodies that are files. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
const exampleOf = (parameter: Json): unknown => parameter.example
/** Step of a JSON pointer in a URI. */
const pointer = (step: string): string => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))

/** True for a path with a server of its own. */
const isOutside = (item: Json): boolean => 'servers' in item

/** Variables whose values end in another way than others: a comma separates two keys, unless it is in quotes. */
const VARIABLES: Readonly<Record<string, string>> = { '{key}': '([^/,]+)', '{keys}': `([^/"']+)` }

function expressionOf(template: string): RegExp {
  const parts = template.split(/(\{\w+\})/)
  const escaped = parts.map((part, i) =>
    i % 2 === 0 ? part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&') : (VARIABLES[part] ?? '([^/]+)'),
  )
  return new RegExp(`^${escaped.join('')}$`, 'u')
}

const contracts = new Map<string, Contract>()

/** Contract of a server for guests; undefined if it has none. Servers with the same model share one. */
export async function contractOf(server: Pick<TestServer, 'get'>): Promise<Contract | undefined> {
  const { status, text } = await server.get('/$openapi')
  if (status !== 200) return undefined
  let contract = contracts.get(text)
  if (!contract) {
    contract = new Contract(JSON.parse(text))
    contracts.set(text, contract)
  }
  return contract
}
