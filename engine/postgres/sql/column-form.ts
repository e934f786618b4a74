import type { StorageAttribute } from '../../catalog/attribute.ts'
import { Between, type NumericOperand } from '../../catalog/types/operand.ts'
import type { Value } from '../../catalog/value.ts'
import type { Scalar } from '../../query/bind/predicate.ts'
import { quoteName } from '../quote.ts'
import type { RemoteColumn } from '../remote-table.ts'
import { readClock, readDateTime, readInterval, readNumber, readScaledText, readWhole } from './read-text.ts'

type Comparator = '=' | '<' | '<=' | '>' | '>='

/** Adds a parameter. @param type to which SQL casts the text @returns SQL such as `$1::int8` */
type Param = (text: string, type: string) => string

/** How the values of an attribute are read from its column, and compared in SQL. */
export interface ColumnForm {
  /** SQL of the value as {@link read} takes it. @param column SQL of each column, quoted, perhaps with the table */
  select(...columns: readonly string[]): string
  /** Value of a text that the database has sent. @throws {Error} with the reason why the attribute cannot have it */
  read(text: string): Value
  /** SQL of a value that sorts as the attribute does; of texts it is still to be folded. */
  sorted(...columns: readonly string[]): string
  readonly isText: boolean
  /** SQL of a number that is added up. @param sorted as {@link sorted} returns it; itself by default */
  summed?(sorted: string): string
  /** SQL that compares the column with an operand; not for texts. Null for null. */
  compare(column: string, comparator: Comparator, value: Scalar, param: Param): string
  /** Type of parameters that are compared with the column as it is: keys and foreign keys. Undefined: {@link sorted} is compared, as text. */
  readonly identityType: string | undefined
  /** Text of a value for such a parameter. */
  write(value: Value): string
}

const INTEGERS: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int2: [-(2n ** 15n), 2n ** 15n - 1n],
  int4: [-(2n ** 31n), 2n ** 31n - 1n],
  int8: [-(2n ** 63n), 2n ** 63n - 1n],
  oid: [0n, 2n ** 32n - 1n],
}
const TEXTS = new Set(['text', 'varchar', 'bpchar', 'name', 'citext'])
const DAY_MS = 86_400_000

/**
 * @param columns one, or several for a key that is made of them
 * @returns a sentence with the reason if the attribute cannot have the values of the column
 */
export function columnForm(attribute: StorageAttribute, columns: readonly RemoteColumn[]): ColumnForm | string {
  const [column] = columns as [RemoteColumn]
  if (columns.length > 1) return composite
  const form = formOf(attribute, column)
  return (
    form ?? `the column ${quoteName(column.name)} is of type ${column.type}; ${attribute.name} is a ${attribute.type}`
  )
}

function formOf(attribute: StorageAttribute, { type, isEnum }: RemoteColumn): ColumnForm | undefined {
  switch (attribute.type) {
    case 'bool':
      return type === 'bool' ? bool : undefined
    case 'byte':
    case 'word':
    case 'long':
    case 'long64':
      return type in INTEGERS ? integer(type) : type === 'numeric' ? wholeNumeric : undefined
    case 'number':
    case 'float':
      if (type in INTEGERS) return integer(type)
      if (type === 'float8') return float8
      if (type === 'float4') return float4
      return type === 'numeric' ? numeric(type, undefined) : undefined
    case 'decimal':
      if (type in INTEGERS && attribute.scale === 0) return integer(type)
      return type in INTEGERS || type === 'numeric' || type === 'money' ? numeric(type, attribute.scale) : undefined
    case 'date':
      if (type === 'date') return day
      return type === 'timestamp' || type === 'timestamptz' ? moment(type) : undefined
    case 'duration':
      return type === 'time' || type === 'interval' ? duration(type) : type in INTEGERS ? integer(type) : undefined
    case 'uuid':
      return type === 'uuid' ? uuid : TEXTS.has(type) ? uuidText : undefined
    case 'string':
      return text(isEnum ? undefined : type)
    case 'object':
      return json(type)
    case 'vector':
      return /^(_float4|_float8|vector|_numeric)$/.test(type) ? vector : undefined
    case 'image':
    case 'blob':
      return type === 'bytea' ? presence : undefined
  }
}

