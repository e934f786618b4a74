import { significant } from '../base/decimal-digits.ts'
import { parseDate } from '../base/time/read-date.ts'
import type { StorageAttribute } from '../catalog/attribute.ts'
import { loadModel } from '../catalog/load-model.ts'
import { MAX_DIMENSION, type StorageModel } from '../catalog/model-schema.ts'
import { currencyOf } from './amounts.ts'
import type { ForeignFormat } from './foreign-values.ts'
import { NULL_TEXTS } from './guess-format.ts'
import { misfits } from './misfit.ts'
import { cellText } from './table-file.ts'
import { FORMS, isTableTime, isUuid, numberIn, TRUTHS } from './value-form.ts'

/** Type of a column, guessed from the values of a sample. */
interface GuessedType {
  readonly attribute: StorageModel
  /** Texts among the values that represent null. */
  readonly nulls: readonly string[]
  /** Currency of all values. */
  readonly currency?: string | undefined
}

/** Origin of the values of a column. */
export interface ValueSource {
  /** True if texts were texts in the source, so that only dates and UUIDs get another type, and amounts and booleans in the cells of a sheet. */
  readonly isTyped: boolean
  /** True if the values are loaded like fields of CSV: those of CSV and of tables. */
  readonly hasFields: boolean
}

/** Types that hold every value of a column to which a source assigns them. */
const SURE: readonly string[] = ['bool', 'long', 'string', 'blob']

/**
 * The type that a source assigns to a column, or `string` if values exceed it: integers of more than 64 bits, decimals of more than 18
 * digits, years that a date cannot have. Lists of numbers are vectors if all have the same length.
 */
export function typeFor(type: StorageModel, values: readonly unknown[], format: ForeignFormat): StorageModel {
  const filledValues = values.filter(isFilled)
  if (type.type === 'object')
    return filledValues.every(value => typeof value === 'object')
      ? (vectorFor(filledValues) ?? type)
      : { type: 'string' }
  // An infinite value in a column of numbers is invalid.
  if (SURE.includes(type.type) || type.type === 'number' || holdsAll(type, filledValues.map(cellText), format))
    return type
  return { type: 'string' }
}

/** Minimum dimension at which an array of numbers is treated as a vector. */
const MIN_DIMENSION = 8

const ISO = /^\d{4}-\d\d-\d\d(?:[ T]|$)/

/**
 * The most specific type that fits all values of a column. Each value is converted as in a load.
 * @param values texts of a CSV column; for a typed source also numbers, booleans, bigints and objects
 */
export function guessType(values: readonly unknown[], source: ValueSource, format: ForeignFormat): GuessedType {
  const { isTyped, hasFields } = source
  const filledValues = values.filter(isFilled)
  const texts = filledValues.map(cellText)
  const find = (some: readonly string[], hasTexts: boolean): StorageModel | undefined => {
    if (some.length === 0) return undefined
    const models = !hasTexts ? candidates(some, format) : hasFields ? cellTexts(some, format) : typedTexts(some)
    for (const attribute of models) if (attribute && holdsAll(attribute, some, format)) return attribute
    return undefined
  }
  const isText = (value: unknown): boolean => isTyped && typeof value === 'string'
  const commonType = find(texts, filledValues.some(isText))
  if (commonType) return { attribute: commonType, nulls: [], currency: amountsIn(texts, format) }
  const markers = format.nulls ? new Set(format.nulls) : NULL_TEXTS
  const isMarker = (text: string): boolean => markers.has(text.trim())
  const nonNulls = texts.filter(text => !isMarker(text))
  const nonNullType =
    !hasFields || nonNulls.length === texts.length
      ? undefined
      : find(
          nonNulls,
          filledValues.some((value, i) => isText(value) && !isMarker(texts[i]!)),
        )
  if (nonNullType)
    return {
      attribute: nonNullType,
      currency: amountsIn(nonNulls, format),
      nulls: [...new Set(texts.map(text => text.trim()).filter(text => markers.has(text)))],
    }
  const multiLine = texts.some(text => /[\r\n]/.test(text.trim()))
  return { attribute: { type: 'string', ...(multiLine && { multiLine }) }, nulls: [] }
}

const isFilled = (value: unknown): boolean => value !== null && value !== undefined

function* typedTexts(texts: readonly string[]): Generator<StorageModel | undefined> {
  if (texts.every(text => ISO.test(text) && parseDate(text) !== undefined)) yield dateOf(texts)
  // The spreadsheet reader writes times of day and durations in this form.
  if (texts.every(isTableTime)) yield { type: 'duration' }
  if (texts.every(isUuid)) yield { type: 'uuid' }
}

