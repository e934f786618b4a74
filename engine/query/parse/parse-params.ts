import { TEXT_LIMITS, type TextLimits } from './limits.ts'
import { parseRelaxedJson } from './relaxed-json.ts'

/** Values of the placeholders of a query. */
export interface Params {
  /** `:1` is the first. */
  positional: readonly unknown[]
  /** Values by name, for `:name`; plain JSON objects for `:extraInfo.name`. */
  named: ReadonlyMap<string, unknown>
  /** Attribute paths by name, for a placeholder in the place of an attribute. */
  attributes: ReadonlyMap<string, unknown>
}

/** A text of `$params` that takes long to parse and is therefore parsed in the thread of the query. */
export interface UnreadParams {
  text: string
}

/** Number of UTF-16 code units that are parsed in a fraction of a millisecond. */
const SHORT = 16_384

export const noParams: Params = { positional: [], named: new Map(), attributes: new Map() }

/**
 * Reads `$params`: an array for `:1`, `:2`; `{"parameters":{…},"attributes":{…}}` or a plain object for `:name`; any other value is treated
 * as an array of this one value.
 * @throws {ParseErrors.PARAMS} 1806 Source: protocol notes, 1.3 and 2.11.
 */
export function parseParams(text: string, limits: TextLimits = TEXT_LIMITS): Params {
  return text.trim() === '' ? noParams : toParams(parseRelaxedJson(text, limits))
}

/** Parses like {@link parseParams}, but leaves long texts to another thread. */
export function receiveParams(text: string, limits: TextLimits): Params | UnreadParams {
  return text.length > SHORT ? { text } : parseParams(text, limits)
}

/** Reads parameters that {@link receiveParams} may have left unread. */
export const readParams = (params: Params | UnreadParams, limits: TextLimits): Params =>
  'text' in params ? parseParams(params.text, limits) : params

/** Parameters from a value that is already parsed, as in the body of `$query`. */
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
