import { schemas } from '../../base/json-schema.ts'
import { Mismatch, type ScalarDescriptor } from './descriptor.ts'
import { PLAIN_BOOL } from './plain-form.ts'

export const bool: ScalarDescriptor = {
  catalogName: () => 'bool',
  options: ['indexed', 'unique', 'default'],
  autoFill: [],
  cell: 'bit',
  aggregates: 'bool',
  code: { value: 'boolean' },
  field: 'bool',
  comparison: 'bool',
  isNumeric: false,
  keyFamily: () => 'bool',
  jsonSchemas: () => schemas({ type: 'boolean' }),
  expected: 'true or false',
  convert(json) {
    if (typeof json === 'boolean') return json
    return json === 0 || json === 1 ? json === 1 : new Mismatch('true or false')
  },
  holds: value => typeof value === 'boolean',
  encode: value => String(value),
  plainForm: () => PLAIN_BOOL,
  toCode: value => value,
  codeOfJson: json => JSON.parse(json) as boolean,
  keyText: value => String(value),
  decode: json => JSON.parse(json) as boolean,
  readOperand: source => TRUTH.get(String(source)),
}

const TRUTH: ReadonlyMap<string, number> = new Map([
  ['true', 1],
  ['false', 0],
  ['1', 1],
  ['0', 0],
])