const cannotCompare = (): never => {
  throw new Error('such values are not compared')
}

/** A form whose values are compared as they are stored. */
const plain = (type: string, parts: Pick<ColumnForm, 'read' | 'compare'> & Partial<ColumnForm>): ColumnForm => ({
  select: column => column!,
  sorted: column => column!,
  isText: false,
  identityType: type,
  write: value => String(value),
  ...parts,
})

const bool = plain('bool', {
  read: text => text === 't',
  compare: (column, comparator, value, param) => `${column}::int4 ${comparator} ${param(String(value), 'numeric')}`,
  write: value => (value === true ? 't' : 'f'),
})

/** Integers. An operand with a fraction, or one that the type cannot have, is replaced by an equivalent one. */
const integer = (type: string): ColumnForm => {
  const [least, most] = INTEGERS[type]!
  return plain('int8', {
    read: readNumber,
    ...(type === 'oid' && { select: column => `${column}::int8`, sorted: column => `${column}::int8` }),
    compare(own, comparator, value, param) {
      const column = type === 'oid' ? `${own}::int8` : own
      const { floor, isExact } = floorOf(value as NumericOperand)
      if (comparator === '=') {
        return isExact && floor >= least && floor <= most
          ? `${column} = ${param(String(floor), 'int8')}`
          : never(column)
      }
      const isLower = comparator === '>' || comparator === '>='
      // Between two integers, both forms of a comparison mean the same.
      const operator = isExact ? comparator : isLower ? '>' : '<='
      if (floor > most) return isLower ? never(column) : anyOf(column)
      if (floor < least) return isLower ? anyOf(column) : never(column)
      return `${column} ${operator} ${param(String(floor), 'int8')}`
    },
  })
}

const never = (column: string): string => `(${column} IS NULL AND NULL)`
const anyOf = (column: string): string => `(${column} IS NOT NULL OR NULL)`

function floorOf(value: NumericOperand): { floor: bigint; isExact: boolean } {
  if (value instanceof Between) return { floor: BigInt(value.floor), isExact: false }
  if (typeof value === 'bigint') return { floor: value, isExact: true }
  const floor = Math.floor(value)
  return { floor: BigInt(floor), isExact: floor === value }
}

const float8 = plain('float8', {
  read: readNumber,
  select: column => finite(column!),
  sorted: column => finite(column!),
  compare: (column, comparator, value, param) => compareFinite(column, comparator, param(String(value), 'float8')),
})

/** NaN and infinity are null: JSON has no such numbers. Their differences from themselves are NaN. */
const hasSize = (column: string): string => `${column} - ${column} = 0`
const finite = (column: string): string => `CASE WHEN ${hasSize(column)} THEN ${column} END`

/** An index of the column serves the first condition. */
const compareFinite = (column: string, comparator: Comparator, operand: string): string =>
  comparator === '=' ? `${column} = ${operand}` : `(${column} ${comparator} ${operand} AND ${hasSize(column)})`

/** A value is the shortest decimal of its float, which is not exactly that float. */
const float4 = plain('float4', {
  read: readNumber,
  select: column => finite(column!),
  sorted: column => finite(column!),
  summed: sorted => `(${sorted})::text::float8`,
  compare(column, comparator, value, param) {
    const float = Math.fround(Number(value))
    if (!Number.isFinite(float)) {
      const isLower = comparator === '>' || comparator === '>='
      return float > 0 === isLower || comparator === '=' ? never(column) : anyOf(column)
    }
    const shortest = shortestOf(float)
    const isExact = shortest === Number(value)
    if (comparator === '=' && !isExact) return never(column)
    const operand = param(String(shortest), 'float4')
    if (comparator === '=') return `${column} = ${operand}`
    const isLower = comparator === '>' || comparator === '>='
    const operator = isExact ? comparator : shortest > Number(value) ? (isLower ? '>=' : '<') : isLower ? '>' : '<='
    return compareFinite(column, operator, operand)
  },
})

