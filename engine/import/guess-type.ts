import type { StorageAttribute } from '../catalog/attribute.ts'
import { loadModel } from '../catalog/load-model.ts'
import type { StorageModel } from '../catalog/model-schema.ts'
import { Mismatch } from '../catalog/types/descriptor.ts'
import { TYPES } from '../catalog/types/registry.ts'
import { type ForeignFormat, readForeign } from './foreign-values.ts'
import { NULL_TEXTS } from './guess-format.ts'
import { csvValue } from './row-reader.ts'

/** Type of a column, as the values of a sample have it. */
interface GuessedType {
  readonly attribute: StorageModel
  /** Texts among them that stand for null. */
  readonly nulls: readonly string[]
}

/** Dimension from which an array of numbers is taken for a vector. */
const MIN_DIMENSION = 8

const INTEGER = /^-?(?:0|[1-9]\d*)$/
/** Without zeros in front and without a plus: postcodes and telephone numbers stay texts. */
const NUMBER = /^-?(?:(?:0|[1-9]\d*)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/
const DATE = /^\d{4}([-/.])\d{1,2}\1\d{1,2}(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/
const CLOCK = /^-?\d{1,4}:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?$/
const TIME = /^\d\d:\d\d:\d\d$/
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
  const filled = values.filter(value => value !== null && value !== undefined)
  const hasTexts = isTyped && filled.some(value => typeof value === 'string')
  const texts = filled.map(textOf)
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

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)

function* typedTexts(texts: readonly string[]): Generator<StorageModel | undefined> {
  if (texts.every(text => ISO.test(text))) yield dateOf(texts)
  // A spreadsheet has times of day, which its reader writes so.
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
    yield { type: 'number' }
  }
  const dates = datesOf(texts, format)
  if (dates?.every(text => DATE.test(text))) yield dateOf(dates)
  if (texts.every(text => CLOCK.test(text.trim()))) yield { type: 'duration' }
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

function vectorOf(texts: readonly string[]): StorageModel | undefined {
  try {
    const first: unknown = JSON.parse(texts[0]!)
    if (!Array.isArray(first) || first.length < MIN_DIMENSION) return undefined
    return { type: 'vector', dimension: first.length }
  } catch {
    return undefined
  }
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
