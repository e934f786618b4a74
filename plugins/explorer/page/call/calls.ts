/** Calls of class functions as requests, and the content of their answers. */
export interface Callable {
  readonly name: string
  readonly applyTo: 'dataStore' | 'dataClass' | 'entityCollection' | 'entity' | 'singleton'
  readonly allowedOnHTTPGET?: boolean
  /** Name of the dataclass or singleton; `ds` for the datastore. */
  readonly owner: string
}

type Parameters = Readonly<Record<string, string | number | boolean | undefined>>

/** A call as the user has composed it. */
export interface Call {
  readonly callable: Callable
  /** Texts of the arguments, as typed. */
  readonly args: readonly string[]
  readonly byGet: boolean
  /** True to keep a returned selection as an entity set. */
  readonly keeps: boolean
}

interface CallRequest {
  /** Path after `/rest/`. */
  readonly path: string
  readonly parameters: Parameters
  /** Undefined for a GET. */
  readonly body: readonly unknown[] | undefined
}

/** An argument as it is sent. */
type Argument =
  | { readonly kind: 'empty' | 'number' | 'text' | 'bool' | 'null' | 'object' | 'array'; readonly value: unknown }
  | { readonly kind: 'wrong'; readonly message: string }

/** Id of a function in addresses of the page: `entity.greet`, `singleton.Counter.next`. */
export const idOf = ({ applyTo, owner, name }: Callable): string =>
  applyTo === 'singleton' ? `singleton.${owner}.${name}` : `${applyTo}.${name}`

/**
 * Reads JSON. Other input is treated as a string, so that most texts need no quotes; invalid input that begins like JSON is an error
 * instead, because it was meant to be JSON.
 */
export function readArgument(text: string): Argument {
  const trimmed = text.trim()
  if (trimmed === '') return { kind: 'empty', value: null }
  try {
    const value: unknown = JSON.parse(trimmed)
    return { kind: kindOf(value), value }
  } catch (error) {
    if (/^["[{]/.test(trimmed)) return { kind: 'wrong', message: (error as Error).message }
    return { kind: 'text', value: text }
  }
}

function kindOf(value: unknown): Exclude<Argument['kind'], 'empty' | 'wrong'> {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'string' ? 'text' : type === 'boolean' ? 'bool' : type === 'number' ? 'number' : 'object'
}

/** Values of arguments; empty ones at the end are left out, other empty ones are null. */
export function argumentsOf(texts: readonly string[]): unknown[] {
  const read = texts.map(readArgument)
  const last = read.findLastIndex(({ kind }) => kind !== 'empty')
  return read.slice(0, last + 1).map(each => ('value' in each ? each.value : null))
}

/**
 * @param target address of the object on which the function is called: a dataclass, an entity set or an entity
 * @param narrowing parameters of the selection that the page shows
 */
export function requestOf(
  { callable, args, byGet, keeps }: Call,
  target: string,
  narrowing: Parameters = {},
): CallRequest {
  const values = argumentsOf(args)
  const path = `${prefixOf(callable, target)}/${encodeURIComponent(callable.name)}`
  const parameters = {
    ...(callable.applyTo === 'entityCollection' && narrowing),
    ...(keeps && { $method: 'entityset' }),
    ...(byGet && values.length > 0 && { $params: JSON.stringify(values) }),
  }
  return { path, parameters, body: byGet ? undefined : values }
}

function prefixOf({ applyTo, owner }: Callable, target: string): string {
  if (applyTo === 'dataStore') return '$catalog'
  if (applyTo === 'singleton') return `$singleton/${encodeURIComponent(owner)}`
  return target
}

/** Content of an answer. */
export type Outcome =
  | { readonly kind: 'value'; readonly value: unknown }
  | {
      readonly kind: 'entity'
      readonly dataClass: string | undefined
      readonly entity: Readonly<Record<string, unknown>>
    }
  | {
      readonly kind: 'selection'
      readonly dataClass: string | undefined
      readonly count: number
      readonly entities: readonly Readonly<Record<string, unknown>>[]
      /** Id of the entity set, if the selection was kept as one. */
      readonly set: string | undefined
    }

/** An answer with its measurements. */
export interface Returned {
  readonly outcome: Outcome | Blob
  readonly mediaType: string
  readonly status: number
  readonly bytes: number
  readonly milliseconds: number
}

export function outcomeOf(answer: unknown): Outcome {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return { kind: 'value', value: answer }
  const body = answer as Readonly<Record<string, unknown>>
  const dataClass = [body.__DATACLASS, body.__entityModel].find(each => typeof each === 'string')
  if (Array.isArray(body.__ENTITIES)) {
    const entities = body.__ENTITIES as Readonly<Record<string, unknown>>[]
    const set = typeof body.__ENTITYSET === 'string' ? /\$entityset\/([^/?]+)/.exec(body.__ENTITYSET)?.[1] : undefined
    return { kind: 'selection', dataClass, count: Number(body.__COUNT ?? entities.length), entities, set }
  }
  if ('__KEY' in body) return { kind: 'entity', dataClass, entity: body }
  return { kind: 'value', value: 'result' in body ? body.result : body }
}
