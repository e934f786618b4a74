import { doubleOf, parseExact } from '../../base/exact-json.ts'
import { clockText } from '../../base/time/write-clock.ts'
import type { NumberFormat } from './number-format.ts'

/** A cell as stored in a sheet. */
export interface SheetCell {
  /** Number of the column, from 0. */
  readonly column: number
  /** `n` if the file names none. Source: ECMA-376, part 1, 18.18.11. */
  readonly type: string
  /** Index of the format. */
  readonly style: number
  /** The value as text; for a shared text its index. */
  readonly text: string
  /** False for a cell without a value, such as a formula that no program has calculated. */
  readonly hasValue: boolean
  /** Formula without `=`; empty where the file has it in another cell. */
  readonly formula?: string | undefined
}

/** Texts, formats and the date system that cells refer to. */
export interface CellContext {
  /** Day 0 is the first of January 1904, as in files of old Macs. */
  readonly is1904: boolean
  readonly strings: readonly string[]
  /** By style. */
  readonly formats: readonly NumberFormat[]
}

/** Reason why a cell has no value. */
export class CellProblem {
  constructor(readonly reason: string) {}
}

const NOT_CALCULATED = new CellProblem('is a formula without a result')

/** True for the value of a formula that no program has calculated. */
export const isNotCalculated = (value: unknown): boolean => value === NOT_CALCULATED

/** Texts, booleans, numbers with all their digits; dates, times of day and durations as texts; null for an empty cell. */
export function cellValue({ type, style, text, hasValue, formula }: SheetCell, context: CellContext): unknown {
  if (formula !== undefined && !(hasValue && (text !== '' || type === 'str'))) return NOT_CALCULATED
  switch (type) {
    case 'str':
    case 'inlineStr':
    case 'd':
      return text
    case 'e':
      return new CellProblem(`is the error ${text}`)
  }
  if (text === '') return null
  switch (type) {
    case 's':
      return sharedText(text, context) ?? new CellProblem('refers to a text that the file does not have')
    case 'b':
      return BOOLS[text] ?? new CellProblem(`has "${text}" for a truth value`)
    case 'n':
      return meaningOf(text.trim(), style, context)
    default:
      return new CellProblem(`has the type "${type}"`)
  }
}

const sharedText = (index: string, { strings }: CellContext): string | undefined =>
  /^\d+$/.test(index) ? strings[Number(index)] : undefined

const BOOLS: Readonly<Record<string, boolean>> = { 0: false, 1: true, false: false, true: true }

/** Numbers in XML. */
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

function meaningOf(text: string, style: number, context: CellContext): unknown {
  const number = NUMBER.test(text) ? doubleOf(text) : Number.NaN
  if (!Number.isFinite(number)) return new CellProblem(`has "${text}" for a number`)
  const { formats } = context
  const format = formats[style]
  if (style > 0 && formats.length > 0 && format === undefined)
    return new CellProblem('has a format that the file does not have')
  switch (isTimeAlone(number, format) ? 'duration' : format?.kind) {
    case 'clock':
    case 'date':
      return momentOf(number, context.is1904) ?? new CellProblem(`has the number ${text}, which is not a date`)
    case 'duration':
      return clockText(Math.round(number * DAY_MS))
    case 'money':
      return withPlaces(number, format!.places) ?? withDigits(number, text)
    default:
      return withDigits(number, text)
  }
}

/**
 * Days below which a number that is shown as a time without a day is a time: sums in time sheets often have the format of a time of day. A
 * greater number is a moment of which only the time is shown.
 */
const DAYS_OF_CLOCKS = 366

const isTimeAlone = (days: number, format: NumberFormat | undefined): boolean =>
  format?.kind === 'clock' && Math.abs(days) < DAYS_OF_CLOCKS

/** An amount of money with the places of its format, as a number with all its digits; undefined if it has more places. */
function withPlaces(number: number, places: number): unknown {
  const text = number.toFixed(places)
  const isWhole = places === 0 || text.length > SAFE_DIGITS + places || text.includes('e')
  return isWhole || Number(text).toPrecision(SAFE_DIGITS) !== number.toPrecision(SAFE_DIGITS) ? undefined : Object(text)
}

/** Digits that every double keeps. Source: IEEE 754. */
const SAFE_DIGITS = 15
/** Maximum number of digits with which spreadsheet programs write a double. */
const MAX_DIGITS = 17

/** A double, or all digits of the text if a program has written more digits than a double keeps. */
function withDigits(number: number, text: string): unknown {
  if (text.length <= SAFE_DIGITS || !JSON_NUMBER.test(text)) return number
  const digits = text.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '')
  return parseExact(text, digits.length > MAX_DIGITS ? 'numbers' : 'integers')
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

const DAY_MS = 86_400_000
const FIRST_DAY_1904 = Date.UTC(1904, 0, 1)
/** Day 0 of the count, moved back by a day that did not exist: 29 February 1900. */
const DAY_ZERO = Date.UTC(1899, 11, 30)
const NO_DAY = 60
const END = Date.UTC(10_000, 0, 1)

/**
 * A time of day within day 0, else a day if it is midnight, else a moment; undefined for numbers that spreadsheets do not show as dates.
 */
function momentOf(days: number, is1904: boolean): string | undefined {
  const ms = Math.round(days * DAY_MS)
  const day = Math.floor(ms / DAY_MS)
  if (!(ms >= 0) || (!is1904 && day === NO_DAY)) return undefined
  if (day === 0) return clockText(ms)
  const time = is1904 ? FIRST_DAY_1904 + ms : DAY_ZERO + ms + (day < NO_DAY ? DAY_MS : 0)
  if (time >= END) return undefined
  const text = new Date(time).toISOString()
  return ms % DAY_MS === 0 ? text.slice(0, 10) : text
}
