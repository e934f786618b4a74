import { isSameNumber } from '../../../engine/base/decimal-digits.ts'
import { parseClock } from '../../../engine/base/time/read-clock.ts'
import { parseDate } from '../../../engine/base/time/read-date.ts'
import type { AttributeProposal, Cell, ReadCell, SourceType } from './source.ts'

/** A type of a column. @param attribute name of a type, or with its limits */
export const columnType = (
  attribute: AttributeProposal | string,
  cell: SourceType['cell'],
  more: Partial<SourceType> = {},
): SourceType => ({ attribute: typeof attribute === 'string' ? { type: attribute } : attribute, cell, ...more })

/** Readers of values: values of databases become the JSON that a save accepts. Numbers become strings, which keep all digits. */

/** Maximum bytes of a value: its JSON is a third longer, and all of it is in memory at the same time. */
export const MAX_BLOB_BYTES = 128 * 2 ** 20

export const text: ReadCell = value => JSON.stringify(String(value))

/** Reads JSON unchanged. An attribute of a type other than `object` gets it as a string. */
export const json = (type: string): ReadCell => (type === 'object' || type === 'vector' ? readJson : text)

const readJson: ReadCell = value => {
  const content = String(value)
  try {
    const jsonValue: unknown = JSON.parse(content)
    if (typeof jsonValue === 'object') return jsonValue === null ? 'null' : content
  } catch {
    throw new Error(`${brief(content)} is not JSON`)
  }
  throw new Error(`${brief(content)} is JSON, but not an object or an array`)
}

/** A finite number, with all its digits. */
export const number = (type: string): ReadCell => (type === 'string' ? text : readNumber)

const readNumber: ReadCell = value => {
  const content = String(value)
  if (/^-?inf|^nan/i.test(content)) throw new Error(`${content} is not a finite number`)
  return JSON.stringify(content)
}

export const blob: ReadCell = value => {
  const bytes = value as Uint8Array
  if (bytes.length > MAX_BLOB_BYTES) throw tooLong(bytes.length)
  return dataUrl(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'))
}

export const dataUrl = (base64: string): string => `"data:application/octet-stream;base64,${base64}"`

export const tooLong = (bytes: number | string): Error =>
  new Error(`a value of ${bytes} bytes; at most ${MAX_BLOB_BYTES} are copied`)

/**
 * Reads a date, with or without a time. Without an offset it is read as UTC.
 * @param type type of the attribute
 */
export const date = (type: string): ReadCell => {
  if (type !== 'date') return text
  return value => {
    const ms = parseDate(String(value))
    if (ms === undefined) throw new Error(`${brief(value)} is not a date that can be stored`)
    return `"${new Date(ms).toISOString()}"`
  }
}

/** Reads a date for an attribute without time; refuses a date with a time, which would be lost. @param read result of {@link date} */
export const dayOf =
  (read: ReadCell): ReadCell =>
  value => {
    const json = read(value)
    if (json.endsWith('T00:00:00.000Z"')) return json
    throw new Error(`${brief(value)} has a time, in UTC, which an attribute with simpleDate does not have`)
  }

/** Reads a time of day, or a duration in milliseconds. */
export const clock = (type: string): ReadCell => {
  if (type !== 'duration') return text
  return value => {
    const content = String(value)
    const ms = parseClock(content)
    if (ms === undefined) throw new Error(`${brief(content)} is not a time`)
    return String(ms)
  }
}

/** Part of a column's values that an attribute cannot hold. */
interface Loss {
  /** Name of the lost part in a sentence. */
  readonly what: string
  /** True for a value that loses something. */
  has(value: Exclude<Cell, null>): boolean
}

const MICROSECONDS = /:\d\d[.,]\d{3}\d*[1-9]/
/** Maximum length of numbers that are certain to be different doubles. */
const EXACT_CHARACTERS = 15

const LOSSES: Readonly<Record<string, Loss>> = {
  date: { what: 'digits after the milliseconds', has: value => MICROSECONDS.test(String(value)) },
  number: {
    what: 'digits that a double does not have',
    has: value =>
      typeof value === 'string' && value.length > EXACT_CHARACTERS && !isSameNumber(value, String(Number(value))),
  },
}

/** Finds what values of a column can lose in an attribute of a type. */
export const lossOf = (type: string | undefined): Loss | undefined =>
  LOSSES[type === 'duration' ? 'date' : type === 'float' ? 'number' : (type ?? '')]

/**
 * Reads a value that identifies an entity. Refuses a value that would lose something, since it could become equal to another entity's
 * value.
 */
export const refuseLoss =
  (read: ReadCell, { what, has }: Loss): ReadCell =>
  value => {
    if (!has(value)) return read(value)
    throw new Error(`${brief(value)} has ${what}, which a key cannot lose; a "string" in the model keeps them`)
  }

/** The beginning of a value, in quotes, for messages. */
export function brief(value: Cell | string): string {
  const content = String(value)
  return JSON.stringify(content.length > 60 ? `${content.slice(0, 60)}…` : content)
}
