/** Exact numbers of clients: random JSON, made together with the value that it stands for. */
import { deepStrictEqual } from 'node:assert'
import t from 'tap'
import { parseExact, writeExact } from '../../plugins/client/runtime/exact.ts'
import fc from '../support/runner/fast-check.ts'
import { isLong } from '../support/runner/rounds.ts'

interface Both {
  readonly text: string
  readonly value: unknown
}

/** A number in JSON, and as the client reads it: one that a double cannot hold becomes a bigint, or the text of its digits. */
const numbers = fc
  .tuple(fc.boolean(), fc.bigInt(0n, 2n ** 80n), fc.option(fc.stringMatching(/^\d{1,20}$/)))
  .map(([isNegative, whole, fraction]): Both => {
    const text = `${isNegative && whole > 0n ? '-' : ''}${whole}${fraction === null ? '' : `.${fraction}`}`
    const isShort = text.replace('-', '').length < 16
    if (isShort || String(Number(text)) === text) return { text, value: Number(text) }
    return { text, value: fraction === null ? BigInt(text) : text }
  })
const others = fc
  .oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, 1e300, -2.5e-9, 123456789012345680000),
    fc.string({ unit: 'binary' }),
    // Texts that look like a number, or like the internal marker of one.
    fc.constantFrom(
      '12345678901234567890',
      '\u0000n12345678901234567890',
      '\\"12345678901234567890',
      'a"',
      '\\',
      '[1,2,',
    ),
  )
  .map((value): Both => ({ text: JSON.stringify(value), value: Object.is(value, -0) ? 0 : value }))
const { json } = fc.letrec<{ json: Both }>(tie => ({
  json: fc.oneof(
    { depthSize: 'small' },
    numbers,
    others,
    fc.array(tie('json')).map(all => ({
      text: `[${all.map(({ text }) => text).join(', ')}]`,
      value: all.map(({ value }) => value),
    })),
    fc
      .array(
        fc.tuple(
          fc.string().filter(name => name !== '__proto__'),
          tie('json'),
        ),
      )
      .map(entries => ({
        text: `{${entries.map(([name, { text }]) => `${JSON.stringify(name)}:${text}`).join(',')}}`,
        value: Object.fromEntries(entries.map(([name, { value }]) => [name, value])),
      })),
  ),
}))
const rounds = { numRuns: isLong ? 20_000 : 1_000 }

t.test('answers are read with all digits', async () => {
  fc.assert(
    fc.property(json, ({ text, value }) => deepStrictEqual(parseExact(text), value)),
    rounds,
  )
})

t.test('bodies are written with all digits', async t => {
  fc.assert(
    fc.property(json, ({ value }) => {
      deepStrictEqual(parseExact(writeExact(value)), value)
    }),
    rounds,
  )
  t.equal(
    writeExact({ a: 12n, b: new Float32Array([1, 0.5]), c: new Date(0) }),
    '{"a":12,"b":[1,0.5],"c":"1970-01-01T00:00:00.000Z"}',
  )
})

t.test('texts that look like the marks of numbers, and powers with many digits, are read as what they are', async t => {
  const long = 12345678901234567890n
  const cases: readonly (readonly [name: string, text: string, value: unknown])[] = [
    ['a mark', `["\\u00000n7", ${long}]`, ['\u00000n7', long]],
    ['a mark with an escaped letter', `["\\u00000\\u006e7", ${long}]`, ['\u00000n7', long]],
    ['a mark with escaped digits', `["\\u0000\\u0030nx", ${long}]`, ['\u00000nx', long]],
    ['several marks', `["\\u00000n\\u00001n", {"\\u00002n": ${long}}]`, ['\u00000n\u00001n', { '\u00002n': long }]],
    ['a power', '[1e0000000000000000002]', [100]],
    ['a power with a sign', '[1E+0000000000000000002, 100e-0000000000000000002]', [100, 1]],
  ]
  for (const [name, text, value] of cases) t.strictSame(parseExact(text), value, name)
  t.equal(writeExact(['\u00000n7', 'x"\u00001n8', 5n]), '["\\u00000n7","x\\"\\u00001n8",5]')
})

t.test('documents of some megabytes take no time that grows with the square of their size', async t => {
  const long = '12345678901234567'
  const numbers = parseExact(`[${`${long},`.repeat(300_000)}1]`) as unknown[]
  t.equal(numbers.length, 300_001)
  const letters = 'n'.repeat(1_000_000)
  t.strictSame(parseExact(`["\\u0000${letters}",${long}]`), [`\u0000${letters}`, BigInt(long)])
  t.equal(writeExact([`\u0000${letters}`, 1n]), `["\\u0000${letters}",1]`)
})
