import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { BinaryValue, Value } from '../../catalog/value.ts'
import type { Scalar } from '../../query/bind/predicate.ts'
import { quoteName } from './quote.ts'
import type { RemoteColumn } from './remote-table.ts'
import { at, between, type Cut, type Domain } from './cut.ts'
import { lossOf } from './lossless.ts'
import { type ColumnForm, plainForm } from './column-form.ts'
import { numberForm } from './number-forms.ts'
import { day, interval, moment, time } from './time-forms.ts'
import { Unfit } from './unfit.ts'

const TEXTS = new Set(['text', 'varchar', 'bpchar', 'name', 'citext'])

/**
 * @param columns one, or several for a composite key
 * @returns a sentence with the reason if the attribute cannot have the values of the column
 */
export function columnForm(attribute: StorageAttribute, columns: readonly RemoteColumn[]): ColumnForm | string {
  const [column] = columns as [RemoteColumn]
  const form = columns.length > 1 ? composite : formOf(attribute, column)
  return (
    (form && { ...form, loss: lossOf(attribute, columns, form.json) }) ??
    `the column ${quoteName(column.name)} is of type ${column.type}; ${attribute.name} is a ${attribute.type}`
  )
}

function formOf(attribute: StorageAttribute, { type, modifier, labels }: RemoteColumn): ColumnForm | undefined {
  switch (attribute.type) {
    case 'bool':
      return type === 'bool' ? bool : undefined
    case 'byte':
    case 'word':
    case 'long':
    case 'long64':
      return numberForm('integer', type, modifier)
    case 'number':
    case 'float':
      return numberForm('double', type, modifier)
    case 'decimal':
      return numberForm(attribute.scale, type, modifier)
    case 'date':
      if (type === 'date') return day
      return type === 'timestamp' || type === 'timestamptz'
        ? moment(type, modifier, attribute.simpleDate === true)
        : undefined
    case 'duration':
      if (type === 'numeric') return undefined
      return type === 'time'
        ? time(modifier)
        : type === 'interval'
          ? interval(modifier)
          : numberForm('integer', type, modifier)
    case 'uuid':
      return type === 'uuid' ? uuid : TEXTS.has(type) ? uuidText(modifier) : undefined
    case 'string':
      return text(labels ? undefined : type)
    case 'object':
      return json(type)
    case 'vector':
      return /^(_float4|_float8|vector|_numeric)$/.test(type)
        ? vector(type, modifier, attribute.vector!.dimension)
        : undefined
    case 'image':
    case 'blob':
      return type === 'bytea' ? presence : undefined
  }
}

const cannotCompare = (): never => {
  throw new Error('such values are not compared')
}

export const BOOLS: Domain = { type: 'bool', around: value => at(value === 0 ? 'f' : 't') }

const bool = plainForm(BOOLS, { read: text => text === 't', write: value => (value === true ? 't' : 'f') })

const uuid: ColumnForm = {
  ...plainForm({ type: 'uuid', around: aroundUuid }, { read: text => text.replaceAll('-', '').toUpperCase() }),
  // The same form as folded values, for patterns.
  sorted: column => `replace(${column}::text, '-', '')`,
  isText: true,
}

/** Digits of UUIDs sort like the UUIDs. An operand may be any text. */
function aroundUuid(operand: Scalar): readonly [Cut, Cut] {
  const text = String(operand)
  if (UUID.test(text)) return at(text)
  const [digits] = /^[0-9a-f]{0,32}/.exec(text)!
  if (digits.length === 32) return between({ at: digits, isBehind: true })
  const next = [...'0123456789abcdef'].find(digit => digit >= text.slice(digits.length, digits.length + 1))
  return between(
    next === undefined
      ? { at: digits.padEnd(32, 'f'), isBehind: true }
      : { at: (digits + next).padEnd(32, '0'), isBehind: false },
  )
}

const UUID = /^[0-9a-f]{32}$/

/** UUIDs that are stored as texts, with or without hyphens. @param modifier of the column, which has the maximum length */
const uuidText = (modifier: number): ColumnForm => {
  const hasHyphens = modifier < 0 || modifier >= VARIABLE_HEADER + 36
  return {
    ...uuid,
    select: column => `${column}::text`,
    read(text) {
      const digits = text.replaceAll('-', '').toLowerCase()
      return UUID.test(digits) ? digits.toUpperCase() : new Unfit('it is not a UUID')
    },
    fits: column => `replace(${column}::text, '-', '') ~* '${UUID.source}'`,
    isValue: operand => UUID.test(String(operand)),
    // With and without hyphens, in any case.
    isCut: true,
    sorted: column => `lower(replace(${column}::text, '-', '') COLLATE "C")`,
    domain: undefined,
    compared: cannotCompare,
    identityType: undefined,
    write: value => String(value).toLowerCase(),
    json(value) {
      const digits = String(value).toLowerCase()
      return hasHyphens ? digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') : digits
    },
  }
}

/** Number that the modifier of a text adds to its length. */
const VARIABLE_HEADER = 4

/** @param type undefined for an enumeration, whose values are compared as texts */
const text = (type: string | undefined): ColumnForm => {
  const asText =
    type === 'text' || type === 'varchar' ? (column?: string) => column! : (column?: string) => `${column}::text`
  return {
    select: column => asText(column),
    read: text => text,
    sorted: column => asText(column),
    isText: true,
    domain: undefined,
    compared: cannotCompare,
    identityType: type === 'text' || type === 'varchar' ? 'text' : type === 'bpchar' ? 'bpchar' : undefined,
    write: value => String(value),
    json: value => value,
    ...(type !== undefined && /^jsonb?$/.test(type) && { convert: (sql: string) => `${sql}::${type}` }),
  }
}

