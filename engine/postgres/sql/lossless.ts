import { quantity } from '../../base/counted.ts'
import { digitsOf, isSameNumber, withoutZeros } from '../../base/decimal-digits.ts'
import { quotedList } from '../../base/text/quoted-list.ts'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import type { Loss } from './column-form.ts'
import type { RemoteColumn } from './remote-table.ts'
import { DAY, lossOfInterval, unitOfInterval } from './interval-fields.ts'
import { partsOf } from './key-parts.ts'
import { isStorable } from './parameters.ts'
import { type Declared, declaredOf, INTEGERS, shortestOf } from './number-forms.ts'

/** @param json value as it is sent to the database */
export function lossOf(
  attribute: StorageAttribute,
  columns: readonly RemoteColumn[],
  json: (value: Value) => unknown,
): Loss<Value> | undefined {
  const loss = lossOfValue(attribute, columns, json)
  switch (attribute.type) {
    case 'string':
      return value => unstorableText(String(value), columns[0]!.type) ?? loss?.(value)
    case 'object':
      return value => (UNSTORABLE.test(JSON.stringify(value)) ? `an object of ${STORABLE_TEXTS}` : loss?.(value))
    default:
      return loss
  }
}

const STORABLE_TEXTS = 'texts without NUL and without halves of surrogate pairs, which PostgreSQL cannot store,'
/** Matches an escape, in the output of `JSON.stringify`, of NUL or of half of a surrogate pair: whole pairs are not escaped. */
const UNSTORABLE = /(?:^|[^\\])(?:\\\\)*\\u(?:0000|d[89a-f])/

/** @param type of the column: `jsonb` takes no escapes of such characters either */
const unstorableText = (text: string, type: string): string | undefined =>
  !isStorable(text) || (type === 'jsonb' && UNSTORABLE.test(normalizedJson(text)))
    ? `one of the ${STORABLE_TEXTS}`
    : undefined

/** JSON as `JSON.stringify` writes it; empty for a text that is not JSON. */
function normalizedJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return ''
  }
}

function lossOfValue(
  attribute: StorageAttribute,
  columns: readonly RemoteColumn[],
  json: (value: Value) => unknown,
): Loss<Value> | undefined {
  const [column] = columns as [RemoteColumn]
  const { type, modifier } = column
  if (columns.length > 1) return lossOfParts(columns)
  switch (attribute.type) {
    case 'image':
    case 'blob':
    case 'vector':
      return undefined
    case 'object':
      return type === 'hstore' ? lossOfHstore : lossOfElements(type, modifier)
    case 'date':
      if (type === 'date') return value => (Number(value) % DAY === 0 ? undefined : 'a date without a time')
      return hasMilliseconds(modifier) ? undefined : multipleOf(secondsUnit(modifier))
    case 'duration':
      if (type === 'time') return multipleOf(secondsUnit(modifier))
      if (type === 'interval') return multipleOf(unitOfInterval(modifier))
      break
    case 'decimal':
      if (type === 'money') return value => tooManyPlaces(String(json(value)), MONEY_PLACES)
      break
    case 'byte':
    case 'word':
    case 'long':
    case 'long64':
      if (BITS[attribute.type]! <= (BITS[type] ?? 0)) return undefined
      break
    case 'number':
    case 'float':
      if (type === 'float8') return undefined
      break
  }
  const loss = lossOfColumn(column)
  return loss && (value => loss(String(json(value))))
}

/** Number of bits of integer types, of attributes and of columns. */
const BITS: Readonly<Record<string, number>> = { byte: 8, word: 16, long: 32, long64: 64, int2: 16, int4: 32, int8: 64 }

const hasMilliseconds = (modifier: number): boolean => modifier < 0 || modifier >= 3
const secondsUnit = (modifier: number): number => (hasMilliseconds(modifier) ? 1 : 10 ** (3 - modifier))

/** @param unit milliseconds; 0 if the column keeps no time at all */
const multipleOf =
  (unit: number): Loss<Value> =>
  value => {
    if (unit === 0) return value === 0 ? undefined : '0, since the column keeps years or months alone,'
    return Number(value) % unit === 0 ? undefined : `a whole number of ${unitName(unit)}`
  }

