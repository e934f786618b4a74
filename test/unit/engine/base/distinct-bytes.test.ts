import t from 'tap'
import { DistinctBytes } from '../../../../engine/base/distinct-bytes.ts'
import { randomOf } from '../../../support/base/random.ts'

const numbersOf = (distinct: DistinctBytes, strings: readonly Buffer[]): number[] =>
  strings.map(string => distinct.numberOf(Buffer.concat([Buffer.from('?'), string]), 1, 1 + string.length))

const sortedOf = (distinct: DistinctBytes): { strings: string[]; places: number[] } => {
  const { bytes, ends, places } = distinct.sorted()
  const strings = Array.from(ends, (end, i) => Buffer.from(bytes.subarray(ends[i - 1] ?? 0, end)).toString('hex'))
  return { strings, places: [...places] }
}

t.test('equal strings have one number', t => {
  const distinct = new DistinctBytes()
  const strings = ['b', 'a', '', 'b', 'ab', 'a'].map(text => Buffer.from(text))
  t.same(numbersOf(distinct, strings), [0, 1, 2, 0, 3, 1])
  t.same(sortedOf(distinct), { strings: ['', '61', '6162', '62'], places: [3, 1, 0, 2] })
  t.end()
})

for (const [name, length, alphabet] of [
  ['short strings, of which many are equal', 3, 3],
  ['long strings with the same beginning', 12, 2],
  ['strings of all bytes', 8, 256],
] as const) {
  t.test(name, t => {
    const random = randomOf(length)
    const strings = Array.from({ length: 5_000 }, () =>
      Buffer.from(Array.from({ length: random.integer(0, length) }, () => random.integer(0, alphabet - 1))),
    )
    const distinct = new DistinctBytes()
    const numbers = numbersOf(distinct, strings)
    const expected = [...new Set(strings.map(string => string.toString('latin1')))]
    t.same(
      numbers,
      strings.map(string => expected.indexOf(string.toString('latin1'))),
    )
    const sorted = [...expected].sort((a, b) => Buffer.compare(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1')))
    const { strings: found, places } = sortedOf(distinct)
    t.same(
      found,
      sorted.map(string => Buffer.from(string, 'latin1').toString('hex')),
    )
    t.same(
      places,
      expected.map(string => sorted.indexOf(string)),
    )
    t.end()
  })
}

t.test('strings that arrive in order stay as they are', t => {
  const distinct = new DistinctBytes()
  const strings = Array.from({ length: 3_000 }, (_, i) => Buffer.from(String(i).padStart(5, '0')))
  numbersOf(distinct, strings)
  const { places } = distinct.sorted()
  t.ok(places.every((place, number) => place === number))
  t.end()
})