/** The shortest decimal that is read as this float. */
function shortestOf(float: number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const decimal = Number(float.toPrecision(digits))
    if (Math.fround(decimal) === float) return decimal
  }
  return float
}

/** @param type of the column @param scale places of a decimal; undefined for a number of double precision */
const numeric = (type: string, scale: number | undefined): ColumnForm => {
  const own = (column: string): string => (type === 'numeric' ? column : `${column}::numeric`)
  return plain('numeric', {
    read: text => (scale === undefined ? readNumber(text) : readScaledText(text, scale)),
    select: column => finite(own(column!)),
    sorted: column => finite(own(column!)),
    compare(column, comparator, operand, param) {
      const value = operand as NumericOperand
      const isBetween = value instanceof Between
      const isLower = comparator === '>' || comparator === '>='
      if (isBetween && comparator === '=') return never(column)
      const operator = isBetween ? (isLower ? '>' : '<=') : comparator
      const text = scale === undefined ? String(value) : unscaled(isBetween ? value.floor : value, scale)
      return compareFinite(own(column), operator, param(text, 'numeric'))
    },
    write: value => (scale === undefined ? String(value) : unscaled(value as number, scale)),
  })
}

const wholeNumeric: ColumnForm = { ...numeric('numeric', 0), read: readWhole }

/** Decimal text of an integer in units of the last of `scale` places. */
function unscaled(value: number | bigint, scale: number): string {
  if (typeof value === 'number' && !Number.isInteger(value)) return `${value}e-${scale}`
  return `${BigInt(value)}e-${scale}`
}

const day = plain('date', {
  read: readDateTime,
  select: column => finiteTime(column!),
  sorted: column => finiteTime(column!),
  compare(column, comparator, value, param) {
    const ms = Number(value)
    const first = Math.floor(ms / DAY_MS) * DAY_MS
    if (first === ms) return compareTime(column, comparator, dayParam(ms, param))
    if (comparator === '=') return never(column)
    const isLower = comparator === '>' || comparator === '>='
    return compareTime(column, isLower ? '>' : '<=', dayParam(first, param))
  },
  write: value => momentText(value as number),
})

const finiteTime = (column: string): string => `CASE WHEN isfinite(${column}) THEN ${column} END`
/** An index of the column serves the first condition. */
const compareTime = (column: string, comparator: Comparator, operand: string): string =>
  comparator === '=' ? `${column} = ${operand}` : `(${column} ${comparator} ${operand} AND isfinite(${column}))`
const dayParam = (ms: number, param: Param): string => `(date '1970-01-01' + ${param(String(ms / DAY_MS), 'int4')})`

/** A time with microseconds, of which a value has the milliseconds. */
const moment = (type: 'timestamp' | 'timestamptz'): ColumnForm =>
  plain(type, {
    read: readDateTime,
    select: column => finiteTime(column!),
    sorted: column => `date_trunc('milliseconds', ${finiteTime(column!)})`,
    compare(column, comparator, value, param) {
      const at = (ms: number): string => momentOf(ms, type, param)
      const ms = Number(value)
      const isWhole = Number.isInteger(ms)
      const next = Math.floor(ms) + 1
      switch (comparator) {
        case '=':
          return isWhole ? `(${column} >= ${at(ms)} AND ${column} < ${at(next)})` : never(column)
        case '<':
          return compareTime(column, '<', at(Math.ceil(ms)))
        case '>=':
          return compareTime(column, '>=', at(Math.ceil(ms)))
        case '<=':
          return compareTime(column, '<', at(next))
        case '>':
          return compareTime(column, '>=', at(next))
      }
    },
    write: value => momentText(value as number),
  })

/** Least and greatest times of a database, in milliseconds. */
const FIRST_MS = -210_866_803_200_000
const LAST_MS = 8_640_000_000_000_000