/** Parts of a key between tildes; a tilde or a backslash inside a part is preceded by a backslash. */
const composite: ColumnForm = {
  select: (...columns) => columns.map(part).join(` || '~' || `),
  read: text => text,
  sorted: (...columns) => columns.map(part).join(` || '~' || `),
  isText: true,
  domain: undefined,
  compared: cannotCompare,
  identityType: undefined,
  write: value => String(value),
  json: cannotCompare,
}

const part = (column: string): string => `regexp_replace(${column}::text COLLATE "C", '([~\\\\])', '\\\\\\1', 'g')`

/** An escape that `jsonb` refuses: of the character 0, or of half of a pair of surrogates. */
const REFUSED =
  '(^|[^\\\\])(\\\\\\\\)*\\\\u(0000|[dD][89aAbB][[:xdigit:]]{2}(?!\\\\u[dD][c-fC-F]))|(?<!\\\\u[dD][89aAbB][[:xdigit:]]{2})\\\\u[dD][c-fC-F]'

/** Objects and arrays, and texts, numbers and booleans, which JSON may also contain. A JSON null is treated as null. */
const json = (type: string): ColumnForm => {
  const asJson = (column?: string): string =>
    type === 'jsonb'
      ? column!
      : type === 'json'
        ? `CASE WHEN ${column}::text !~ '${REFUSED}' THEN ${column}::jsonb END`
        : `to_jsonb(${column})`
  return {
    select: column => (type === 'json' ? column! : asJson(column)),
    read: readJson,
    // Tested on the column itself: `jsonb` cannot hold every value that is shown.
    ...(type === 'json' && { fits: (column: string) => `json_typeof(${column}) <> 'null'` }),
    sorted: column => (type === 'jsonb' ? `nullif(${column}, 'null')` : asJson(column)),
    isText: false,
    domain: undefined,
    compared: cannotCompare,
    identityType: undefined,
    write: value => JSON.stringify(value),
    json: value => (type === 'hstore' ? JSON.stringify(value) : value),
    ...(type === 'hstore' && { convert: hstoreOf }),
  }
}

const hstoreOf = (sql: string): string =>
  `CASE WHEN ${sql} IS NOT NULL THEN coalesce((SELECT hstore(array_agg(key), array_agg(value)) FROM json_each_text(${sql}::json)), '') END`

function readJson(text: string): Value | Unfit {
  const value = JSON.parse(text) as Value
  return typeof value !== 'number' || Number.isFinite(value) ? value : new Unfit('no double can hold it')
}

/** Bounds of the absolute values that can be rounded to a float of 32 bits: below the first, and 0 or above the second. */
const FLOATS = [2 ** 128 - 2 ** 103, 2 ** -150] as const

const isFloat = (value: unknown): boolean =>
  typeof value === 'number' && Math.abs(value) < FLOATS[0] && (value === 0 || Math.abs(value) > FLOATS[1])

/** @param modifier of a column of pgvector: the dimension, if all of its vectors have the same one */
const vector = (type: string, modifier: number, dimension: number): ColumnForm => ({
  select: column => vectorJson(column!, type, dimension),
  read(text) {
    const numbers = JSON.parse(text) as unknown[]
    return numbers.length === dimension && numbers.every(isFloat)
      ? numbers
      : new Unfit(`it does not have ${dimension} numbers of 32 bits`)
  },
  ...((type !== 'vector' || modifier !== dimension) && {
    fits: (column: string) => fitsVector(column, type, dimension),
  }),
  sorted: column => column!,
  isText: false,
  domain: undefined,
  compared: cannotCompare,
  identityType: undefined,
  write: value => JSON.stringify(value),
  json: value => (type === 'vector' ? JSON.stringify(value) : value),
})

/** SQL that is true for a vector that the attribute can have. Numbers of pgvector are always finite. */
function fitsVector(column: string, type: string, dimension: number): string {
  if (type === 'vector') return `vector_dims(${column}) = ${dimension}`
  const isFloat =
    type === '_float4' ? `abs(e) < 'Infinity'` : `abs(e) < ${FLOATS[0]} AND (e = 0 OR abs(e) > ${FLOATS[1]})`
  return `(array_ndims(${column}) = 1 AND cardinality(${column}) = ${dimension} AND NOT EXISTS (SELECT FROM unnest(${column}) AS u (e) WHERE (${isFloat}) IS NOT TRUE))`
}

/** SQL of a vector as JSON. The database refuses to round some numbers, so these are not rounded. */
const vectorJson = (column: string, type: string, dimension: number): string =>
  type === '_float4'
    ? `to_json(${column})`
    : type === 'vector'
      ? `to_json(${column}::float4[])`
      : `CASE WHEN ${fitsVector(column, type, dimension)} THEN to_json(${column}::float4[]) ELSE to_json(${column}) END`

/** Bytes are read separately: a row says only whether they exist. */
const presence: ColumnForm = {
  select: column => `CASE WHEN ${column} IS NOT NULL THEN true END`,
  read: () => true,
  sorted: column => column!,
  isText: false,
  domain: undefined,
  compared: cannotCompare,
  identityType: undefined,
  write: cannotCompare,
  json: value => `\\x${Buffer.from((value as BinaryValue).bytes).toString('hex')}`,
}
