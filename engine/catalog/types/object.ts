import { schemas } from '../../base/json-schema.ts'
import { beyondDoubles, isLongNumber, isPlain, roundNumbers } from '../../base/exact-json.ts'
import { isDeeper } from '../../base/json-depth.ts'
import { readJson } from '../../base/read-json.ts'
import { excerpt } from '../../base/text/excerpt.ts'
import type { ValueAttribute } from '../attribute.ts'
import type { JsonContainer } from '../value.ts'
import { Mismatch, type TypeDescriptor } from './descriptor.ts'

/** Maximum depth of an object value. Deeper JSON has no known use, and code that reads it may be recursive. */
const MAX_DEPTH = 100

const CONTAINERS = ['object', 'array']
const SCALARS = ['string', 'number', 'boolean']

/** True if a value may be a scalar: a JSON column may have any value, and values read from it can be saved again. */
const mayBeScalar = ({ dataClass }: Partial<Pick<ValueAttribute, 'dataClass'>>): boolean =>
  dataClass?.place.anyJson === true

const isScalar = (json: unknown): boolean =>
  SCALARS.includes(typeof json) || typeof json === 'bigint' || isLongNumber(json)

export const object: TypeDescriptor = {
  catalogName: () => 'object',
  options: ['properties', 'default'],
  autoFill: [],
  cell: 'json',
  aggregates: 'opaque',
  code: { value: 'any' },
  jsonSchemas: attribute =>
    schemas({ type: [...CONTAINERS, ...(mayBeScalar(attribute) ? SCALARS : [])], additionalProperties: true }),
  field: 'json',
  convert(json, attribute) {
    const isContainer = typeof json === 'object' && !isLongNumber(json)
    if (!isContainer && !mayBeScalar(attribute)) return new Mismatch('an object or an array')
    if (!isContainer && !isScalar(json)) return new Mismatch('JSON')
    // Checked before anything that recurses.
    if (isDeeper(json, MAX_DEPTH)) return new Mismatch(`an object of at most ${MAX_DEPTH} levels`, 'a deeper one')
    if (isPlain(json)) return json as JsonContainer
    const number = beyondDoubles(json)
    return number === undefined
      ? (roundNumbers(json) as JsonContainer)
      : new Mismatch('JSON with numbers that double precision can hold', `JSON with the number ${excerpt(number)}`)
  },
  holds: value => typeof value === 'object',
  encode: value => JSON.stringify(value),
  toCode: value => value,
  decode: json => readJson(json) as JsonContainer,
}