/** A text, because a database adds numbers of milliseconds to a time with less precision. */
const momentOf = (ms: number, type: 'timestamp' | 'timestamptz', param: Param): string =>
  param(momentText(Math.min(LAST_MS, Math.max(FIRST_MS, ms))), type)

/** Time in UTC as a database reads it, with a year of any size. */
function momentText(ms: number): string {
  const date = new Date(ms)
  const year = date.getUTCFullYear()
  const digits = String(year > 0 ? year : 1 - year).padStart(4, '0')
  return `${digits}${date.toISOString().slice(-20, -1)}+00${year > 0 ? '' : ' BC'}`
}

const duration = (type: 'time' | 'interval'): ColumnForm => {
  const ms = (column: string): string => `floor(extract(epoch FROM ${column}) * 1000)`
  return plain(type, {
    read: type === 'time' ? readClock : readInterval,
    sorted: column => ms(column!),
    compare: (column, comparator, value, param) => `${ms(column)} ${comparator} ${param(String(value), 'numeric')}`,
    write: value => `${value as number} milliseconds`,
  })
}

const uuid = plain('uuid', {
  read: text => text.replaceAll('-', '').toUpperCase(),
  // In the form of a folded value, for patterns.
  sorted: column => `replace(${column}::text, '-', '')`,
  isText: true,
  compare: cannotCompare,
})

/** UUIDs that are stored as texts, with or without hyphens. */
const uuidText: ColumnForm = {
  ...uuid,
  select: column => `${column}::text`,
  sorted: column => `lower(replace(${column}::text, '-', '') COLLATE "C")`,
  identityType: undefined,
  write: value => String(value).toLowerCase(),
}

/** @param type undefined for an enumeration, whose values are compared as texts */
const text = (type: string | undefined): ColumnForm => {
  const asText =
    type === 'text' || type === 'varchar' ? (column?: string) => column! : (column?: string) => `${column}::text`
  return {
    select: column => asText(column),
    read: text => text,
    sorted: column => asText(column),
    isText: true,
    compare: cannotCompare,
    identityType: type === 'text' || type === 'varchar' ? 'text' : type === 'bpchar' ? 'bpchar' : undefined,
    write: value => String(value),
  }
}

/** Parts of a key between tildes; a tilde or a backslash inside of one has a backslash in front. */
const composite: ColumnForm = {
  select: (...columns) => columns.map(part).join(` || '~' || `),
  read: text => text,
  sorted: (...columns) => columns.map(part).join(` || '~' || `),
  isText: true,
  compare: cannotCompare,
  identityType: undefined,
  write: value => String(value),
}

const part = (column: string): string => `regexp_replace(${column}::text COLLATE "C", '([~\\\\])', '\\\\\\1', 'g')`

const json = (type: string): ColumnForm => {
  const asJson =
    type === 'jsonb'
      ? (column?: string) => column!
      : type === 'json'
        ? (column?: string) => `${column}::jsonb`
        : type === 'hstore'
          ? (column?: string) => `hstore_to_jsonb(${column})`
          : (column?: string) => `to_jsonb(${column})`
  return {
    select: column => asJson(column),
    read: readJson,
    sorted: column => asJson(column),
    isText: false,
    compare: cannotCompare,
    identityType: undefined,
    write: value => JSON.stringify(value),
  }
}

function readJson(text: string): Value {
  const value = JSON.parse(text) as Value
  if (typeof value === 'object') return value
  throw new Error('it is neither an object nor an array')
}

const vector: ColumnForm = {
  select: column => `to_json(${column}::float4[])`,
  read: text => JSON.parse(text) as number[],
  sorted: cannotCompare,
  isText: false,
  compare: cannotCompare,
  identityType: undefined,
  write: value => JSON.stringify(value),
}

/** Bytes are read by themselves: a row says only whether there are any. */
const presence: ColumnForm = {
  select: column => `CASE WHEN ${column} IS NOT NULL THEN true END`,
  read: () => true,
  sorted: column => `CASE WHEN ${column} IS NOT NULL THEN true END`,
  isText: false,
  compare: cannotCompare,
  identityType: undefined,
  write: cannotCompare,
}
