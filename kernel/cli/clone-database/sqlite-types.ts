import { blob, brief, clock, date, json, number, text } from './cells.ts'
import type { Cell, ReadCell, SourceType } from './source.ts'

/** Types of milliseconds, as `tesser export` declares them. Numbers in other time columns could have any unit. */
const MILLISECONDS = /^TIME_MS/

/** Types by words in the declared type, of which the first match is used; SQLite itself requires none of these words. */
const TYPES: readonly (readonly [RegExp, string, object?])[] = [
  [/BOOL/, 'bool'],
  [/UUID|GUID/, 'uuid'],
  [/JSON/, 'object'],
  [/DATETIME|TIMESTAMP/, 'date'],
  [/^DATE/, 'date', { simpleDate: true }],
  [MILLISECONDS, 'duration'],
  [/^TIME/, 'duration'],
  [/INT(?!ERVAL)/, 'long64'],
  [/REAL|FLOA|DOUB|NUM|DEC/, 'number'],
  [/BLOB|BINARY/, 'blob'],
]

/** Types with numbers, as `tesser export` declares them: strings that keep all digits. */
const DECIMAL_TEXT = /^DECIMAL_TEXT\(\d+, ?(\d+)\)$/
const VECTOR_TEXT = /^VECTOR_TEXT\((\d+)\)$/

/** Type of a column. Its values may have any storage class: each is read according to its own class, for the type of the attribute. */
export function sqliteType(declaredType: string): SourceType {
  const scale = DECIMAL_TEXT.exec(declaredType)?.[1]
  if (scale !== undefined) return { attribute: { type: 'decimal', scale: Number(scale) }, cell }
  const dimension = VECTOR_TEXT.exec(declaredType)?.[1]
  if (dimension !== undefined) return { attribute: { type: 'vector', dimension: Number(dimension) }, cell }
  const entry = TYPES.find(([words]) => words.test(declaredType.toUpperCase()))
  const isClock = entry?.[1] === 'duration' && entry[0] !== MILLISECONDS
  const type = { attribute: { type: entry?.[1] ?? 'string', ...entry?.[2] }, cell: isClock ? clockCell : cell }
  return type.attribute.type === 'date' && entry?.[2] ? { ...type, measure: timeIn(type) } : type
}

const DAY_AND_TIME = `${'[0-9]'.repeat(4)}-[0-9][0-9]-[0-9][0-9][ Tt][0-9]*`

/** Type of a column of dates: a date with time if any value has a time other than midnight in UTC. */
const timeIn = (withoutTime: SourceType): SourceType['measure'] => ({
  aggregates: quotedName => [
    `max(typeof(${quotedName}) = 'text' AND ${quotedName} GLOB '${DAY_AND_TIME}' AND trim(substr(${quotedName}, 11), ' TtZz:.0+-') <> '')`,
  ],
  decide: ([hasTime]) =>
    Number(hasTime ?? 0) === 0
      ? withoutTime
      : { attribute: { type: 'date' }, cell, note: 'has values with a time: it is a date with time' },
})

const CELLS: Readonly<Record<string, (type: string) => ReadCell>> = {
  date,
  duration: clock,
  object: json,
  vector: json,
}

function cell(type: string): ReadCell {
  const ofText = CELLS[type]?.(type) ?? text
  return value => {
    if (typeof value === 'string')
      return isNumeric(type) && !isExact(type, value)
        ? aNumber(value)
        : type === 'bool'
          ? aBool(value)
          : ofBytes(type, 'text', value, ofText)
    if (value instanceof Uint8Array) return type === 'blob' || type === 'image' ? blob(value) : aBlob(type, value)
    if (type === 'blob' || type === 'image') throw new Error(`${value} is a number, not bytes`)
    if (type === 'bool') return aBool(String(value))
    if (type === 'number' || type === 'float') return exactDouble(value)
    if (type === 'date') throw new Error(`${value} is a number, not the text of a date`)
    if (type === 'object') return json(type)(String(value))
    return type === 'string' || type === 'uuid' ? text(value) : number(type)(value)
  }
}

function clockCell(type: string): ReadCell {
  const read = cell(type)
  return value => {
    if (type !== 'duration' || typeof value === 'string' || value instanceof Uint8Array) return read(value)
    throw new Error(`${value} is a number, not the text of a time; a "number" in the model keeps it`)
  }
}

/** True for a decimal as a string, which keeps its digits. */
const isExact = (type: string, value: string): boolean => type === 'decimal' && /^-?\d+(?:\.\d+)?$/.test(value)

const isNumeric = (type: string): boolean => /^(byte|word|long|long64|number|float|decimal)$/.test(type)

function aNumber(value: string): string {
  throw new Error(`${brief(value)} is text, not a number`)
}

function aBool(value: string): string {
  if (/^(1|true|t)$/i.test(value)) return 'true'
  if (/^(0|false|f)$/i.test(value)) return 'false'
  throw new Error(`${brief(value)} is neither true nor false`)
}

/** Reads a number; an integer that a double would round is refused, not rounded. */
function exactDouble(value: Exclude<Cell, null>): string {
  if (typeof value === 'bigint' && BigInt(Number(value)) !== value)
    throw new Error(`${value} has more digits than a number of double precision`)
  return number('number')(value)
}

function ofBytes(type: string, what: string, value: string, read: ReadCell): string {
  if (type === 'blob' || type === 'image') throw new Error(`${brief(value)} is a ${what}, not bytes`)
  return read(value)
}

function aBlob(type: string, value: Uint8Array): string {
  if (type === 'uuid' && value.length === 16) return JSON.stringify(Buffer.from(value).toString('hex'))
  throw new Error(`bytes (${value.length} of them) are not a ${type}`)
}
