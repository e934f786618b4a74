import t from 'tap'
import { compareFolded, fold } from '../../../../../engine/base/text/fold.ts'
import { cpuMicroseconds } from '../../../../support/base/cpu.ts'
import fc from '../../../../support/runner/fast-check.ts'

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

t.test('letters that are not accented forms stay as they are', async t => {
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

t.test('folding is idempotent', async t => {
  fc.assert(
    fc.property(text, a => fold(fold(a)) === fold(a)),
    { numRuns: 2000 },
  )
  t.pass()
})

t.test('a prefix of a text is a prefix when both are folded', async t => {
  fc.assert(
    fc.property(text, text, (a, b) => fold(a + b).startsWith(fold(a)) || /[\ud800-\udbff]$/.test(a)),
    { numRuns: 2000 },
  )
  t.pass()
})

t.test('folded texts sort by code units', async t => {
  t.strictSame(['b', 'a', '\uffff', '😀', 'ab'].sort(compareFolded), ['a', 'ab', 'b', '😀', '\uffff'])
})

/** The definition step by step, without regard to speed; marks are removed twice, since a lower-case letter may have marks again. */
function naive(text: string): string {
  const withoutMarks = (each: string) => [...each.normalize('NFD')].filter(letter => !/\p{M}/u.test(letter)).join('')
  return withoutMarks(withoutMarks(text).toLowerCase()).replaceAll('ς', 'σ')
}

t.test('every character is folded as defined, in short texts and in long ones', async t => {
  for (const [kind, count] of [
    ['short', 20],
    ['long', 1000],
  ] as const) {
    const wrong: string[] = []
    for (let start = 0; start <= 0x10ffff; start += count) {
      const points = Array.from({ length: Math.min(count, 0x110000 - start) }, (_, i) => start + i)
      const characters = points.map(point => String.fromCodePoint(point)).join('|')
      if (fold(characters) !== naive(characters)) wrong.push(start.toString(16))
    }
    t.same(wrong, [], kind)
  }
})

t.test('any text is folded as defined', async t => {
  const marks = fc.string({
    unit: fc.constantFrom('\u0300', '\u0323', '\u0344', '\u{1d167}', 'e', 'ẛ', '각', 'ᄀ', 'ᅡ'),
  })
  fc.assert(
    fc.property(fc.array(fc.oneof(text, marks), { maxLength: 40 }), parts => {
      const whole = parts.join('')
      return fold(whole) === naive(whole)
    }),
    { numRuns: 2000 },
  )
  t.pass()
})

t.test('a fold takes time in proportion to the length of the text', async t => {
  const worst = {
    'marks in the wrong order': `a${'\u0300\u0323'.repeat(500)}`,
    'marks beyond the first plane': `a${'\u{1d167}\u{1d16e}'.repeat(250)}`,
    'marks that decompose': '\u0344'.repeat(1000),
    'letters with marks': 'ệ'.repeat(1000),
    'Hangul syllables': '각'.repeat(1000),
  }
  for (const [name, text] of Object.entries(worst)) {
    const [few, many] = [10, 300].map(times => {
      const long = text.repeat(times)
      const runs = Array.from({ length: times === 10 ? 20 : 3 }, () => cpuMicroseconds(() => fold(long)))
      return Math.min(...runs) / times
    }) as [number, number]
    t.ok(
      many < 8 * few + 50,
      `${name}: ${few.toFixed(1)} µs a thousand characters, ${many.toFixed(1)} of 30 times as many`,
    )
  }
  t.equal(fold(`a${'\u{1d167}'.repeat(10_000_000)}`), 'a', 'ten million marks')
})
