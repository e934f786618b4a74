/**
 * Values that are easily mistaken for one another. Dates and durations are in milliseconds.
 */
import type { Random } from '../base/random.ts'
import type { Plain, ScalarType, StorageSpec } from './world.ts'

export const TEXTS = [
  '', 'e', 'E', 'é', 'É', 'e\u0301', 'ê', 'ss', 'ß', 'ẞ', 'SS', 'ø', 'Ø', 'o', 'ö', 'O', 'İ', 'I', 'ı', 'i', 'ì',
  'Straße', 'strasse', 'Zoë', 'zoe', 'Zoe Smith', 'smith', 'Smith-Jones', '😀', 'a😀b', 'ab', 'abc', 'ABC def', 'abcabc',
  'ΟΔΟΣ', 'οδος', 'οδός ΟΔΟΣΑ', 'ﬁn', 'fin', 'ŉ', '日本語', '日本', '가나', 'ñandú', 'NANDU', 'Ǆ', 'ǆ', 'x@y', '@', 'a@', 'true',
  'null', 'not', '12', '1e3', '012', ' lead', 'trail ', ' ', "O'Reilly", 'say "hi"', 'back\\slash', '100%', 'a=b', 'a&b|c',
  '(paren)', '[x]', 'tab\there', 'line\nbreak', 'zero\u200dwidth', '\ufffd', '\uffff', '𝒳', 'a,b', 'a.b', 'q\u0323\u0307', 'q\u0307\u0323',
  'אבג', 'مرحبا', 'the quick brown fox', 'The QUICK-brown', "it's 5 o'clock", 'z', 'Z', '~', '_', 'É'.repeat(40), 'abc'.repeat(30),
] // biome-ignore format: a list
const DATES = [
  '1970-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '1969-12-31T00:00:00.000Z',
  '2020-02-29T00:00:00.000Z',
  '2020-02-29T12:30:15.250Z',
  '2000-02-29T23:59:59.999Z',
  '2020-03-01T00:00:00.000Z',
  '1900-02-28T08:00:00.000Z',
  '0099-06-15T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
  '1582-10-10T00:00:00.000Z',
  '2038-01-19T03:14:08.000Z',
  '2020-02-28T23:59:59.999Z',
].map(text => Date.parse(text))
const DURATIONS = [0, 1, 999, 1_000, 60_000, 3_600_000, 3_599_999, 28_800_000, 86_399_000, 90_000_000]
const SMALL = [0, 1, 2, 3, 5, 7, 10, 20, 99, 100]
const LONGS = [...SMALL, -1, -2, -100, 2_147_483_647, -2_147_483_648, 65_536, 1_000_000]
const LONG64S = [
  ...LONGS.map(BigInt),
  9_007_199_254_740_991n,
  9_007_199_254_740_992n,
  9_007_199_254_740_993n,
  -9_007_199_254_740_993n,
  9_223_372_036_854_775_807n,
  9_223_372_036_854_775_806n,
  -9_223_372_036_854_775_808n,
]
const NUMBERS = [
  ...SMALL,
  -0,
  -1,
  0.1,
  0.2,
  0.30000000000000004,
  0.3,
  1.5,
  -1.5,
  1 / 3,
  1e300,
  -1e300,
  5e-324,
  1e-7,
  9_007_199_254_740_992,
  2 ** 53 + 2,
  1e21,
  2.5,
]

/** A pool for one attribute: few values, so that rows share them. */
export function poolOf(random: Random, { type, simpleDate }: StorageSpec, rows: number): Plain[] {
  const size = random.integer(2, Math.max(3, Math.min(25, rows)))
  return Array.from({ length: size }, () => scalar(random, type as ScalarType, simpleDate === true))
}

export function scalar(random: Random, type: ScalarType, simpleDate = false): Plain {
  switch (type) {
    case 'bool':
      return random.chance(0.5)
    case 'byte':
      return random.pick(SMALL)
    case 'word':
      return random.pick([...SMALL, 30_000])
    case 'long':
      return random.pick(LONGS)
    case 'long64':
      return random.pick(LONG64S)
    case 'number':
    case 'float':
      return random.pick(NUMBERS)
    case 'date':
      return simpleDate ? midnight(random.pick(DATES)) : random.pick(DATES)
    case 'duration':
      return random.pick(DURATIONS)
    case 'string':
      return random.pick(TEXTS)
    case 'uuid':
      return uuid(random.integer(0, 1_000))
  }
}

export const midnight = (ms: number): number => Math.floor(ms / 86_400_000) * 86_400_000

/** A UUID that spreads a number over the digits; the same one for the same number. */
export const uuid = (n: number): string =>
  ((BigInt(n + 1) * 0x9e3779b97f4a7c15f39cc0605cedc835n) % 2n ** 128n).toString(16).toUpperCase().padStart(32, '0')

const MIXED = ['abc', 'Abc', 'É', 'e', '5', 5, 5.5, 0, -1, true, false, 'true', null, '', 'x@y']

/** A JSON object whose property `code`, if present, is mostly a text, `deep.size` a number and `flag` a bool. */
export function jsonObject(random: Random): Plain {
  if (random.chance(0.15)) return null
  const mixed = () => random.pick(MIXED)
  const object: Record<string, unknown> = {}
  const rarelyMixed = (value: unknown) => (random.chance(0.03) ? random.pick([{}, [], mixed()]) : value)
  if (random.chance(0.8)) object.code = rarelyMixed(random.pick([null, ...TEXTS.slice(0, 30)]))
  if (random.chance(0.7)) object.flag = rarelyMixed(random.chance(0.5))
  if (random.chance(0.8)) object.any = random.chance(0.1) ? { a: 1 } : mixed()
  if (random.chance(0.8)) {
    object.deep = {
      ...(random.chance(0.7) && { size: rarelyMixed(random.pick([null, 0, 1, 2, 2.5, 10])) }),
      ...(random.chance(0.6) && { tag: mixed() }),
    }
  }
  if (random.chance(0.7))
    object.list = random.chance(0.15) ? mixed() : Array.from({ length: random.integer(0, 4) }, mixed)
  if (random.chance(0.7)) {
    object.items = Array.from({ length: random.integer(0, 4) }, () =>
      random.chance(0.1)
        ? mixed()
        : { ...(random.chance(0.8) && { x: mixed() }), ...(random.chance(0.8) && { y: random.pick([1, 2, 3, null]) }) },
    )
  }
  return object
}
