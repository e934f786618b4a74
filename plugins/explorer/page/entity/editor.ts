/** Values in the fields of a form: how they are shown, read, and checked before they are sent. */
import { parseDate } from '../base/dates.ts'
import { type Attribute, type DataClass, INTEGERS, NUMBERS, shapeOf } from '../base/model.ts'
import { jsonFaultAt } from './json-fault.ts'

export type Editor =
  | 'text'
  | 'lines'
  | 'number'
  | 'bool'
  | 'date'
  | 'time'
  | 'duration'
  | 'json'
  | 'vector'
  | 'relation'
  | 'image'
  | 'blob'

/** Content of a field: a text as typed, a bool, or the key of a related entity. Images and blobs are files. */
export type Input = string | boolean | null

/** A reason why a value cannot be sent as it was typed. */
interface InputFault {
  readonly code: 'number' | 'integer' | 'date' | 'duration' | 'json' | 'vector'
  /** Position in the text. */
  readonly at?: number
  readonly detail?: string
}

type Read = { readonly json: unknown } | { readonly fault: InputFault }

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

function editorByType(attribute: Attribute): Editor | undefined {
  const { kind, multiLine, maxLength, simpleDate } = attribute
  if (kind === 'relatedEntity') return 'relation'
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

/** The stored value in the form of its field. */
export function inputOf(attribute: Attribute, value: unknown): Input {
  if (value === null || value === undefined) return null
  const beginning = beginningOf(value)
  if (beginning !== undefined) return beginning
  switch (editorByType(attribute)) {
    case 'bool':
      return Boolean(value)
    case 'relation':
      return keyOf(value)
    case 'json':
      return JSON.stringify(value, null, 2)
    case 'vector':
      return JSON.stringify(value)
    case 'duration':
      return durationText(Number(value))
    case 'date':
      return parseDate(String(value))?.toISOString().slice(0, 10) ?? String(value)
    case 'time': {
      const date = parseDate(String(value))
      return date ? localTime(date) : String(value)
    }
    default:
      return typeof value === 'object' ? null : String(value)
  }
}

const keyOf = (value: unknown): string | null => {
  const { __KEY, __deferred } = value as { __KEY?: unknown; __deferred?: { __KEY?: unknown } }
  const key = __KEY ?? __deferred?.__KEY
  return key === undefined || key === null ? null : String(key)
}

/** The value that is sent for the content of a field. */
export function read(attribute: Attribute, input: Input): Read {
  if (input === null || typeof input === 'boolean') return { json: input }
  const text = input.trim()
  switch (editorByType(attribute)) {
    case 'relation':
      return { json: { __KEY: input } }
    case 'number':
      return readNumber(text, INTEGERS.has(attribute.type))
    case 'duration':
      return readDuration(text)
    case 'date':
      return /^-?\d{4,}-\d\d-\d\d$/.test(text) ? { json: text } : { fault: { code: 'date' } }
    case 'time':
      return readTime(text)
    case 'json':
      return readJson(text)
    case 'vector':
      return readVector(text, attribute.dimension)
    default:
      return { json: input }
  }
}

/** Reads a number; digits that a double cannot hold remain text, which the server accepts too. */
function readNumber(text: string, isInteger: boolean): Read {
  const plain = /^[+-]?\d+,\d+$/.test(text) ? text.replace(',', '.') : text
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(plain)) return { fault: { code: 'number' } }
  const value = Number(plain)
  if (isInteger && /^[^e]*\.\d*[1-9]/i.test(plain)) return { fault: { code: 'integer' } }
  return { json: String(value) === plain ? value : plain }
}

const TIME = /^((?:\d{4}|[+-]\d{6})-\d\d-\d\d)(?:[T ](\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?)(Z| ?[+-]\d\d(?::?\d\d)?)?)?$/i

/** Reads a time in the zone of the browser, as a field has it. A day, or a time with an offset, is for the server to read. */
function readTime(text: string): Read {
  const [, day, time, offset] = TIME.exec(text) ?? []
  if (day === undefined) return { fault: { code: 'date' } }
  if (time === undefined || offset !== undefined) return { json: text }
  const date = new Date(`${day}T${time.replace(/^\d:/, '0$&').replace(',', '.')}`)
  // JavaScript reads 30 February as 1 March.
  const isReal = !Number.isNaN(date.getTime()) && localTime(date).startsWith(day)
  return isReal ? { json: date.toISOString() } : { fault: { code: 'date' } }
}

/** Reads `8:30`, `1:05:09`, `1:05:09.250`, or milliseconds. */
function readDuration(text: string): Read {
  const parts = /^([-−]?)(\d+):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,3}))?)?$/.exec(text)
  if (!parts) return /^-?\d+$/.test(text) ? { json: Number(text) } : { fault: { code: 'duration' } }
  const [, sign, hours, minutes, seconds = '0', fraction = ''] = parts
  const total = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
  const milliseconds = total * 1000 + Number(fraction.padEnd(3, '0'))
  return { json: sign && milliseconds > 0 ? -milliseconds : milliseconds }
}

export function durationText(milliseconds: number): string {
  const total = Math.abs(milliseconds)
  const two = (count: number): string => String(Math.floor(count)).padStart(2, '0')
  const rest = total % 1000
  const text = `${Math.floor(total / 3_600_000)}:${two((total / 60_000) % 60)}:${two((total / 1000) % 60)}`
  return `${milliseconds < 0 ? '-' : ''}${text}${rest === 0 ? '' : `.${String(rest).padStart(3, '0')}`}`
}

function readJson(text: string): Read {
  try {
    return { json: JSON.parse(text) }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    const at = jsonFaultAt(text)
    return { fault: at === undefined ? { code: 'json', detail } : { code: 'json', detail, at } }
  }
}

function readVector(text: string, dimension: number | undefined): Read {
  const result = readJson(text)
  if ('fault' in result) return result
  const { json } = result
  const isVector = Array.isArray(json) && json.length === dimension && json.every(each => typeof each === 'number')
  return isVector ? result : { fault: { code: 'vector' } }
}

/** A date in the form of a field for local times: `2026-11-23T18:20:05.120`. */
function localTime(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, -1)
}

/** A rule of the model that a value breaks. */
interface Violation {
  readonly rule: 'mandatory' | 'minLength' | 'maxLength' | 'pattern' | 'minValue' | 'maxValue'
  readonly bound: string | number
}

/** The first rule of the catalog that a value breaks. The server makes the final decision. */
export function violationOf(attribute: Attribute, json: unknown): Violation | undefined {
  const {
    mandatory,
    minLength = 0,
    maxLength = Infinity,
    pattern,
    minValue = -Infinity,
    maxValue = Infinity,
  } = attribute
  if (json === null || json === undefined) return mandatory ? { rule: 'mandatory', bound: '' } : undefined
  if (editorByType(attribute) === 'number' || attribute.type === 'duration') {
    const value = Number(json)
    if (value < minValue) return { rule: 'minValue', bound: minValue }
    return value > maxValue ? { rule: 'maxValue', bound: maxValue } : undefined
  }
  if (typeof json !== 'string') return undefined
  if (json.length < minLength) return { rule: 'minLength', bound: minLength }
  if (json.length > maxLength) return { rule: 'maxLength', bound: maxLength }
  return pattern !== undefined && !matches(json, pattern) ? { rule: 'pattern', bound: pattern } : undefined
}

/** Returns true if the text matches, or if this browser cannot read the pattern, which is left to the server. */
function matches(text: string, pattern: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test(text)
  } catch {
    return true
  }
}
