import { isUtf8 } from 'node:buffer'
import { isJsonObject } from '../base/json-object.ts'
import { clockText } from '../base/time/write-clock.ts'
import { parseExact } from '../base/exact-json.ts'
import type { StorageModel } from '../catalog/model-schema.ts'

/** A column in the schema of a Parquet file, as hyparquet returns it. */
export interface SchemaColumn {
  readonly element: {
    readonly name: string
    readonly type?: string
    converted_type?: string
    logical_type?: {
      readonly type: string
      readonly unit?: string
      readonly bitWidth?: number
      readonly isSigned?: boolean
    }
    readonly scale?: number
    readonly precision?: number
    readonly repetition_type?: string
  }
  readonly children: readonly SchemaColumn[]
}

type Element = SchemaColumn['element']

/** Type of an attribute for a column, and how its cells are read. */
export interface Kind {
  readonly type: StorageModel
  /** The value of a cell that is not null, see `TableRow`. @throws {Error} if it does not match the schema */
  read(cell: unknown): unknown
  /** The value inside an object, where it differs because no type says what a number means. */
  readInObject?(cell: unknown): unknown
}

/**
 * Kind of a column. Values keep all their digits: hyparquet would round decimals, and truncate times and long integers. Source: Parquet
 * format, LogicalTypes.md.
 */
export function kindOf(column: SchemaColumn): Kind {
  const { element } = column
  const isNested = column.children.length > 0 || element.repetition_type === 'REPEATED'
  if (isNested) return { type: { type: 'object' }, read: nestedReader(column) }
  return leafKind(element)
}

/** Maximum number of decimal places of a decimal attribute. */
const MAX_SCALE = 18

/** Annotations that hyparquet already reads in the required form. */
const LEFT: readonly string[] = ['LIST', 'MAP', 'MAP_KEY_VALUE', 'UUID', 'FLOAT16', 'VARIANT', 'GEOMETRY', 'GEOGRAPHY']

/** Has hyparquet return the values of a column as they are stored. */
export function readAsStored({ element, children }: SchemaColumn): void {
  const name = nameOf(element)
  if (name === 'VARIANT') return
  if (!LEFT.includes(name)) {
    delete element.converted_type
    delete element.logical_type
  } else if (name === 'LIST' || name === 'MAP') element.converted_type = name
  for (const child of children) readAsStored(child)
}

const nameOf = ({ logical_type: logical, converted_type: convertedType = '' }: Element): string =>
  logical?.type ?? convertedType

const plainKind = (type: StorageModel['type'], read: Kind['read'] = cell => cell): Kind => ({ type: { type }, read })

function leafKind(element: Element): Kind {
  const { type, logical_type: logical, scale = 0 } = element
  const name = nameOf(element)
  const perMs = perMillisecond(name, logical?.unit, type)
  switch (/^[A-Z]+/.exec(name)?.[0]) {
    case 'DECIMAL':
      return {
        type: scale > MAX_SCALE ? { type: 'string' } : { type: 'decimal', scale },
        read: cell => decimalText(cell, scale),
      }
    case 'DATE':
      return { type: { type: 'date', simpleDate: true }, read: dayOf }
    case 'TIME':
      return { ...plainKind('duration', cell => timeOf(cell, perMs)), readInObject: cell => timeText(cell, perMs) }
    case 'TIMESTAMP':
      return plainKind('date', cell => momentOf(cell as bigint, perMs))
    case 'JSON':
      return plainKind('object', cell => jsonOf(textOf(cell)))
    case 'UUID':
      return plainKind('uuid')
    case 'INTERVAL':
      return plainKind('string', intervalOf)
    case 'UTF':
    case 'STRING':
    case 'ENUM':
      return plainKind('string', textOf)
    case 'FLOAT':
      return plainKind('number', numberOf)
    case 'GEOMETRY':
    case 'GEOGRAPHY':
      return plainKind('object')
    case 'BSON':
      return plainKind('blob')
    case 'UINT':
    case 'INTEGER':
      return integerKind(element)
  }
  switch (type) {
    case 'BOOLEAN':
      return plainKind('bool')
    case 'INT32':
      return plainKind('long')
    case 'INT64':
      return plainKind('long64')
    case 'INT96':
      return plainKind('date')
    case 'FLOAT':
    case 'DOUBLE':
      return plainKind('number', numberOf)
    default:
      return plainKind('blob')
  }
}

function integerKind({ type, converted_type: convertedType = '', logical_type: logical }: Element): Kind {
  const isSigned = logical?.type === 'INTEGER' ? logical.isSigned !== false : !convertedType.startsWith('UINT')
  const bits = logical?.bitWidth ?? Number(/\d+/.exec(convertedType)?.[0] ?? 32)
  if (type === 'INT64') return plainKind('long64', isSigned ? cell => cell : cell => BigInt.asUintN(64, cell as bigint))
  return bits < 32 || isSigned ? plainKind('long') : plainKind('long64', cell => (cell as number) >>> 0)
}

type Read = (cell: unknown) => unknown

/** Reads values inside a list, a map or a structure as JSON. Map keys of other types become their texts. */
function nestedReader(column: SchemaColumn): Read {
  const read = column.element.repetition_type === 'REPEATED' ? listReader(itemReader(column)) : itemReader(column)
  return cell => (cell === null || cell === undefined ? null : read(cell))
}

const listReader =
  (read: Read): Read =>
  cell =>
    Array.from(cell as ArrayLike<unknown>, each => (each === null || each === undefined ? null : read(each)))

