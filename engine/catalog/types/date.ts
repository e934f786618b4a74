import { schemas } from '../../base/json-schema.ts'
import { parseDate, parseDay } from '../../base/time/read-date.ts'
import { Mismatch, type ScalarDescriptor } from './descriptor.ts'
import { plainDate } from './plain-form.ts'
import { formatDate, parseWireDate } from './wire-date.ts'

/** Milliseconds since 1970 UTC; midnight for a date-only attribute. */
export const date: ScalarDescriptor = {
  catalogName: () => 'date',
  catalogOptions: ({ simpleDate }) => ({ simpleDate }),
  options: ['indexed', 'unique', 'simpleDate', 'default'],
  autoFill: ['now'],
  cell: 'date',
  aggregates: 'date',
  code: { value: 'string', assigned: 'string | Date' },
  field: 'date',
  comparison: 'number',
  isNumeric: false,
  keyFamily: () => 'date',
  jsonSchemas: ({ simpleDate }) =>
    simpleDate
      ? schemas({ type: 'string', pattern: DAY }, { type: 'string' })
      : schemas({ type: 'string', format: 'date-time' }),
  expected: 'a date such as 2020-01-31, 2020-01-31T15:23:00Z or 2020-01-31 15:23:00+02:00',
  convert(json, { simpleDate }) {
    const value = typeof json === 'string' ? read(json, simpleDate) : undefined
    return value ?? new Mismatch(`a date such as ${simpleDate ? DAYS : MOMENTS}`)
  },
  holds: value => Number.isFinite(value),
  encode: (value, { simpleDate }, wire) => `"${formatDate(value as number, simpleDate, wire)}"`,
  plainForm: ({ simpleDate }, wire) => plainDate(simpleDate, wire),
  decode: (json, { simpleDate }, wire) => parseWireDate(JSON.parse(json) as string, simpleDate, wire),
  toCode: (value, { simpleDate }) => formatDate(value as number, simpleDate, { dateOnlyFormat: 'iso' }),
  codeOfJson: (json, attribute, wire) => date.toCode(date.decode(json, attribute, wire) as number, attribute),
  keyText: (value, { simpleDate }, wire) =>
    typeof value === 'number' ? formatDate(value, simpleDate, wire) : String(value),
  // A number could be milliseconds, a year or 20200131.
  readOperand: (source, { simpleDate }) => (typeof source === 'string' ? read(source, simpleDate) : undefined),
}

const DAYS = '"2020-01-31" or "31!1!2020"'
const MOMENTS = '"2020-01-31T15:23:00Z", "2020-01-31 15:23:00+02:00" or "2020-01-31"'

/** In both forms of the option `protocol.dateOnlyFormat`. */
const DAY = '^([+-]?[0-9]{4,6}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}![0-9]{1,2}!-?[0-9]+)$'

/** Reads a date; for a date-only attribute, the day as written. */
const read = (text: string, simpleDate: boolean): number | undefined => (simpleDate ? parseDay(text) : parseDate(text))
