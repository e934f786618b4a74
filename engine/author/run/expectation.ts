import type { JsonSchema } from '../../base/json-schema.ts'
import { ENTITY_OF, SELECTION_OF } from '../declare/signature.ts'

/** Maximum characters of a quoted value, and maximum number of listed alternatives. */
const MAX_QUOTED = 40
const MAX_LISTED = 10

/**
 * Description of the values that fit a schema, for a message: `an integer from 1 to 10`.
 * @param isShown true if the client may know of a dataclass
 */
export function expectationOf(schema: JsonSchema, isShown: (dataClass: string) => boolean): string {
  const of = (name: unknown): string => (isShown(String(name)) ? ` of ${String(name)}` : '')
  if (schema[ENTITY_OF] !== undefined) return `an entity${of(schema[ENTITY_OF])} ({"__ENTITY":true,"__DATACLASS":…})`
  if (schema[SELECTION_OF] !== undefined) return `an entity set${of(schema[SELECTION_OF])} ({"__DATASET":"…"})`
  if ('const' in schema) return quote(schema.const)
  if (Array.isArray(schema.enum)) return listAlternatives(schema.enum.map(quote))
  const alternatives = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
  if (alternatives) return listAlternatives([...new Set(alternatives.map(each => expectationOf(each, isShown)))])
  const { type } = schema
  return listAlternatives((Array.isArray(type) ? type : [type]).map(each => ofType(String(each), schema, isShown)))
}

function ofType(type: string, schema: JsonSchema, isShown: (dataClass: string) => boolean): string {
  const { pattern, format, minLength, maxLength, minItems, maxItems, items, properties } = schema
  switch (type) {
    case 'string': {
      const kind = format === undefined ? 'a text' : `a text of the format ${String(format)}`
      if (minLength === 1 && maxLength === undefined && pattern === undefined) return `${kind} that is not empty`
      const length = range(minLength, maxLength)
      const like = pattern === undefined ? '' : ` that matches ${cut(String(pattern))}`
      return `${kind}${length && `${length} characters`}${like}`
    }
    case 'integer':
    case 'number':
      return `${type === 'integer' ? 'an integer' : 'a number'}${numbers(schema)}`
    case 'boolean':
      return 'true or false'
    case 'array': {
      const size = range(minItems, maxItems)
      if (size) return `an array${size} elements`
      const isList = typeof items === 'object' && items !== null
      return isList ? `an array, each element ${expectationOf(items as JsonSchema, isShown)}` : 'an array'
    }
    case 'object': {
      const names = Object.keys((properties as object | undefined) ?? {})
      return names.length > 0 ? `an object with ${cut(names.join(', '))}` : 'an object'
    }
    case 'null':
      return 'null'
    default:
      return 'a value that fits'
  }
}

function numbers({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonSchema): string {
  const above = exclusiveMinimum === undefined ? '' : ` above ${String(exclusiveMinimum)}`
  const below = exclusiveMaximum === undefined ? '' : ` below ${String(exclusiveMaximum)}`
  const multiple = multipleOf === undefined ? '' : `, a multiple of ${String(multipleOf)}`
  return `${between(minimum, maximum)}${above}${below}${multiple}`
}

function between(least: unknown, most: unknown): string {
  if (least !== undefined && most !== undefined) return ` from ${String(least)} to ${String(most)}`
  if (least !== undefined) return ` of at least ${String(least)}`
  return most === undefined ? '' : ` of at most ${String(most)}`
}

const range = (least: unknown, most: unknown): string =>
  least !== undefined && least === most ? ` of ${String(least)}` : between(least, most).replace(' from', ' of')

/** Short description of a client's value, at bounded cost. */
export function describeValue(value: unknown): string {
  if (Array.isArray(value)) return `an array with ${value.length} element${value.length === 1 ? '' : 's'}`
  // Numbers with more digits than a double holds.
  if (typeof value === 'bigint' || value instanceof String) return `${cut(String(value))}, which a double cannot hold`
  if (typeof value === 'object' && value !== null) return 'an object'
  return quote(typeof value === 'string' ? value.slice(0, MAX_QUOTED + 1) : value)
}

const quote = (value: unknown): string => cut(JSON.stringify(value) ?? 'nothing')
const cut = (text: string): string => (text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text)

function listAlternatives(alternatives: readonly string[]): string {
  const shortList = alternatives.slice(0, MAX_LISTED)
  if (shortList.length < alternatives.length) return `one of ${shortList.join(', ')}, …`
  return shortList.length < 3 ? shortList.join(' or ') : `one of ${shortList.join(', ')}`
}
