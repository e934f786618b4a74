import type { StorageAttribute } from '../../catalog/attribute.ts'
import { Between, type NumericOperand } from '../../catalog/types/operand.ts'
import type { BinaryValue, Value } from '../../catalog/value.ts'
import type { Scalar } from '../../query/bind/predicate.ts'
import { quoteName } from '../quote.ts'
import type { RemoteColumn } from '../remote-table.ts'
import { readClock, readDateTime, readInteger, readInterval, readNumber, readScaledText } from './read-text.ts'

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
  /** SQL that compares the column with an operand; not for texts. Null for null. */
  compare(column: string, comparator: Comparator, value: Scalar, param: Param): string
  /** Type of parameters that are compared with the column as it is: keys and foreign keys. Undefined: {@link sorted} is compared, as text. */
  readonly identityType: string | undefined
  /** Text of a value for such a parameter. */
  write(value: Value): string
  /** Value, which is not null, as the JSON that `json_to_record` converts to the type of the column. */
  json(value: Value): unknown
  /** Set if the value is sent as a text, which SQL converts. @param sent SQL of the text, or of null */
  convert?(sent: string): string
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

function formOf(attribute: StorageAttribute, { type, modifier, isEnum }: RemoteColumn): ColumnForm | undefined {
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
      return type === 'timestamp' || type === 'timestamptz' ? moment(type, attribute.simpleDate === true) : undefined
    case 'duration':
      return type === 'time' || type === 'interval' ? duration(type) : type in INTEGERS ? integer(type) : undefined
    case 'uuid':
      return type === 'uuid' ? uuid : TEXTS.has(type) ? uuidText(modifier) : undefined
    case 'string':
      return text(isEnum ? undefined : type)
    case 'object':
      return json(type)
    case 'vector':
      return /^(_float4|_float8|vector|_numeric)$/.test(type) ? vector(type, attribute.vector?.dimension) : undefined
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
  json: value => (parts.write ?? String)(value),
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
  compare(column, comparator, value, param) {
    const float = Math.fround(Number(value))
    if (!Number.isFinite(float)) {
      const isLower = comparator === '>' || comparator === '>='
      return float > 0 === isLower || comparator === '=' ? never(column) : anyOf(column)
    }
    const shortest = shortestOf(float)
    const isExact = shortest === Number(value)
    const operand = param(String(shortest), 'float4')
    if (comparator === '=') return isExact ? `${column} = ${operand}` : never(column)
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

/** Integers of 64 bits in a column of more digits. */
const wholeNumeric: ColumnForm = { ...numeric('numeric', 0), read: readInteger }

/** Decimal text of an integer in units of the last of `scale` places. */
function unscaled(value: number | bigint, scale: number): string {
  if (typeof value === 'number' && !Number.isInteger(value)) return `${value}e-${scale}`
  const digits = String(value < 0 ? -value : value).padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${value < 0 ? '-' : ''}${digits.slice(0, point)}${scale > 0 ? `.${digits.slice(point)}` : ''}`
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
  write: value => timeText(value as number, 'date'),
})

const finiteTime = (column: string): string => `CASE WHEN isfinite(${column}) THEN ${column} END`
/** An index of the column serves the first condition. */
const compareTime = (column: string, comparator: Comparator, operand: string): string =>
  comparator === '=' ? `${column} = ${operand}` : `(${column} ${comparator} ${operand} AND isfinite(${column}))`
const dayParam = (ms: number, param: Param): string => param(timeText(ms, 'date'), 'date')

/** A time with microseconds, of which a value has the milliseconds or the day. */
function moment(type: 'timestamp' | 'timestamptz', isDay: boolean): ColumnForm {
  const unit = isDay ? DAY_MS : 1
  const floor = (ms: number): number => Math.floor(ms / unit) * unit
  const ceil = (ms: number): number => Math.ceil(ms / unit) * unit
  return plain(type, {
    read: text => floor(readDateTime(text)),
    select: column => finiteTime(column!),
    sorted: column => `date_trunc('${isDay ? 'day' : 'milliseconds'}', ${finiteTime(column!)})`,
    compare(column, comparator, value, param) {
      const at = (ms: number): string => momentOf(ms, type, param)
      const ms = Number(value)
      const next = floor(ms) + unit
      switch (comparator) {
        case '=':
          return floor(ms) === ms ? `(${column} >= ${at(ms)} AND ${column} < ${at(next)})` : never(column)
        case '<':
          return compareTime(column, '<', at(ceil(ms)))
        case '>=':
          return compareTime(column, '>=', at(ceil(ms)))
        case '<=':
          return compareTime(column, '<', at(next))
        case '>':
          return compareTime(column, '>=', at(next))
      }
    },
    write: value => timeText(value as number, type),
  })
}

/** Least time of a database, in milliseconds; the greatest one is beyond those of JavaScript. */
const FIRST_MS = -210_866_803_200_000

type TimeType = 'date' | 'timestamp' | 'timestamptz'

const momentOf = (ms: number, type: TimeType, param: Param): string => param(timeText(ms, type), type)

/** Text of a time as the database reads it: years have at least four digits, and those before 1 are counted from there. */
function timeText(ms: number, type: TimeType): string {
  const date = new Date(Math.min(LAST_MS, Math.max(FIRST_MS, ms)))
  const year = date.getUTCFullYear()
  const rest = date.toISOString().slice(-20)
  const end = type === 'date' ? 6 : type === 'timestamp' ? -1 : undefined
  return `${String(year > 0 ? year : 1 - year).padStart(4, '0')}${rest.slice(0, end)}${year > 0 ? '' : ' BC'}`
}

const LAST_MS = 8_640_000_000_000_000

const duration = (type: 'time' | 'interval'): ColumnForm => {
  const ms = (column: string): string => `floor(extract(epoch FROM ${column}) * 1000)`
  return plain(type, {
    read: type === 'time' ? readClock : readInterval,
    sorted: column => ms(column!),
    compare: (column, comparator, value, param) => `${ms(column)} ${comparator} ${param(String(value), 'numeric')}`,
    write: value => (type === 'time' ? clockText(value as number) : `${value as number} milliseconds`),
  })
}

/** A time beyond those of a day, which the database refuses, has the hours of others. */
const clockText = (ms: number): string =>
  `${String(Math.floor(ms / 3_600_000)).padStart(2, '0')}${new Date(ms).toISOString().slice(13, 23)}`

const uuid = plain('uuid', {
  read: text => text.replaceAll('-', '').toUpperCase(),
  // In the form of a folded value, for patterns.
  sorted: column => `replace(${column}::text, '-', '')`,
  isText: true,
  compare: cannotCompare,
})

/** A UUID in a text, in whatever form. @param modifier of its column, which has the maximum length */
function uuidText(modifier: number): ColumnForm {
  const isShort = modifier > 0 && modifier < VARIABLE_HEADER + 36
  const sorted = (column?: string): string => `upper(replace(${column}::text, '-', ''))`
  return {
    ...uuid,
    select: sorted,
    sorted,
    read(text) {
      if (!/^[\dA-F]{32}$/.test(text)) throw new Error('it is not a UUID')
      return text
    },
    identityType: undefined,
    write: String,
    json: value =>
      isShort
        ? value
        : String(value)
            .toLowerCase()
            .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
  }
}

/** Part of the modifier of a text that is not its length. */
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
    compare: cannotCompare,
    identityType: type === 'text' || type === 'varchar' ? 'text' : type === 'bpchar' ? 'bpchar' : undefined,
    write: value => String(value),
    json: value => value,
    ...(type !== undefined && /^jsonb?$/.test(type) && { convert: (sent: string) => `${sent}::${type}` }),
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
  json: cannotCompare,
}

const part = (column: string): string => `regexp_replace(${column}::text, '([~\\\\])', '\\\\\\1', 'g')`

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
    // The null of JSON is null, too.
    sorted: column => `nullif(${asJson(column)}, 'null')`,
    isText: false,
    compare: cannotCompare,
    identityType: undefined,
    write: value => JSON.stringify(value),
    json: value => (type === 'hstore' ? JSON.stringify(value) : value),
    ...(type === 'hstore' && { convert: hstoreOf }),
  }
}

const hstoreOf = (sent: string): string =>
  `CASE WHEN ${sent} IS NOT NULL THEN coalesce((SELECT hstore(array_agg(key), array_agg(value)) FROM json_each_text(${sent}::json)), '') END`

function readJson(text: string): Value {
  const value = JSON.parse(text) as Value
  if (typeof value === 'object') return value
  throw new Error('it is neither an object nor an array')
}

const vector = (type: string, dimension: number | undefined): ColumnForm => ({
  select: column => `to_json(${column}::float4[])`,
  read(text) {
    const numbers = JSON.parse(text) as number[]
    if (numbers.length === dimension && numbers.every(each => typeof each === 'number')) return numbers
    throw new Error(`it does not have ${dimension} numbers`)
  },
  sorted: cannotCompare,
  isText: false,
  compare: cannotCompare,
  identityType: undefined,
  write: value => JSON.stringify(value),
  json: value => (type === 'vector' ? JSON.stringify(value) : value),
})

/** Bytes are read by themselves: a row says only whether there are any. */
const presence: ColumnForm = {
  select: column => `CASE WHEN ${column} IS NOT NULL THEN true END`,
  read: () => true,
  sorted: column => `(${column} IS NOT NULL)`,
  isText: false,
  compare: cannotCompare,
  identityType: undefined,
  write: cannotCompare,
  json: value => `\\x${Buffer.from((value as BinaryValue).bytes).toString('hex')}`,
}
