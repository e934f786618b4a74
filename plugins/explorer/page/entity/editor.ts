/** Values in the fields of a form: how they are shown, read, and checked before they are sent. */
import { dayText } from '../base/dates.ts'
import { durationText, readDuration } from '../base/durations.ts'
import { type Attribute, type DataClass, INTEGERS, NUMBERS, shapeOf } from '../base/model.ts'
import { jsonFaultAt } from './json-fault.ts'
import { laidOut } from './json-text.ts'
import { instantOf, isInstant } from './times.ts'

export type Editor =
  | 'text'
  | 'lines'
  | 'number'
  | 'bool'
  | 'choice'
  | 'date'
  | 'time'
  | 'duration'
  | 'json'
  | 'vector'
  | 'relation'
  | 'image'
  | 'blob'

/**
 * Content of a field: a text, a bool, or the key of a related entity. It determines the stored and the sent value exactly: a string keeps
 * its line ends, and a date its instant. Images and blobs are files.
 */
export type Input = string | boolean | null

/** A reason why a value cannot be sent as it was typed. */
interface InputFault {
  readonly code: 'number' | 'integer' | 'date' | 'duration' | 'json' | 'vector'
  /** Position in the text. */
  readonly at?: number
  readonly detail?: string
}

/** A value as JSON. */
type Read = { readonly json: string } | { readonly fault: InputFault }

const EDITORS: Readonly<Record<string, Editor>> = {
  string: 'text',
  uuid: 'text',
  bool: 'bool',
  duration: 'duration',
  object: 'json',
  vector: 'vector',
  image: 'image',
  blob: 'blob',
}
const LINES_FROM = 300

/** The field of an attribute. Undefined if it cannot be assigned. */
export function editorOf(attribute: Attribute, isNew: boolean): Editor | undefined {
  const { kind, readOnly, identifying, autosequence } = attribute
  if (kind !== 'relatedEntity' && (kind === 'relatedEntities' || kind === 'alias' || readOnly)) return undefined
  if (identifying && (!isNew || autosequence)) return undefined
  return editorByType(attribute)
}

/** The field for the type of an attribute, whether or not it can be assigned. */
export function editorByType(attribute: Attribute): Editor | undefined {
  const { kind, multiLine, maxLength, simpleDate, choices } = attribute
  if (kind === 'relatedEntity') return 'relation'
  if (choices) return 'choice'
  if (attribute.type === 'date') return simpleDate ? 'date' : 'time'
  const editor = NUMBERS.has(attribute.type) ? 'number' : EDITORS[shapeOf(attribute)]
  return editor === 'text' && (multiLine || (maxLength ?? 0) > LINES_FROM) ? 'lines' : editor
}

/** Attributes of a form, in the order of the model. A foreign key is assigned through its relation. */
export function editable({ attributes }: DataClass, isNew: boolean): readonly Attribute[] {
  const foreignKeys = new Set(attributes.map(({ foreignKey }) => foreignKey))
  return attributes.filter(
    each => editorOf(each, isNew) && (!foreignKeys.has(each.name) || (isNew && each.identifying === true)),
  )
}

/** Beginning of a value that is too long to be read with the others. */
export function beginningOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as { __deferred?: { brief?: string } }).__deferred?.brief
}

/** The content of a field for a stored value. @param json the value as JSON */
export function inputOf(attribute: Attribute, json = 'null'): Input {
  if (json === 'null') return null
  const editor = editorByType(attribute)
  if (editor === 'bool') return json === 'true'
  const value: unknown = JSON.parse(json)
  const beginning = beginningOf(value)
  if (beginning !== undefined) return beginning
  switch (editor) {
    case 'relation':
      return keyOf(value)
    case 'json':
      return laidOut(json)
    case 'vector':
      return json
    case 'duration':
      return durationText(json)
    case 'date':
      return dayText(String(value))
    default:
      return typeof value === 'string' ? value : typeof value === 'object' ? null : json
  }
}

/** @param value a link, or the key itself */
const keyOf = (value: unknown): string | null => {
  const { __KEY, __deferred } = value as { __KEY?: unknown; __deferred?: { __KEY?: unknown } }
  const key = __KEY ?? __deferred?.__KEY ?? value
  return typeof key === 'object' ? null : String(key)
}

/**
 * The value that is sent for the content of a field.
 * @param decimal decimal sign of the user's language; `.` is always accepted too
 */