/** People type dates, amounts, and yes and no into spreadsheets in forms that the program keeps as texts. */
function* cellTexts(texts: readonly string[], format: ForeignFormat): Generator<StorageModel | undefined> {
  if (amountsIn(texts, format) !== undefined) yield moneyOf(texts, format)
  if (isBool(texts)) yield { type: 'bool' }
  if (texts.every(text => FORMS.date!(text, format))) yield dateOf(texts)
  yield* typedTexts(texts)
}

/** The currency of a column of amounts; undefined for a column of other values. */
function amountsIn(texts: readonly string[], { currencies = [] }: ForeignFormat): string | undefined {
  const currency = currencies.length > 0 ? currencyOf(texts, currencies) : undefined
  return currency !== undefined && currencies.includes(currency) ? currency : undefined
}

/** Types that the form of the values suggests, the most specific first. */
function* candidates(texts: readonly string[], given: ForeignFormat): Generator<StorageModel | undefined> {
  if (amountsIn(texts, given) !== undefined) yield moneyOf(texts, given)
  // An amount among other values is a text.
  const format = { ...given, currencies: undefined }
  const all = (type: StorageModel['type']): boolean => texts.every(text => FORMS[type]!(text, format))
  if (isBool(texts)) yield { type: 'bool' }
  if (all('long')) {
    yield { type: 'long' }
    yield { type: 'long64' }
  } else if (all('decimal')) {
    const numbers = texts.map(text => numberIn(text, format))
    if (isMoney(numbers)) yield { type: 'decimal', scale: MONEY_SCALE }
    if (all('number')) yield { type: 'number' }
    else yield decimalOf(numbers)
  }
  if (all('date')) yield dateOf(texts)
  if (all('duration')) yield { type: 'duration' }
  if (all('uuid')) yield { type: 'uuid' }
  if (all('image')) yield { type: 'image' }
  if (all('blob')) yield { type: 'blob' }
  if (all('object')) {
    yield vectorOf(texts)
    yield { type: 'object' }
  }
}

function isBool(texts: readonly string[]): boolean {
  const words = new Set(texts.map(text => text.trim().toLowerCase()))
  if (words.size === 1) return words.has('true') || words.has('false')
  return words.size === 2 && TRUTHS.some(pair => pair.every(word => words.has(word)))
}

/** True for numbers with two digits after the point, some of them ending in zero: no program writes 12.50 for a measured value. */
const isMoney = (numbers: readonly string[]): boolean =>
  numbers.some(text => text.endsWith('0')) && numbers.every(text => /^-?\d{1,16}\.\d\d$/.test(text))

/** Maximum number of decimal places of a decimal attribute. */
const MAX_SCALE = 18

const MONEY_SCALE = 2

/** Type of a column of amounts. */
const moneyOf = (texts: readonly string[], format: ForeignFormat): StorageModel | undefined =>
  decimalOf(
    texts.map(text => numberIn(text, format)),
    MONEY_SCALE,
  )

/** Decimal type with enough places for all numbers. */
function decimalOf(numbers: readonly string[], leastScale = 0): StorageModel | undefined {
  const exponents = numbers.map(text => Number(significant(text).split('e')[1] ?? 0))
  const scale = exponents.reduce((most, exponent) => Math.max(most, -exponent), leastScale)
  return scale <= MAX_SCALE ? { type: 'decimal', scale } : undefined
}

const dateOf = (texts: readonly string[]): StorageModel =>
  texts.some(text => text.includes(':')) ? { type: 'date' } : { type: 'date', simpleDate: true }

/** Vector type with the length of the first list. */
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

/** Vector type for lists of numbers that all have the same length. */
function vectorFor(values: readonly unknown[]): StorageModel | undefined {
  const length = Array.isArray(values[0]) ? values[0].length : 0
  const isVector = (list: unknown): boolean => Array.isArray(list) && list.length === length && list.every(isElement)
  if (length < MIN_DIMENSION || length > MAX_DIMENSION) return undefined
  return values.every(isVector) ? { type: 'vector', dimension: length } : undefined
}

/** True for a number of a vector. Integers of 64 bits are not: a list of them more often has keys. */
const isElement = (value: unknown): boolean =>
  typeof value !== 'bigint' && Number.isFinite(Math.fround(value as number))

const holdsAll = (model: StorageModel, texts: readonly string[], format: ForeignFormat): boolean =>
  misfits(attributeOf(model), texts, { hasFields: true }, format).next().done === true

const attributeOf = (value: StorageModel): StorageAttribute =>
  loadModel({
    name: 'guess',
    dataClasses: { Guess: { key: 'ID', attributes: { ID: { type: 'long' }, value } } },
  })
    .dataClassesByName.get('Guess')!
    .attributesByName.get('value') as StorageAttribute
