import type { Cell, ReadCell } from './source.ts'

/** Readers of values: texts of databases become the JSON that a save takes. Numbers become texts, which keep all digits. */

/** Bytes of a value: its JSON is a third longer, and all of it is in memory at once. */
export const MAX_BLOB_BYTES = 128 * 2 ** 20

export const text: ReadCell = value => JSON.stringify(String(value))

/** JSON as it is written. An attribute of another type than `object` gets it as a text. */
export const json = (type: string): ReadCell => (type === 'object' || type === 'vector' ? readJson : text)

const readJson: ReadCell = value => {
  const found = String(value)
  try {
    const parsed: unknown = JSON.parse(found)
    if (typeof parsed === 'object') return parsed === null ? 'null' : found
  } catch {
    throw new Error(`${brief(found)} is not JSON`)
  }
  throw new Error(`${brief(found)} is JSON, but not an object or an array`)
}

/** A finite number, with all its digits. */
export const number = (type: string): ReadCell => (type === 'string' ? text : readNumber)

const readNumber: ReadCell = value => {
  const found = String(value)
  if (/^-?inf|^nan/i.test(found)) throw new Error(`${found} is not a finite number`)
  return JSON.stringify(found)
}

export const blob: ReadCell = value => {
  const bytes = value as Uint8Array
  if (bytes.length > MAX_BLOB_BYTES) throw tooLong(bytes.length)
  return dataUrl(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'))
}

export const dataUrl = (base64: string): string => `"data:application/octet-stream;base64,${base64}"`

export const tooLong = (bytes: number | string): Error =>
  new Error(`a value of ${bytes} bytes; at most ${MAX_BLOB_BYTES} are copied`)

const DATE =
  /^(\d{4,}|[+-]\d{6})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?\s*(?:(Z)|([+-]\d\d)(?::?(\d\d))?(?::?(\d\d))?)?)?( BC)?$/i
const MINUTE_MS = 60_000

/**
 * A date, with or without a time. Without a zone it counts as UTC. Digits after the milliseconds are dropped.
 * @param type of the attribute
 */
export const date = (type: string): ReadCell => {
  if (type !== 'date') return text
  return value => {
    const found = String(value)
    const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', , zone, zoneMinute, , era] =
      DATE.exec(found) ?? []
    if (year === undefined) throw new Error(`${brief(found)} is not a date`)
    const iso = `${yearOf(era ? 1 - Number(year) : Number(year))}-${month}-${day}`
    const midnight = new Date(`${iso}T00:00:00Z`)
    // JavaScript reads 30 February as 1 March.
    if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, -14) !== iso)
      throw new Error(`${brief(found)} is not a date that can be stored`)
    if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59)
      throw new Error(`${brief(found)} has a time that does not exist`)
    const ms = fraction.slice(0, 3).padEnd(3, '0')
    const moment = `${iso}T${hour}:${minute}:${second}.${ms}Z`
    if (!zone || (Number(zone) === 0 && !Number(zoneMinute ?? 0))) return `"${moment}"`
    const offset = (Number(zone) * 60 + Number(`${zone[0]}${zoneMinute ?? 0}`)) * MINUTE_MS
    return `"${new Date(Date.parse(moment) - offset).toISOString()}"`
  }
}

/** A date for an attribute without time, which would lose the time. @param read as of {@link date} */
export const dayOf =
  (read: ReadCell): ReadCell =>
  value => {
    const json = read(value)
    if (json.endsWith('T00:00:00.000Z"')) return json
    throw new Error(`${brief(value)} has a time, in UTC, which an attribute with simpleDate does not have`)
  }

const yearOf = (year: number): string =>
  year >= 0 && year <= 9999
    ? String(year).padStart(4, '0')
    : `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`

const CLOCK = /^(-?)(\d+):(\d\d)(?::(\d\d)(?:\.(\d+))?)?$/

/** A time of day, or a time that has passed: milliseconds. */
export const clock = (type: string): ReadCell => {
  if (type !== 'duration') return text
  return value => {
    const found = String(value)
    const ms = clockMs(found)
    if (ms === undefined) throw new Error(`${brief(found)} is not a time`)
    return String(ms)
  }
}

export function clockMs(found: string): number | undefined {
  const [, sign, hours, minutes, seconds = '0', fraction = ''] = CLOCK.exec(found) ?? []
  if (hours === undefined || Number(minutes) > 59 || Number(seconds) > 59) return undefined
  const ms =
    ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
  return sign ? -ms : ms
}

/** The beginning of a value, in quotes, for messages. */
export function brief(value: Cell | string): string {
  const found = String(value)
  return JSON.stringify(found.length > 60 ? `${found.slice(0, 60)}…` : found)
}
