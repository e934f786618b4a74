/**
 * Values that databases are likely to take for others: texts with the characters of patterns, letters of many scripts, JSON of every shape.
 */
import type { Random } from '../base/random.ts'
import { TEXTS } from './values.ts'
import type { Plain, StorageSpec } from './world.ts'

const ODD_TEXTS = [
  '%', '_', '\\', '\\%', '\\\\', 'a%b', 'a_b', 'aXb', '%%', '__', '*', '.*', '^a$', '[a-z]', '(?i)x', '{1,2}', '"', "''", '$1', ':1',
  'Σ', 'ς', 'σ', 'ΑΣ', 'ας', 'İstanbul', 'ﬀ', 'ǰ', 'J̌', 'ᾳ', 'ᾼ', 'Ⅷ', 'ⅷ', 'Ⓐ', 'ⓐ', '𐐀', '𐐨', 'Ა', 'ა', 'Ꭰ', 'ꭰ', 'ẛ', 'ſ',
  'K', 'Å', '①', '½', '٣', '\ue000', 'x\ue000', '\uf8ff', '\ufb01', '\u{10ffff}', '\u{10ffff}a', '\u{e000}\u{10000}', '\u{10000}', '\ud7ff',
  '각', '\u1100\u1161\u11a8', 'が', 'か\u3099', '한국어 단어', '中文,词', 'ไทย', 'กำ', 'नमस्ते', 'नमस', 'e\u0301\u0323x', '\u0301', '\u0301a', 'a\u0301b c\u0301',
  '\u00a0', '\u2028', '\ufeff', '\u200b', '\r\n', '\u0001', '\u007f', '\u0085', 'a  b', '  ', 'x'.repeat(300), 'é'.repeat(150),
  'ÀÉÎõü', 'aeiou', 'AEIOU', 'null', 'NaN', 'Infinity', '2020-01-01', '{}', '[]', '{a,b}', '-', '--', '/* x */', 'ab~c\\d',
] // biome-ignore format: a list
const LONG_TEXTS = ['ab '.repeat(3_000), `${'É'.repeat(5_000)}z`, `${'x@y '.repeat(2_000)}Straße`]

const JSONS: readonly Plain[] = [
  [], {}, [1, { n: 2 }], [[1, [2]], []], { code: ['abc'] }, { code: { length: 2 } }, { any: '5', list: ['5', 5, '5.0'] },
  { any: 'É', list: [null, [null], {}] }, { list: { length: 3 } }, { list: 'abc' }, { items: [[{ x: 'abc' }], { x: ['abc'] }] },
  { items: { x: 'abc', y: 1 } }, { items: [null, { x: null, y: 2 }, { x: 'É' }] }, { deep: [{ size: 1 }] }, { deep: null }, { deep: 'size' },
  { deep: { size: '1', tag: [] } }, { deep: { size: 1e300, tag: 5e-324 } }, { any: 0.1, list: [0.1, 1e21, -0.5, 100000000000000000000] },
  { 'a b': 1, any: { any: 1 } }, { code: '%', any: '_' }, { code: 'a\\b', any: '"' }, { code: 'x'.repeat(400) }, { 0: 'zero', any: true },
  { flag: 'true' }, { flag: 1 }, { flag: null, code: null }, { __proto__x: 1 }, { list: [true, false, 'true', 1, 0] }, { length: 5 }, [0, 1, 2],
] // biome-ignore format: a list

/** A key that differs from others in case, accents or blanks alone. */
export const oddKey = (random: Random): string => random.pick([...TEXTS.slice(0, 60), ...ODD_TEXTS])

/** A value of an attribute; undefined if there is no odd one. */
export function oddValue(random: Random, { type, maxLength }: StorageSpec): Plain | undefined {
  switch (type) {
    case 'string':
      return maxLength === undefined && random.chance(0.03)
        ? random.pick(LONG_TEXTS).slice(0, 12_000)
        : random.pick(ODD_TEXTS)
    case 'object':
      return random.pick(JSONS)
    case 'duration':
      return random.pick([-1, -1_500, 86_400_000, 172_800_001, 359_999_999])
    case 'number':
    case 'float':
      return random.pick([1e15, 123456789.125, 1e-20, -2.5, 16777217, 3.4e38, 0.1 + 0.7])
    default:
      return undefined
  }
}
