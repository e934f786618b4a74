import { parseClock } from '../base/time/read-clock.ts'
import { parseDate } from '../base/time/read-date.ts'
import type { StorageAttribute } from '../catalog/attribute.ts'
import { loadModel } from '../catalog/load-model.ts'
import { MAX_DIMENSION, type StorageModel } from '../catalog/model-schema.ts'
import { Mismatch } from '../catalog/types/descriptor.ts'
import { TYPES } from '../catalog/types/registry.ts'
import { significant } from '../base/exact-json.ts'
import { type ForeignFormat, readForeign } from './foreign-values.ts'
import { NULL_TEXTS } from './guess-format.ts'
import { csvValue } from './row-reader.ts'
import { cellText } from './table-file.ts'

/** Type of a column, as the values of a sample have it. */
interface GuessedType {
  readonly attribute: StorageModel
  /** Texts among them that stand for null. */
  readonly nulls: readonly string[]
}

/** Types that hold every value of a column for which a source names them. */
const SURE: readonly string[] = ['bool', 'long', 'string', 'blob']

/**
 * The type that a source gives a column, or `string` where values go beyond it: integers of more than 64 bits, decimals of more than 18
 * digits, years that no date has. Lists of numbers are vectors if all have one length.
 */
export function typeFor(type: StorageModel, values: readonly unknown[], format: ForeignFormat): StorageModel {
  const filled = values.filter(isFilled)
  if (type.type === 'object')
    return filled.every(value => typeof value === 'object') ? (vectorFor(filled) ?? type) : { type: 'string' }
  // An infinite number among others is a wrong value.
  if (SURE.includes(type.type) || type.type === 'number' || holdsAll(type, filled.map(cellText), format)) return type
  return { type: 'string' }
}

/** Dimension from which an array of numbers is taken for a vector. */
const MIN_DIMENSION = 8

