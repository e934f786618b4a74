import { parseClock } from '../../../engine/base/time/read-clock.ts'
import type { CatalogColumn } from '../../../engine/postgres/database/database-catalog.ts'
import { brief, clock, dataUrl, date, json, MAX_BLOB_BYTES, number, text, tooLong } from './cells.ts'
import { decimalType } from './decimals.ts'
import type { AttributeProposal, ReadCell, SourceType } from './source.ts'

/** A type of PostgreSQL, without its domains. */
type PostgresType = Pick<CatalogColumn, 'type' | 'modifier' | 'isArray' | 'labels'>

/** Bytes of the header in the modifier of a `varchar` or `numeric`. */
const HEADER = 4
/** Characters of a pattern. */
const MAX_PATTERN = 1_000

const of = (
  attribute: AttributeProposal | string,
  cell: SourceType['cell'],
  more: Partial<SourceType> = {},
): SourceType => ({
  attribute: typeof attribute === 'string' ? { type: attribute } : attribute,
  cell,
  ...more,
})
const asText = (type: string): SourceType =>
  of('string', () => text, { read: quoted => `${quoted}::text`, note: `is a string with the text of its ${type}` })

const bool = (): ReadCell => value => String(value === 't' || value === true)

const TYPES: Readonly<Record<string, (modifier: number) => SourceType>> = {
  bool: () => of('bool', bool),
  int2: () => of('word', number),
  int4: () => of('long', number),
  int8: () => of('long64', number),
  oid: () => of('long64', number),
  float4: () => of('number', number),
  float8: () => of('number', number),
  numeric: modifier => {
    const digits = modifier < HEADER ? undefined : (modifier - HEADER) >> 16
    // The scale has 11 bits and a sign.
    const scale = modifier < HEADER ? undefined : (((modifier - HEADER) & 0x7ff) ^ 1024) - 1024
    return decimalType(digits, scale, quoted => {
      // NaN and infinity have no places; they are reported, row by row.
      const finite = `CASE WHEN ${quoted}::text ~ '^-?[0-9.]+$' THEN ${quoted} END`
      return [`max(scale(trim_scale(${finite})))`, `max(length(trunc(abs(${finite}))::text))`]
    })
  },
  money: () => of({ type: 'decimal', scale: 2, asText: true }, number, { read: quoted => `${quoted}::numeric` }),
  text: () => of('string', () => text, { isText: true }),
  name: () => of('string', () => text),
  citext: () => of('string', () => text, { isText: true }),
  xml: () => of('string', () => text, { read: quoted => `${quoted}::text` }),
  varchar: modifier =>
    of({ type: 'string', ...(modifier > HEADER && { maxLength: modifier - HEADER }) }, () => text, { isText: true }),
  bpchar: modifier =>
    // The blanks at the end are not part of the value; the conversion removes them.
    of({ type: 'string', ...(modifier > HEADER && { maxLength: modifier - HEADER }) }, () => text, {
      read: quoted => `${quoted}::text`,
      isText: true,
    }),
  uuid: () => of('uuid', () => text),
  date: () => of({ type: 'date', simpleDate: true }, date),
  timestamp: () => of('date', date),
  timestamptz: () => of('date', date),
  time: () => of('duration', clock),
  interval: modifier => ({
    ...of('duration', interval),
    ...(allowsMonths(modifier) && {
      generalType: of('string', () => text, {
        note: 'can have intervals of months, which have no fixed length: a string',
      }),
    }),
    measure: {
      aggregates: quoted => [`bool_or(extract(year FROM ${quoted}) <> 0 OR extract(month FROM ${quoted}) <> 0)`],
      decide: ([hasMonths]) =>
        hasMonths === 't'
          ? of('string', () => text, {
              note: 'has intervals of months, which have no fixed length: a string keeps them',
            })
          : of('duration', interval),
    },
  }),
  json: () => of('object', json),
  jsonb: () => of('object', json),
  bytea: () =>
    of('blob', () => base64, {
      read: quoted =>
        `CASE WHEN octet_length(${quoted}) > ${MAX_BLOB_BYTES} THEN '#' || octet_length(${quoted}) ELSE translate(encode(${quoted}, 'base64'), E'\\n', '') END`,
    }),
  vector: modifier => (modifier > 0 ? of({ type: 'vector', dimension: modifier }, json) : asText('vector')),
}

/** Fields of a declaration such as `interval day to second`: bit 1 months, bit 2 years; without one all are possible. */
const allowsMonths = (modifier: number): boolean => modifier < 0 || ((modifier >> 16) & 0b110) !== 0

const base64: ReadCell = value => {
  const found = value as string
  if (found.startsWith('#')) throw tooLong(found.slice(1))
  return dataUrl(found)
}

export function postgresType({ type, modifier, isArray, labels }: PostgresType): SourceType {
  if (isArray) return of('object', json, { read: quoted => `to_json(${quoted})` })
  if (labels) return of({ type: 'string', ...enumPattern(labels) }, () => text, { read: quoted => `${quoted}::text` })
  return Object.hasOwn(TYPES, type) ? TYPES[type]!(modifier) : asText(type)
}

/** Limits a string to some values. */
export function enumPattern(labels: readonly string[]): { pattern?: string } {
  const pattern = labels.map(label => label.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  return pattern.length > MAX_PATTERN || labels.length === 0 ? {} : { pattern }
}

const DAY_MS = 86_400_000

/** `intervalstyle` is `postgres`: `-3 days +04:05:06.789`. Days have 24 hours here. */
const interval = (type: string): ReadCell =>
  type !== 'duration'
    ? text
    : value => {
        const found = String(value)
        const [, days, time] = /^(?:([+-]?\d+) days?)? ?([+-]?\d+:\d\d:\d\d(?:\.\d+)?)?$/.exec(found) ?? []
        if (days === undefined && time === undefined)
          throw new Error(`${brief(found)} is an interval with months, which have no fixed length`)
        return String(Number(days ?? 0) * DAY_MS + (time === undefined ? 0 : parseClock(time)!))
      }