/** Reads one value of a column that may have several. */
function itemReader({ element, children }: SchemaColumn): Read {
  const name = nameOf(element)
  const [child] = children
  if (name === 'VARIANT') return inJson
  // The repeated element of a list is either its item or contains it.
  if (name === 'LIST' && child && child.children.length < 2)
    return listReader(child.children.length === 0 ? itemReader(child) : nestedReader(child.children[0]!))
  if (name === 'MAP' && child?.children.length === 2) {
    const key = keyReader(child.children[0]!)
    const value = nestedReader(child.children[1]!)
    return cell => Object.fromEntries(Object.entries(cell as object).map(([name, each]) => [key(name), value(each)]))
  }
  if (children.length === 0) {
    const { type, read, readInObject = read } = leafKind(element)
    return type.type === 'decimal' ? cell => Object(read(cell)) : cell => inJson(readInObject(cell))
  }
  const members = children.map(each => [each.element.name, nestedReader(each)] as const)
  return cell =>
    Object.fromEntries(members.map(([name, read]) => [name, read((cell as Record<string, unknown>)[name])]))
}

/** Reads keys of maps, which hyparquet has converted to property names. */
function keyReader({ element }: SchemaColumn): (name: string) => string {
  const { read, readInObject = read } = leafKind(element)
  const decode = STORED[nameOf(element) === 'UUID' ? 'UUID' : (element.type ?? '')] ?? bytesOf
  return name => {
    const key = readInObject(decode(name))
    return key instanceof Uint8Array ? Buffer.from(key).toString('base64') : String(key)
  }
}

const asIs = (name: string): unknown => name
const bytesOf = (name: string): unknown => Uint8Array.from(name === '' ? [] : name.split(','), Number)
const STORED: Readonly<Record<string, (name: string) => unknown>> = {
  BOOLEAN: asIs,
  INT32: Number,
  INT64: BigInt,
  INT96: asIs,
  FLOAT: Number,
  DOUBLE: Number,
  UUID: asIs,
}

/** Converts a value to JSON. Numbers that JSON cannot represent become strings, bytes are written in base64. */
function inJson(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(inJson)
  if (!isJsonObject(value)) return value ?? null
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inJson(each)]))
}

/** Decodes the bytes of a text. @throws {Error} if they are not UTF-8 */
function textOf(cell: unknown): string {
  const bytes = cell as Uint8Array
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  // A valid text may contain this character.
  if (text.includes('\uFFFD') && !isUtf8(bytes)) throw new Error('it has bytes that are not UTF-8')
  return text
}

/** Parses an object or an array; returns other JSON as its text. */
function jsonOf(text: string): unknown {
  try {
    const value = parseExact(text, 'numbers')
    return isJsonObject(value) || Array.isArray(value) ? value : text
  } catch {
    return text
  }
}

/** Converts NaN to null, because some programs use NaN for null. */
const numberOf = (cell: unknown): unknown => (Number.isNaN(cell) ? null : cell)

/** All digits of a decimal, which the file stores as an integer in units of its last place. */
function decimalText(cell: unknown, scale: number): string {
  const units = cell instanceof Uint8Array ? signedInteger(cell) : BigInt(cell as number | bigint)
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${units < 0n ? '-' : ''}${digits.slice(0, point)}${scale > 0 ? `.${digits.slice(point)}` : ''}`
}

/** An integer in two's complement, the highest byte first. */
const signedInteger = (bytes: Uint8Array): bigint =>
  bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`))

const UNITS: Readonly<Record<string, bigint>> = { MILLIS: 1n, MICROS: 1000n, NANOS: 1_000_000n }

/** Number of units of a time in a millisecond. */
const perMillisecond = (name: string, unit: string | undefined, type: string | undefined): bigint =>
  UNITS[unit ?? name.split('_')[1] ?? ''] ?? (type === 'INT32' ? 1n : 1000n)

/** Parsers for hyparquet, which calls this one with every INT96. */
export const parsers = { timestampFromNanoseconds: (nanos: bigint): string => momentOf(nanos, UNITS.NANOS!) }

/** ISO text of a moment, with all its digits. */
function momentOf(units: bigint, perMs: bigint): string {
  const remainder = perMs === 1n ? 0n : ((units % perMs) + perMs) % perMs
  const ms = Number(perMs === 1n ? units : (units - remainder) / perMs)
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) return `${ms} milliseconds since 1970`
  const iso = date.toISOString()
  const places = String(perMs).length - 1
  return remainder === 0n ? iso : `${iso.slice(0, -1)}${String(remainder).padStart(places, '0')}Z`
}

/** A time of day as text, or in milliseconds if it has smaller fractions, which a duration keeps. */
const timeOf = (cell: unknown, perMs: bigint): string | number =>
  BigInt(cell as number) % perMs === 0n ? timeText(cell, perMs) : Number(cell) / Number(perMs)

/** Text of a time of day, with all its digits. */
function timeText(cell: unknown, perMs: bigint): string {
  const units = BigInt(cell as number)
  const remainder = units % perMs
  const text = clockText(Number(units / perMs))
  if (remainder === 0n) return text
  return `${text.includes('.') ? text : `${text}.000`}${String(remainder).padStart(String(perMs).length - 1, '0')}`
}

function dayOf(cell: unknown): string {
  const date = new Date((cell as number) * 86_400_000)
  return Number.isNaN(date.getTime()) ? `${cell} days since 1970` : date.toISOString().split('T')[0]!
}

/** ISO 8601 text of three numbers that cannot be added up: months, days and milliseconds. */
function intervalOf(cell: unknown): string {
  const bytes = cell as Uint8Array
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [months, days, ms] = [0, 4, 8].map(at => view.getUint32(at, true)) as [number, number, number]
  const time = ms > 0 || months + days === 0 ? `T${ms / 1000}S` : ''
  return `P${months > 0 ? `${months}M` : ''}${days > 0 ? `${days}D` : ''}${time}`
}