const INTEGER = /^-?(?:0|[1-9]\d*)$/
/** Without zeros in front and without a plus: postcodes and telephone numbers stay texts. */
const NUMBER = /^-?(?:(?:0|[1-9]\d*)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/
/** Beginnings of texts that are dates if they can be read as such. Years of five digits, and `31!1!2020`, are more often something else. */
const DATE = /^(?:\d{4}|[+-]\d{6})[-/.]/
const ISO = /^\d{4}-\d\d-\d\d(?:[ T]|$)/
const CLOCK = /^-?\d{1,4}:/
const TIME = /^-?\d{2,10}:\d\d:\d\d(?:\.\d{3})?$/
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i
/** Words and letters that are truths in pairs only: `NO` alone is a country, and `T` a code. */
const TRUTHS = [
  ['true', 'false'],
  ['yes', 'no'],
  ['t', 'f'],
  ['y', 'n'],
]

/**
 * The most specific type that all values of a column have. Every one of them is converted as a load would.
 * @param values of a column of CSV texts; of a typed source also numbers, booleans, bigints and objects
 * @param isTyped texts were texts in the source, so that only dates and UUIDs are another type
 */
export function guessType(values: readonly unknown[], isTyped: boolean, format: ForeignFormat): GuessedType {
  const filled = values.filter(isFilled)
  const hasTexts = isTyped && filled.some(value => typeof value === 'string')
  const texts = filled.map(cellText)
  const find = (some: readonly string[]): StorageModel | undefined => {
    if (some.length === 0) return undefined
    for (const attribute of hasTexts ? typedTexts(some) : candidates(some, format))
      if (attribute && holdsAll(attribute, some, format)) return attribute
    return undefined
  }
  const whole = find(texts)
  if (whole) return { attribute: whole, nulls: [] }
  const markers = format.nulls ? new Set(format.nulls) : NULL_TEXTS
  const others = texts.filter(text => !markers.has(text.trim()))
  const found = isTyped || others.length === texts.length ? undefined : find(others)
  if (found)
    return { attribute: found, nulls: [...new Set(texts.map(text => text.trim()).filter(text => markers.has(text)))] }
  const multiLine = texts.some(text => /[\r\n]/.test(text.trim()))
  return { attribute: { type: 'string', ...(multiLine && { multiLine }) }, nulls: [] }
}

const isFilled = (value: unknown): boolean => value !== null && value !== undefined

function* typedTexts(texts: readonly string[]): Generator<StorageModel | undefined> {
  if (texts.every(text => ISO.test(text) && parseDate(text) !== undefined)) yield dateOf(texts)
  // A spreadsheet has times of day and durations, which its reader writes so.
  if (texts.every(text => TIME.test(text))) yield { type: 'duration' }
  if (texts.every(text => UUID.test(text))) yield { type: 'uuid' }
}

/** Types that the form of the values suggests, the most specific first. */
function* candidates(texts: readonly string[], format: ForeignFormat): Generator<StorageModel | undefined> {
  if (isBool(texts)) yield { type: 'bool' }
  const numbers = texts.map(text => readForeign(SOME_NUMBER, text, format).trim())
  if (numbers.every(text => INTEGER.test(text))) {
    yield { type: 'long' }
    yield { type: 'long64' }
  } else if (numbers.every(text => NUMBER.test(text))) {
    if (isMoney(numbers)) yield { type: 'decimal', scale: 2 }
    if (numbers.every(isDouble)) yield { type: 'number' }
    else yield decimalOf(numbers)
  }
  const dates = datesOf(texts, format)
  if (dates?.every(text => DATE.test(text) && parseDate(text) !== undefined)) yield dateOf(dates)
  if (texts.every(text => CLOCK.test(text.trim()) && parseClock(text) !== undefined)) yield { type: 'duration' }
  if (texts.every(text => UUID.test(text.trim()))) yield { type: 'uuid' }
  if (texts.every(text => text.startsWith('data:image/'))) yield { type: 'image' }
  if (texts.every(text => /^data:[^,]*;base64,/.test(text))) yield { type: 'blob' }
  if (texts.every(text => /^\s*[[{]/.test(text))) {
    yield vectorOf(texts)
    yield { type: 'object' }
  }
}

function isBool(texts: readonly string[]): boolean {
  const words = new Set(texts.map(text => text.trim().toLowerCase()))
  if (words.size === 1) return words.has('true') || words.has('false')
  return words.size === 2 && TRUTHS.some(pair => pair.every(word => words.has(word)))
}

/** Two digits after each point, of which the last may be a zero: no program writes 12.50 for a measured value. */
const isMoney = (numbers: readonly string[]): boolean =>
  numbers.some(text => text.endsWith('0')) && numbers.every(text => /^-?\d{1,16}\.\d\d$/.test(text))

/** Digits that identify a double. Source: IEEE 754. */
const DOUBLE_DIGITS = 17
/** Source: ECMA-262, Number.prototype.toPrecision. */
const MAX_PRECISION = 100
/** A number that may be too small for a double. */
const SMALL = /e-\d{3}/i
/** Places of a decimal attribute. */
const MAX_SCALE = 18

/** True for the digits of a double, as many of them as a program has written: others would be lost. */
function isDouble(text: string): boolean {
  const written = significant(text)
  const digits = written.indexOf('e')
  if (digits < DOUBLE_DIGITS - 1 && !SMALL.test(text)) return true
  return digits <= MAX_PRECISION && written === significant(Number(text).toPrecision(Math.max(digits, 1)))
}

/** Decimal with all places of numbers. */
function decimalOf(numbers: readonly string[]): StorageModel | undefined {
  const exponents = numbers.map(text => Number(significant(text).split('e')[1] ?? 0))
  const scale = exponents.reduce((most, exponent) => Math.max(most, -exponent), 0)
  return scale <= MAX_SCALE ? { type: 'decimal', scale } : undefined
}

const dateOf = (texts: readonly string[]): StorageModel =>
  texts.some(text => text.includes(':')) ? { type: 'date' } : { type: 'date', simpleDate: true }

function datesOf(texts: readonly string[], format: ForeignFormat): string[] | undefined {
  try {
    return texts.map(text => readForeign(SOME_DATE, text, format).trim())
  } catch {
    // A year of two digits.
    return undefined
  }
}

/** Vector as long as the first list. */
function vectorOf([first]: readonly string[]): StorageModel | undefined {
  try {
    const list: unknown = JSON.parse(first!)
    return Array.isArray(list) && list.length >= MIN_DIMENSION && list.length <= MAX_DIMENSION
      ? { type: 'vector', dimension: list.length }
      : undefined
  } catch {
    return undefined
  }
}

/** Vector for lists of numbers that are all of one length. */
function vectorFor(values: readonly unknown[]): StorageModel | undefined {
  const length = Array.isArray(values[0]) ? values[0].length : 0
  const isVector = (list: unknown): boolean =>
    Array.isArray(list) && list.length === length && list.every(each => Number.isFinite(Math.fround(each as number)))
  if (length < MIN_DIMENSION || length > MAX_DIMENSION) return undefined
  return values.every(isVector) ? { type: 'vector', dimension: length } : undefined
}

function holdsAll(model: StorageModel, texts: readonly string[], format: ForeignFormat): boolean {
  const attribute = attributeOf(model)
  try {
    return texts.every(text => {
      const value = csvValue(attribute, text, format)
      return !(TYPES[attribute.type].convert(value, attribute, true) instanceof Mismatch)
    })
  } catch {
    return false
  }
}

const attributeOf = (value: StorageModel): StorageAttribute =>
  loadModel({
    name: 'guess',
    dataClasses: { Guess: { key: 'ID', attributes: { ID: { type: 'long' }, value } } },
  })
    .dataClassesByName.get('Guess')!
    .attributesByName.get('value') as StorageAttribute

const SOME_NUMBER = attributeOf({ type: 'number' })
const SOME_DATE = attributeOf({ type: 'date' })
