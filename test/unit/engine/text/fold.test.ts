import fc from 'fast-check'
import t from 'tap'
import { compareFolded, fold } from '../../../../engine/text/fold.ts'

t.test('case and accents make no difference', async t => {
  for (const [a, b] of [
    ['Ada', 'aDA'],
    ['Élan', 'elan'],
    ['E\u0301lan', 'élan'],
    ['İzmir', 'izmir'],
    ['ΟΔΟΣ', 'οδος'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['Ångström', 'ANGSTROM'],
  ] as const) {
    t.equal(fold(a), fold(b), `${a} = ${b}`)
  }
})

t.test('letters that are not accented ones stay what they are', async t => {
  for (const [a, b] of [
    ['ø', 'o'],
    ['ß', 'ss'],
    ['æ', 'ae'],
    ['ı', 'i'],
    ['ł', 'l'],
  ] as const) {
    t.not(fold(a), fold(b), `${a} ≠ ${b}`)
  }
})

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('Σ', 'ς', 'a', 'É', '\u0301', '\u0323', 'İ', ' ', '\ud83d', '\ude00') }),
)

t.test('the fold of a fold is itself', async t => {
  fc.assert(
    fc.property(text, a => fold(fold(a)) === fold(a)),
    { numRuns: 2000 },
  )
  t.pass()
})

t.test('a text that begins with another does so folded', async t => {
  fc.assert(
    fc.property(text, text, (a, b) => fold(a + b).startsWith(fold(a)) || /[\ud800-\udbff]$/.test(a)),
    { numRuns: 2000 },
  )
  t.pass()
})

t.test('folded texts sort by code units', async t => {
  t.strictSame(['b', 'a', '\uffff', '😀', 'ab'].sort(compareFolded), ['a', 'ab', 'b', '😀', '\uffff'])
})
