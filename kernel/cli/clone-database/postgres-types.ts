import { parseClock } from '../../../engine/base/time/read-clock.ts'
import type { CatalogColumn } from '../../../engine/command-line.ts'
import { brief, clock, columnType, dataUrl, date, json, MAX_BLOB_BYTES, number, text, tooLong } from './cells.ts'
import { decimalType } from './decimals.ts'
import type { ReadCell, SourceType } from './source.ts'

/** A type of PostgreSQL, without its domains. */
type PostgresType = Pick<CatalogColumn, 'type' | 'modifier' | 'isArray' | 'labels'>

/** Bytes of the header in the modifier of a `varchar` or `numeric`. */
const HEADER = 4

const asText = (type: string): SourceType =>
  columnType('string', () => text, {
    read: quotedName => `${quotedName}::text`,
    note: `is a string with the text of its ${type}`,
  })

const bool = (): ReadCell => value => String(value === 't' || value === true)

const TYPES: Readonly<Record<string, (modifier: number) => SourceType>> = {
  bool: () => columnType('bool', bool),
  int2: () => columnType('word', number),
  int4: () => columnType('long', number),
  int8: () => columnType('long64', number),
  oid: () => columnType('long64', number),
  float4: () => columnType('number', number),
  float8: () => columnType('number', number),
  numeric: modifier => {
    const digits = modifier < HEADER ? undefined : (modifier - HEADER) >> 16
    // The scale has 11 bits and a sign.
    const scale = modifier < HEADER ? undefined : (((modifier - HEADER) & 0x7ff) ^ 1024) - 1024
    return decimalType(digits, scale, quotedName => {
      // NaN and infinity have no decimal places; they are reported for each row.
      const finite = `CASE WHEN ${quotedName}::text ~ '^-?[0-9.]+$' THEN ${quotedName} END`
      return [`max(scale(trim_scale(${finite})))`, `max(length(trunc(abs(${finite}))::text))`]
    })
  },
  money: () =>
    columnType({ type: 'decimal', scale: 2, asText: true }, number, { read: quotedName => `${quotedName}::numeric` }),
  text: () => columnType('string', () => text, { isText: true }),
  name: () => columnType('string', () => text),
  citext: () => columnType('string', () => text, { isText: true }),
  xml: () => columnType('string', () => text, { read: quotedName => `${quotedName}::text` }),
  varchar: modifier =>
    columnType({ type: 'string', ...(modifier > HEADER && { maxLength: modifier - HEADER }) }, () => text, {
      isText: true,
    }),
  bpchar: modifier =>
    // Trailing blanks are not part of the value; the conversion removes them.
    columnType({ type: 'string', ...(modifier > HEADER && { maxLength: modifier - HEADER }) }, () => text, {
      read: quotedName => `${quotedName}::text`,
      isText: true,
    }),
  uuid: () => columnType('uuid', () => text),
  date: () => columnType({ type: 'date', simpleDate: true }, date),
  timestamp: () => columnType('date', date),
  timestamptz: () => columnType('date', date),
  time: () => columnType('duration', clock),
  interval: modifier => ({
    ...columnType('duration', interval),
    ...(allowsMonths(modifier) && {
      generalType: columnType('string', () => text, {
        note: 'can have intervals of months, which have no fixed length: a string',
      }),
    }),
    measure: {
      aggregates: quotedName => [
        `bool_or(extract(year FROM ${quotedName}) <> 0 OR extract(month FROM ${quotedName}) <> 0)`,
      ],
      decide: ([hasMonths]) =>
        hasMonths === 't'
          ? columnType('string', () => text, {
              note: 'has intervals of months, which have no fixed length: a string keeps them',
            })
          : columnType('duration', interval),
    },
  }),
  json: () => columnType('object', json),
  jsonb: () => columnType('object', json),
  bytea: () =>
    columnType('blob', () => base64, {
      read: quotedName =>
        `CASE WHEN octet_length(${quotedName}) > ${MAX_BLOB_BYTES} THEN '#' || octet_length(${quotedName}) ELSE translate(encode(${quotedName}, 'base64'), E'\\n', '') END`,
    }),
  vector: modifier => (modifier > 0 ? columnType({ type: 'vector', dimension: modifier }, json) : asText('vector')),
}

/** True if a declaration such as `interval day to second` allows months: bit 1 months, bit 2 years; without fields all are possible. */
const allowsMonths = (modifier: number): boolean => modifier < 0 || ((modifier >> 16) & 0b110) !== 0

const base64: ReadCell = value => {
  const content = value as string
  if (content.startsWith('#')) throw tooLong(content.slice(1))
  return dataUrl(content)
}

export function postgresType({ type, modifier, isArray, labels }: PostgresType): SourceType {
  if (isArray) return columnType('object', json, { read: quotedName => `to_json(${quotedName})` })
  if (labels)
    return columnType({ type: 'string', ...choicesOf(labels) }, () => text, {
      read: quotedName => `${quotedName}::text`,
    })
  return Object.hasOwn(TYPES, type) ? TYPES[type]!(modifier) : asText(type)
}

/** Maximum number of choices of an attribute. */
const MAX_CHOICES = 1_000

/** Limits a string to the values of an enum. */
export const choicesOf = (labels: readonly string[]): { choices?: readonly string[] } =>
  labels.length > MAX_CHOICES || labels.length === 0 ? {} : { choices: [...new Set(labels)] }

const DAY_MS = 86_400_000

/** Reads an interval, written with `intervalstyle` `postgres`: `-3 days +04:05:06.789`. A day is 24 hours. */
const interval = (type: string): ReadCell =>
  type !== 'duration'
    ? text
    : value => {
        const content = String(value)
        const [, days, time] = /^(?:([+-]?\d+) days?)? ?([+-]?\d+:\d\d:\d\d(?:\.\d+)?)?$/.exec(content) ?? []
        if (days === undefined && time === undefined)
          throw new Error(`${brief(content)} is an interval with months, which have no fixed length`)
        return String(Number(days ?? 0) * DAY_MS + (time === undefined ? 0 : parseClock(time)!))
      }
