import { schemas } from '../../base/json-schema.ts'
import { Mismatch, type PropertyDescriptor } from './descriptor.ts'
import { NUMERIC, readNumber } from './number.ts'
import { readDouble } from './operand.ts'

/** Milliseconds. */
export const duration: PropertyDescriptor = {
  ...NUMERIC,
  catalogName: () => 'duration',
  code: { value: 'number', assigned: 'number | string' },
  field: 'text',
  keyFamily: () => 'duration',
  jsonSchemas: () => schemas({ type: 'number' }, { type: ['number', 'string'] }),
  expected: 'milliseconds, or a time such as 01:30:00',
  convert: json => readClock(json) ?? new Mismatch('a number of milliseconds or a text such as "08:30:00"'),
  readOperand: source => (typeof source === 'string' ? readTime(source) : undefined) ?? readDouble(source),
}

const CLOCK = /^(-?)(\d{1,9}):([0-5]?\d)(?::([0-5]?\d)(?:\.(\d{1,9}))?)?$/
const TIME = /^\s*(-?)(\d{1,9}):([0-5]?\d)(?::([0-5]?\d(?:\.\d+)?))?\s*$/

/** Reads a duration of a save, in milliseconds. */
function readClock(json: unknown): number | undefined {
  const [, sign, hours, minutes, seconds = '0', fraction = '0'] = (typeof json === 'string' && CLOCK.exec(json)) || []
  if (hours === undefined) return readNumber(json)
  const ms =
    ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Math.trunc(Number(`0.${fraction}`) * 1000)
  return sign === '-' ? -ms : ms
}

/** Reads `hh:mm` or `hh:mm:ss` of a filter, in milliseconds. */
function readTime(text: string): number | undefined {
  const [, sign, hours, minutes, seconds = '0'] = TIME.exec(text) ?? []
  if (hours === undefined) return undefined
  return (sign ? -1 : 1) * Math.round(((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000)
}