const UNITS: ReadonlyMap<number, string> = new Map([
  [1, 'milliseconds'],
  [1000, 'seconds'],
  [60_000, 'minutes'],
  [3_600_000, 'hours'],
  [DAY, 'days'],
])
const unitName = (unit: number): string => UNITS.get(unit) ?? `${unit} milliseconds`

/** Check of keys that consist of several columns. */
function lossOfParts(columns: readonly RemoteColumn[]): Loss<Value> {
  const losses = columns.map(lossOfColumn)
  return value => {
    for (const [i, part] of (partsOf(String(value), columns.length) ?? []).entries()) {
      const expected = losses[i]?.(part)
      if (expected !== undefined) return `${expected} as part ${i + 1}`
    }
    return undefined
  }
}

const lossOfColumn = ({ type, modifier, labels }: RemoteColumn): Loss<string> | undefined =>
  labels ? lossOfLabel(labels) : lossOfText(type, modifier)

function lossOfLabel(labels: readonly string[]): Loss<string> {
  const known = new Set(labels)
  return text => (known.has(text) ? undefined : `one of ${quotedList(labels)}`)
}

/** Check of arrays of any depth. */
function lossOfElements(type: string, modifier: number): Loss<Value> | undefined {
  if (!type.startsWith('_')) return undefined
  const holdsTexts = TEXTS.has(type.slice(1))
  const loss = lossOfText(type.slice(1), modifier)
  if (!holdsTexts && !loss) return undefined
  const ofElement: Loss<unknown> = value => {
    if (!Array.isArray(value)) {
      if (value === null) return undefined
      // The database would store the JSON of any other value as the text.
      if (holdsTexts && typeof value !== 'string') return 'a text'
      return typeof value === 'object' ? undefined : loss?.(String(value))
    }
    for (const element of value) {
      const expected = ofElement(element)
      if (expected !== undefined) return expected
    }
    return undefined
  }
  return value => {
    const expected = Array.isArray(value) ? ofElement(value) : undefined
    return expected && `${expected} as each element`
  }
}

const TEXTS: ReadonlySet<string> = new Set(['text', 'varchar', 'bpchar', 'citext', 'name'])

const lossOfHstore: Loss<Value> = value =>
  Object.values(value as object).every(each => each === null || typeof each === 'string')
    ? undefined
    : 'an object whose values are texts or null'

/** @param modifier as in `pg_attribute` */
function lossOfText(type: string, modifier: number): Loss<string> | undefined {
  const declaration = declaredOf(modifier)
  if (Object.hasOwn(INTEGERS, type)) return lossOfInteger(...INTEGERS[type]!)
  switch (type) {
    case 'numeric':
      return declaration && (text => tooManyPlaces(text, declaration.places) ?? tooManyDigits(text, declaration))
    case 'float4':
      return lossOfFloat(number => shortestOf(Math.fround(number)))
    case 'float8':
      return lossOfFloat(number => number)
    case 'money':
      return text =>
        (/[.,](\d+)\D*$/.exec(text)?.[1] ?? '').length > MONEY_PLACES ? placesExpected(MONEY_PLACES) : undefined
    case 'varchar':
    case 'bpchar':
      return type === 'varchar' && modifier < HEADER ? undefined : lossOfCharacters(type, modifier - HEADER)
    case 'name':
      return text => (Buffer.byteLength(text) > NAME_BYTES ? `a text of at most ${NAME_BYTES} bytes` : undefined)
    case 'char':
      return unless(/^\p{ASCII}?$/u, 'one ASCII character')
    case 'date':
    case 'time':
    case 'timetz':
    case 'timestamp':
    case 'timestamptz':
      return lossOfTime(type, modifier)
    case 'interval':
      return lossOfInterval(modifier)
    case 'xid':
    case 'cid':
      return lossOfInteger(...INTEGERS.oid!)
    case 'xid8':
      return lossOfInteger(0n, 2n ** 64n - 1n)
  }
  return undefined
}