export function read(attribute: Attribute, input: Input, decimal = '.'): Read {
  if (input === null || typeof input === 'boolean') return { json: String(input) }
  const text = input.trim()
  switch (editorByType(attribute)) {
    case 'relation':
      return { json: `{"__KEY":${JSON.stringify(input)}}` }
    case 'number':
      return readNumber(text, INTEGERS.has(attribute.type), decimal)
    case 'duration': {
      const milliseconds = readDuration(text)
      if (milliseconds !== undefined) return { json: milliseconds }
      const result = readNumber(text, false, decimal)
      return 'json' in result ? result : { fault: { code: 'duration' } }
    }
    case 'date':
      return DAY.test(text) ? { json: JSON.stringify(text) } : { fault: { code: 'date' } }
    case 'time':
      return readTime(text)
    case 'json':
      return readJson(text)
    case 'vector':
      return readVector(text, attribute.dimension)
    default:
      return { json: JSON.stringify(input) }
  }
}

const DAY = /^(?:[+-]?\d{4,6}-\d\d-\d\d|\d{1,2}!\d{1,2}!-?\d+)$/

/** Reads a number; digits that a double cannot hold remain text, which the server accepts too. */
function readNumber(text: string, isInteger: boolean, decimal: string): Read {
  // In English `1,234` is a thousand.
  const isFraction =
    /^[+-]?\d+,\d+(?:e[+-]?\d+)?$/i.test(text) && (decimal === ',' || !/^[+-]?[1-9]\d{0,2},\d{3}$/.test(text))
  const decimalText = isFraction ? text.replace(',', '.') : text
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(decimalText)) return { fault: { code: 'number' } }
  // In German `1.000` is a thousand.
  if (isInteger && /^[^e]*\.(?!0?(?:e|$))/i.test(decimalText)) return { fault: { code: 'integer' } }
  return { json: String(Number(decimalText)) === decimalText ? decimalText : JSON.stringify(decimalText) }
}

/** Reads an instant, a local time, or a day, which begins in UTC as in all requests. */
function readTime(text: string): Read {
  const instant = DAY.test(text) ? `${dayText(text)}T00:00:00.000Z` : instantOf(text)
  return isInstant(instant) ? { json: JSON.stringify(instant) } : { fault: { code: 'date' } }
}

function readJson(text: string): Read {
  try {
    JSON.parse(text)
    // UTF-8 cannot encode unpaired surrogates.
    return { json: text.replace(/[\ud800-\udfff]/gu, half => `\\u${half.charCodeAt(0).toString(16)}`) }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    const at = jsonFaultAt(text)
    return { fault: at === undefined ? { code: 'json', detail } : { code: 'json', detail, at } }
  }
}

function readVector(text: string, dimension: number | undefined): Read {
  const result = readJson(text)
  if ('fault' in result) return result
  const value: unknown = JSON.parse(result.json)
  const isVector = Array.isArray(value) && value.length === dimension && value.every(each => typeof each === 'number')
  return isVector ? result : { fault: { code: 'vector' } }
}

/** A rule of the model that a value breaks. */
interface Violation {
  readonly rule: 'mandatory' | 'minLength' | 'maxLength' | 'pattern' | 'minValue' | 'maxValue'
  readonly bound: string | number
}

/** The first rule of the catalog that a value breaks. The server makes the final decision. @param json the value as JSON */
export function violationOf(attribute: Attribute, json: string): Violation | undefined {
  const {
    mandatory,
    minLength = 0,
    maxLength = Infinity,
    pattern,
    minValue = -Infinity,
    maxValue = Infinity,
  } = attribute
  const value: unknown = JSON.parse(json)
  if (value === null) return mandatory ? { rule: 'mandatory', bound: '' } : undefined
  if (editorByType(attribute) === 'number' || attribute.type === 'duration') {
    const number = Number(value)
    if (number < minValue) return { rule: 'minValue', bound: minValue }
    return number > maxValue ? { rule: 'maxValue', bound: maxValue } : undefined
  }
  if (typeof value !== 'string') return undefined
  if (value.length < minLength) return { rule: 'minLength', bound: minLength }
  if (value.length > maxLength) return { rule: 'maxLength', bound: maxLength }
  return pattern !== undefined && !matches(value, pattern) ? { rule: 'pattern', bound: pattern } : undefined
}

/** Returns true if the text matches, or if this browser cannot read the pattern, which is left to the server. */
function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test(text)
  } catch {
    return true
  }
}
