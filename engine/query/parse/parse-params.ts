import { TEXT_LIMITS, type TextLimits } from './limits.ts'
import { parseRelaxedJson } from './relaxed-json.ts'

/** The values that the placeholders of a query stand for. */
export interface Params {
  /** `:1` is the first. */
  positional: readonly unknown[]
  /** Values by name, for `:name`. What is inside them, for `:extraInfo.name`, are plain JSON objects. */
  named: ReadonlyMap<string, unknown>
  /** Attribute paths by name, for a placeholder in the place of an attribute. */
  attributes: ReadonlyMap<string, unknown>
}

/** The text of `$params`, to be read where the query is: it is so long that reading it takes time. */
export interface UnreadParams {
  text: string
}

/** UTF-16 code units that are read in a fraction of a millisecond. */
const SHORT = 16_384

export const noParams: Params = { positional: [], named: new Map(), attributes: new Map() }

/**
 * Reads `$params`: an array for `:1`, `:2`; `{"parameters":{…},"attributes":{…}}` or a plain object for `:name`; any
 * other value is the only one of an array.
 * @throws {ParseErrors.PARAMS} 1806
 * Source: protocol notes, 1.3 and 2.11.
 */
export function parseParams(text: string, limits: TextLimits = TEXT_LIMITS): Params {
  return text.trim() === '' ? noParams : toParams(parseRelaxedJson(text, limits))
}

/** {@link parseParams}, unless that takes so long that another thread should do it. */
export function receiveParams(text: string, limits: TextLimits): Params | UnreadParams {
  return text.length > SHORT ? { text } : parseParams(text, limits)
}

/** Parameters that {@link receiveParams} has left unread. */
export const readParams = (params: Params | UnreadParams, limits: TextLimits): Params =>
  'text' in params ? parseParams(params.text, limits) : params

/** The same for a value that arrived as JSON already, as in the body of `$query`. */
export function toParams(value: unknown): Params {
  if (Array.isArray(value)) return { ...noParams, positional: value }
  if (!isObject(value)) return { ...noParams, positional: [value] }
  const names = Object.keys(value)
  const isSettings = names.every(name => name === 'parameters' || name === 'attributes')
  if (!isSettings) return { ...noParams, named: new Map(Object.entries(value)) }
  const { parameters, attributes } = value
  return {
    positional: Array.isArray(parameters) ? parameters : [],
    named: toMap(parameters),
    attributes: toMap(attributes),
  }
}

function toMap(value: unknown): Map<string, unknown> {
  return new Map(isObject(value) ? Object.entries(value) : [])
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
