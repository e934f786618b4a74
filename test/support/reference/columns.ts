/**
 * Columns of PostgreSQL for the attributes of a world, and SQL of their values in one of the forms that mean the same.
 */
import type { Random } from '../base/random.ts'
import type { Plain, StorageSpec } from './world.ts'

/** A column that an attribute can have. */
export interface ColumnSpec {
  /** Type, with its collation. */
  type: string
  /** The value that the column keeps of one that is written to it. */
  kept(value: Plain): Plain
  /**
   * SQL of a value.
   * @param isWhole the column is NOT NULL, so that an order by it is by its microseconds: a value has none
   */
  sql(random: Random, value: Plain, isWhole?: boolean): string
}

const asIs = (value: Plain): Plain => value
export const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`
const plain = (type: string): ColumnSpec => ({
  type,
  kept: asIs,
  sql: (_, value) => (value === null ? 'NULL' : quote(String(value))),
})
/** @param others values that an attribute cannot have, and which are null */
const withOthers = (type: string, others: readonly string[]): ColumnSpec => ({
  ...plain(type),
  sql: (random, value) => (value === null ? random.pick(['NULL', ...others.map(quote)]) : numberSql(value)),
})
const numberSql = (value: Plain): string => quote(Object.is(value, -0) ? '-0' : String(value))

const bpchar = (length: number): ColumnSpec => ({
  ...plain(`char(${length})`),
  kept: value => (value === null ? null : (value as string).replace(/ +$/, '')),
})

const float4: ColumnSpec = {
  ...withOthers('real', ['NaN', 'Infinity', '-Infinity']),
  kept: value => (typeof value === 'number' ? shortest(value) : value),
}
/** The shortest decimal of the nearest float. */
function shortest(value: number): Plain {
  const float = Math.fround(value)
  if (!Number.isFinite(float) || (float === 0 && value !== 0)) return null
  for (let digits = 1; ; digits++) {
    const decimal = Number(float.toPrecision(digits))
    if (Math.fround(decimal) === float) return decimal
  }
}

const time = (type: string): ColumnSpec => ({
  ...plain(type),
  sql: (random, value, isWhole) => {
    if (value === null) return random.pick(['NULL', "'infinity'", "'-infinity'"])
    const iso = new Date(value as number).toISOString()
    if (type === 'date') return quote(iso.slice(0, 10))
    return quote(`${iso.slice(0, -1)}${isWhole ? '' : random.pick(['', '', '001', '5', '999'])}+00`)
  },
})

const interval: ColumnSpec = {
  ...plain('interval'),
  sql: (random, value, isWhole) => {
    if (value === null) return 'NULL'
    const ms = value as number
    const days = Math.trunc(ms / 86_400_000)
    const micros = `${isWhole ? 0 : random.pick([0, 0, 1, 500, 999])} microseconds`
    return quote(
      random.pick([`${ms} milliseconds ${micros}`, `${days} days ${ms - days * 86_400_000} milliseconds ${micros}`]),
    )
  },
}
const clock: ColumnSpec = {
  ...plain('time'),
  kept: value => (typeof value === 'number' && value >= 0 && value < 86_400_000 ? value : null),
  sql: (random, value, isWhole) =>
    value === null
      ? 'NULL'
      : quote(
          new Date(value as number).toISOString().slice(11, 23) + (isWhole ? '' : random.pick(['', '', '001', '999'])),
        ),
}

const json = (type: string): ColumnSpec => ({
  ...plain(type),
  kept: value => sorted(value) as Plain,
  sql: (random, value) => (value === null ? random.pick(['NULL', "'null'"]) : quote(JSON.stringify(value))),
})
/** JSON as `jsonb` keeps it: shorter names first, then by their bytes. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value
  const bytes = (name: string) => Buffer.from(name)
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => bytes(a).length - bytes(b).length || Buffer.compare(bytes(a), bytes(b)))
      .map(([name, each]) => [name, sorted(each)]),
  )
}

/** UUIDs as texts, as a client would spell them. */
const uuidText = (type: string): ColumnSpec => ({
  ...plain(type),
  sql: (random, value) => {
    if (value === null) return 'NULL'
    const text = value as string
    const dashed = text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    return quote(random.pick([text, dashed, dashed.toLowerCase()]))
  },
})

const bytes: ColumnSpec = { ...plain('bytea'), sql: (_, value) => (value === null ? 'NULL' : "'\\x00010203'") }

/** Collations of columns, which must not influence any answer. */
const COLLATIONS = ['', '', ' COLLATE "en-x-icu"', ' COLLATE "und-x-icu"', ' COLLATE loose']

/** A column for an attribute. @param isKey true for a key or a foreign key, which holds every value of its column */
export function columnFor(
  random: Random,
  { type, simpleDate, mandatory, maxLength }: StorageSpec,
  isKey: boolean,
): ColumnSpec {
  switch (type) {
    case 'bool':
      return plain('bool')
    case 'byte':
    case 'word':
      return plain(random.pick(['int2', 'int4', 'int8', 'numeric']))
    case 'long':
      return plain(random.pick(['int4', 'int4', 'int8', 'numeric']))
    case 'long64':
      return plain(random.pick(['int8', 'numeric']))
    case 'number':
    case 'float':
      if (mandatory) return plain('float8')
      return random.pick([
        withOthers('float8', ['NaN', 'Infinity', '-Infinity']),
        withOthers('numeric', ['NaN', 'Infinity', '-Infinity']),
        float4,
      ])
    case 'date':
      return random.pick([time('timestamp'), time('timestamptz'), ...(simpleDate ? [time('date')] : [])])
    case 'duration':
      return random.pick([interval, interval, clock, plain('int8')])
    case 'uuid':
      if (isKey) return plain('uuid')
      return random.pick([plain('uuid'), plain('uuid'), uuidText('text'), uuidText('varchar(36)')])
    case 'string': {
      const collation = isKey ? '' : random.pick(COLLATIONS)
      const types = [plain(`text${collation}`), plain(`varchar${collation}`), bpchar(400)]
      return random.pick(isKey ? types : [...(maxLength === undefined ? types.slice(0, 2) : types), plain('citext')])
    }
    case 'object':
      return json(random.pick(['jsonb', 'jsonb', 'json']))
    case 'blob':
      return bytes
  }
}