const MONEY_PLACES = 2
/** Header in the modifier of a text, which is added to its length. */
const HEADER = 4
const NAME_BYTES = 63

const unless =
  (form: RegExp, expected: string): Loss<string> =>
  text =>
    form.test(text) ? undefined : expected

/** Check of integers. Unsigned types would store other integers modulo a power of two, or as the greatest value. */
const lossOfInteger =
  (least: bigint, most: bigint): Loss<string> =>
  text =>
    /^(?:0|-?[1-9]\d{0,30})$/.test(text) && BigInt(text) >= least && BigInt(text) <= most
      ? undefined
      : `a whole number from ${least} to ${most}`

const placesExpected = (places: number): string =>
  places < 0
    ? `a multiple of 1${'0'.repeat(-places)}`
    : `a number with at most ${quantity(places, 'digit')} after the point`

const tooManyPlaces = (text: string, places: number): string | undefined =>
  (digitsOf(text)?.places ?? places) > places ? placesExpected(places) : undefined

/** @param round returns the number that is shown for a given number */
/** Check of the digits before the point; a column with more places than digits has a bound below 1. */
function tooManyDigits(text: string, declared: Declared): string | undefined {
  const { digits, places } = digitsOf(text) ?? { digits: '0', places: 0 }
  const bound = declared.digits - declared.places
  return digits !== '0' && digits.replace('-', '').length - places > bound
    ? `a number of less than ${Number(`1e${bound}`)}`
    : undefined
}

const lossOfFloat =
  (round: (number: number) => number): Loss<string> =>
  text => {
    const roundedNumber = round(Number(text))
    // The database refuses numbers out of range.
    if (!Number.isFinite(roundedNumber) || isSameNumber(text, String(roundedNumber))) return undefined
    return `a number that its column keeps, such as ${roundedNumber},`
  }

/** Check of the length of texts. The database cuts blanks that exceed the length, and all trailing blanks of a padded text. */
const lossOfCharacters =
  (type: 'varchar' | 'bpchar', length: number): Loss<string> =>
  text => {
    if (type === 'bpchar' && text.endsWith(' ')) return 'a text without blanks at its end'
    return length > 0 && text.length > length && [...text].length > length
      ? `a text of at most ${length} characters`
      : undefined
  }

const DATE = String.raw`\d{4,}-\d\d-\d\d`
const CLOCK = String.raw`\d\d?:\d\d(?::\d\d(?:\.(\d+))?)?`
const ZONE = String.raw`(?: ?(?:Z|[-+]\d\d(?::?\d\d(?::\d\d)?)?))?`
const ENDLESS = '-?infinity'

/** Forms of which the database drops nothing, with the fraction of the seconds, and an example. */
const TIMES = {
  date: [`^(?:${DATE}(?: BC)?|${ENDLESS})$`, '2020-01-31'],
  time: [`^${CLOCK}$`, '08:30:00.25'],
  timetz: [`^${CLOCK}${ZONE}$`, '08:30:00.25+02'],
  timestamp: [`^(?:${DATE}(?:[ T]${CLOCK})?(?: BC)?|${ENDLESS})$`, '2020-01-31 08:30:00.25'],
  timestamptz: [`^(?:${DATE}(?:[ T]${CLOCK}${ZONE})?(?: BC)?|${ENDLESS})$`, '2020-01-31 08:30:00.25+02'],
} as const

/** Maximum number of digits after the seconds in the database. */
const MAX_SECOND_DIGITS = 6

function lossOfTime(type: keyof typeof TIMES, modifier: number): Loss<string> {
  const [source, example] = TIMES[type]
  const form = new RegExp(source)
  const places = modifier < 0 ? MAX_SECOND_DIGITS : modifier
  return text => {
    const match = form.exec(text)
    if (!match) return `a text such as ${example}`
    return withoutZeros(match[1] ?? '').length > places
      ? `a time with at most ${quantity(places, 'digit')} after the seconds`
      : undefined
  }
}
