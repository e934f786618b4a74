import { schemas } from '../../base/json-schema.ts'
import { Mismatch, type TypeDescriptor } from './descriptor.ts'
import { readVector } from './read-vector.ts'

/** Numbers, each the shortest decimal of a Float32. */
export const vector: TypeDescriptor = {
  // The protocol has no type for vectors.
  catalogName: () => 'object',
  options: ['dimension', 'metric', 'hnsw'],
  needs: { dimension: 'a vector needs the count of its numbers' },
  autoFill: [],
  cell: 'vector',
  aggregates: 'opaque',
  code: { value: 'readonly number[]', assigned: 'readonly number[] | Float32Array' },
  field: 'json',
  jsonSchemas({ vector }) {
    const { dimension } = vector!
    return schemas({ type: 'array', items: { type: 'number' }, minItems: dimension, maxItems: dimension })
  },
  convert(json, attribute) {
    const { dimension } = attribute.vector!
    return readVector(json, dimension, problem => new Mismatch(`an array of ${dimension} numbers`, problem))
  },
  holds: (value, { vector }) =>
    Array.isArray(value) && value.length === vector!.dimension && value.every(Number.isFinite),
  encode: value => JSON.stringify(value),
  toCode: value => value,
  decode: json => JSON.parse(json) as number[],
}
