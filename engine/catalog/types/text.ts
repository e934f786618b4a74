import { schemas } from '../../base/json-schema.ts'
import { fold } from '../../base/text/fold.ts'
import { Mismatch, type ScalarDescriptor } from './descriptor.ts'
import { PLAIN_TEXT, PLAIN_UUID } from './plain-form.ts'

const TEXT = {
  cell: 'text',
  aggregates: 'text',
  code: { value: 'string' },
  field: 'text',
  comparison: 'text',
  isNumeric: false,
  // Most texts contain nothing that JSON escapes; testing that takes half as long as `JSON.stringify`.
  encode: value => (ESCAPED.test(value as string) ? JSON.stringify(value) : `"${value as string}"`),
  decode: json => JSON.parse(json) as string,
  toCode: value => value,
  codeOfJson: json => JSON.parse(json) as string,
  keyText: value => String(value),
} as const satisfies Partial<ScalarDescriptor>

/** Characters that JSON may escape: control characters, quotes, backslashes, surrogates. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/

export const string: ScalarDescriptor = {
  ...TEXT,
  catalogName: () => 'string',
  options: ['indexed', 'unique', 'minLength', 'maxLength', 'pattern', 'choices', 'multiLine', 'default'],
  autoFill: ['uuid', 'user'],
  keyFamily: () => 'string',
  jsonSchemas: () => schemas({ type: 'string' }),
  expected: 'a text; put true and false into quotes',
  convert(json, attribute) {
    if (typeof json !== 'string') return new Mismatch('a text')
    // Keys appear in addresses, where a lone surrogate has no encoding.
    return attribute !== attribute.dataClass.key || json.isWellFormed()
      ? json
      : new Mismatch('a text of whole characters, without lone surrogates')
  },
  holds: value => typeof value === 'string',
  plainForm: () => PLAIN_TEXT,
  readOperand: (source, _, isBare) =>
    isBare && (source === 'true' || source === 'false') ? undefined : fold(String(source)),
}

/** 32 upper-case hex digits. */
export const uuid: ScalarDescriptor = {
  ...TEXT,
  catalogName: () => 'uuid',
  options: ['indexed', 'unique', 'default'],
  autoFill: ['uuid'],
  keyFamily: () => 'uuid',
  jsonSchemas: () => schemas({ type: 'string', pattern: '^[0-9A-F]{32}$' }, { type: 'string' }),
  expected: 'a text of 32 hexadecimal digits',
  convert(json) {
    const hex = typeof json === 'string' && json.length <= 36 ? json.replaceAll('-', '') : ''
    return /^[0-9A-Fa-f]{32}$/.test(hex) ? hex.toUpperCase() : new Mismatch('a UUID of 32 hexadecimal digits')
  },
  holds: value => typeof value === 'string' && /^[0-9A-F]{32}$/.test(value),
  plainForm: () => PLAIN_UUID,
  readOperand: source => fold(String(source).replaceAll('-', '')),
}
