import t from 'tap'
import fc from '../support/runner/fast-check.ts'
import { guessFile, loadGuessed, typesOf } from '../support/commands/guessed-class.ts'

/** Any table that is written as CSV is loaded with the same values, into the dataclass that is proposed for it. */

t.setTimeout(120_000)

/** A way to write a file. */
interface Style {
  readonly delimiter: string
  readonly lineEnd: string
  readonly decimal: '.' | ','
  readonly dates: 'ymd' | 'dmy' | 'mdy'
  readonly encoding: 'utf8' | 'utf16le'
  readonly quotesAll: boolean
}

const style: fc.Arbitrary<Style> = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  lineEnd: fc.constantFrom('\n', '\r\n'),
  decimal: fc.constantFrom('.', ','),
  dates: fc.constantFrom('ymd', 'dmy', 'mdy'),
  encoding: fc.constantFrom('utf8', 'utf16le'),
  quotesAll: fc.boolean(),
})

/** Kind of the values of a column: how they are written, and what a load makes of them. */
interface Kind {
  readonly type: RegExp
  readonly value: fc.Arbitrary<unknown>
  write(value: never, style: Style): string
  read?(value: never): unknown
}

const KINDS: Readonly<Record<string, Kind>> = {
  text: {
    type: /^string$/,
    // A letter in front, so that no text looks like a number.
    value: fc.string({ unit: 'grapheme', maxLength: 30 }).map(text => `x${text.replaceAll('\0', '')}`),
    write: (text: string) => text,
  },
  integer: { type: /^long$/, value: fc.integer(), write: (value: number) => String(value) },
  large: {
    type: /^long/,
    value: fc.bigInt({ min: -(2n ** 52n), max: 2n ** 52n }),
    write: (value: bigint) => String(value),
    read: (value: bigint) => Number(value),
  },
  number: {
    type: /^(number|decimal\(2\)|long)$/,
    value: fc.integer({ min: -1e6, max: 1e6 }).map(value => value + 0.25),
    write: (value: number, { decimal }: Style) => String(value).replace('.', decimal),
  },
  day: {
    type: /^day$/,
    value: fc.date({ min: new Date('1700-01-01'), max: new Date('2200-01-01'), noInvalidDate: true }),
    write(date: Date, { dates }: Style) {
      const [y, m, d] = dayOf(date).split('-')
      return dates === 'ymd' ? `${y}-${m}-${d}` : dates === 'dmy' ? `${d}/${m}/${y}` : `${m}/${d}/${y}`
    },
    read: (date: Date) => dayOf(date),
  },
  bool: { type: /^bool$/, value: fc.boolean(), write: (value: boolean) => String(value) },
  uuid: {
    type: /^uuid$/,
    value: fc.uuid(),
    write: (value: string) => value,
    read: (value: string) => value.replaceAll('-', '').toUpperCase(),
  },
}

const dayOf = (date: Date): string => date.toISOString().slice(0, 10)

interface Table {
  readonly style: Style
  readonly kinds: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

const table: fc.Arbitrary<Table> = fc
  .tuple(style, fc.array(fc.constantFrom(...Object.keys(KINDS)), { minLength: 1, maxLength: 8 }))
  .chain(([style, kinds]) =>
    fc.record({
      style: fc.constant(style),
      kinds: fc.constant(kinds),
      rows: fc.array(fc.tuple(...kinds.map(kind => fc.option(KINDS[kind]!.value, { freq: 6 }))), {
        minLength: 1,
        maxLength: 20,
      }),
    }),
  )

function write({ style, kinds, rows }: Table): Buffer {
  const field = (text: string): string =>
    style.quotesAll || /["\r\n]/.test(text) || text.includes(style.delimiter) || text.trim() !== text
      ? `"${text.replaceAll('"', '""')}"`
      : text
  // A row without a field would be a blank line.
  const lines = [
    ['row', ...kinds.map((kind, i) => `${kind} ${i}`)],
    ...rows.map((row, at) => [
      `r${at}`,
      ...row.map((value, i) => (value === null ? null : KINDS[kinds[i]!]!.write(value as never, style))),
    ]),
  ].map(fields => fields.map(each => (each === null ? '' : field(each))).join(style.delimiter))
  return Buffer.from(`\uFEFF${lines.join(style.lineEnd)}${style.lineEnd}`, style.encoding)
}

const isDayUnclear = ({ style, kinds, rows }: Table): boolean =>
  style.dates !== 'ymd' &&
  kinds.some((kind, i) => kind === 'day' && rows.some(row => row[i] !== null)) &&
  !rows.some(row =>
    row.some((value, i) => kinds[i] === 'day' && value !== null && Number(dayOf(value as Date).slice(8)) > 12),
  )

t.test('any table', async t => {
  const tables = fc.sample(table, 60).filter(each => !isDayUnclear(each))
  t.ok(tables.length > 40)
  const guessed = await Promise.all(tables.map(each => guessFile(write(each))))
  const loaded = await loadGuessed(t, guessed)
  for (const [at, each] of tables.entries()) {
    const label = JSON.stringify(each, (_, value) => (typeof value === 'bigint' ? String(value) : value))
    const types = Object.values(typesOf(guessed[at]!)).slice(1)
    for (const [i, kind] of each.kinds.entries())
      if (each.rows.some(row => row[i] !== null)) t.match(types[i], KINDS[kind]!.type, `${kind}: ${label}`)
    const expected = each.rows.map((row, n) => [
      `r${n}`,
      ...row.map((value, i) => (value === null ? null : (KINDS[each.kinds[i]!]!.read?.(value as never) ?? value))),
    ])
    t.strictSame(loaded[at]!.rejected, [], label)
    t.strictSame(loaded[at]!.rows, expected, label)
  }
})
