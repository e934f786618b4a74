import { schemas } from '../../base/json-schema.ts'
import { parseClock } from '../../base/time/read-clock.ts'
import { Mismatch, type ScalarDescriptor } from './descriptor.ts'
import { NUMERIC, readNumber } from './number.ts'
import { NUMBER, readDouble } from './operand.ts'

/** Milliseconds. */
export const duration: ScalarDescriptor = {
  ...NUMERIC,
  catalogName: () => 'duration',
  code: { value: 'number', assigned: 'number | string' },
  field: 'text',
  keyFamily: () => 'duration',
  jsonSchemas: () => schemas({ type: 'number' }, { type: ['number', 'string'] }),
  expected: 'milliseconds, or a time such as 01:30:00',
  convert: json =>
    (typeof json === 'string' ? parseClock(json) : undefined) ??
    readNumber(json) ??
    new Mismatch('a number of milliseconds or a text such as "08:30:00"'),
  readOperand(source) {
    if (typeof source !== 'string') return readDouble(source)
    // Unlike numbers, a duration is not the first number of any text: `08:75` would be 8 milliseconds.
    return parseClock(source) ?? (NUMBER.test(source) ? readDouble(source) : undefined)
  },
}
