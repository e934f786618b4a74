import t from 'tap'
import { significant } from '../../engine/base/decimal-digits.ts'
import { roundNumbers, stringifyExact } from '../../engine/base/exact-json.ts'
import fc from '../support/runner/fast-check.ts'
import { type GuessedFile, guessFile, loadGuessed, typesOf } from '../support/commands/guessed-class.ts'

/**
 * Columns of any mixture of values: every row of a file is loaded into the dataclass that is proposed for it, and each value is the one that
 * a naive reading of the file gives, to the last digit, unless the proposal says that it is not.
 */

t.setTimeout(120_000)

/** A field of CSV or the JSON of a value; null for an empty field. */
type Written = string | null

const digits = (min: number, max: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max })
const number = fc
  .tuple(fc.constantFrom('', '-'), fc.constantFrom('0', '1', '42', '9007199254740993'), digits(0, 25))
  .map(([sign, whole, places]) => `${sign}${whole}${places === '' ? '' : `.${places}`}`)

/** Forms of values that are the same in CSV and in JSON. */
const BARE: readonly fc.Arbitrary<string>[] = [
  fc.integer().map(String),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => JSON.stringify(value)),
  number,
  fc.constantFrom('true', 'false'),
  fc.constantFrom('1e-400', '-0', '1.10', '1E5'),
  fc.jsonValue({ maxDepth: 2 }).map(value => JSON.stringify({ value, long: 1 })),
]
const TEXTS: readonly fc.Arbitrary<string>[] = [
  digits(1, 12).map(code => `0${code}`),
  fc.constantFrom('NO', 'Y', 'T', 'yes', 'no', 'ON', 'N/A', 'null', '-'),
  fc
    .date({ min: new Date('1700-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
    .map(each => each.toISOString()),
  fc.constantFrom('2024-02-29', '2023-12-31', '2023-02-29', '08:30', '23:59:59.1234'),
  fc.uuid(),
  fc.string({ unit: 'grapheme', maxLength: 20 }).map(text => text.replaceAll('\0', '')),
]

interface Table {
  readonly format: 'csv' | 'json' | 'ndjson'
  readonly rows: readonly (readonly Written[])[]
}

/** A column has values of few forms, so that many columns are of one type. */
const columnOf = (forms: readonly fc.Arbitrary<string>[], rows: number): fc.Arbitrary<Written[]> =>
  fc.subarray([...forms.keys()], { minLength: 1, maxLength: 2 }).chain(some =>
    fc.array(fc.option(fc.oneof(...some.map(form => forms[form]!)), { freq: 8 }), {
      minLength: rows,
      maxLength: rows,
    }),
  )

const table: fc.Arbitrary<Table> = fc
  .tuple(fc.constantFrom('csv', 'json', 'ndjson'), fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 5 }))
  .chain(([format, rows, columns]) => {
    const forms =
      format === 'csv' ? [...BARE, ...TEXTS] : [...BARE, ...TEXTS.map(form => form.map(text => JSON.stringify(text)))]
    return fc
      .array(columnOf(forms, rows), { minLength: columns, maxLength: columns })
      .map(
        all => ({ format, rows: Array.from({ length: rows }, (_, row) => all.map(column => column[row]!)) }) as Table,
      )
  })

function write({ format, rows }: Table): Buffer {
  const field = (text: Written): string => (text === null ? '' : `"${text.replaceAll('"', '""')}"`)
  const names = rows[0]!.map((_, i) => `c${i}`)
  if (format === 'csv')
    return Buffer.from(
      [['row', ...names], ...rows.map((row, i) => [`r${i}`, ...row])]
        .map(each => `${each.map(field).join(',')}\n`)
        .join(''),
    )
  const objects = rows.map((row, i) => `{"row":"r${i}",${row.map((json, at) => `"c${at}":${json}`).join(',')}}`)
  return Buffer.from(format === 'json' ? `[${objects.join(',\n')}]` : objects.join('\n'))
}

const isNegative = (text: string): boolean => text.trim().startsWith('-') && significant(text.trim()) !== ''

/** True if a stored value is the one that is written. */
function isSame(type: string, written: Written, stored: unknown, isCsv: boolean, nulls: readonly string[]): boolean {
  if (written === null || (!isCsv && written === 'null')) return stored === null
  const json: unknown = isCsv ? written : JSON.parse(written)
  const text = typeof json === 'string' ? json : written
  if (type === 'string') return stored === text
  if (stored === null) return isCsv && nulls.includes(text.trim())
  switch (type.replace(/\(.*/, '')) {
    case 'bool':
      return stored === /^\s*(?:true|yes|t|y)\s*$/i.test(text)
    case 'number':
      return Number(stored) === Number(text) && isWhole(text)
    case 'long':
    case 'long64':
    case 'decimal':
      return significant(text.trim()) === significant(String(stored)) && isNegative(text) === isNegative(String(stored))
    case 'date':
      return Date.parse(text) === Date.parse(stored as string)
    case 'day':
      return stored === text.trim()
    case 'duration':
      return stored === clock(text)
    case 'uuid':
      return stored === text.trim().replaceAll('-', '').toUpperCase()
    default:
      return stringifyExact(roundNumbers(stored)) === JSON.stringify(JSON.parse(text))
  }
}

/** True if a double has the digits of a text. */
function isWhole(text: string): boolean {
  const wanted = significant(text.trim())
  const count = wanted.indexOf('e')
  return count <= 0 ? Number(text) === 0 : count <= 100 && significant(Number(text).toPrecision(count)) === wanted
}

function clock(text: string): number {
  const [hours, minutes, seconds = 0] = text.trim().split(':').map(Number) as [number, number, number?]
  return (hours * 60 + minutes) * 60_000 + seconds * 1000
}

t.test('any mixture of values', async t => {
  const tables = fc.sample(table, 80)
  const guessed: GuessedFile[] = []
  for (const each of tables) guessed.push(await guessFile(write(each), {}, each.format))
  const loaded = await loadGuessed(t, guessed)
  const seen = new Set<string>()
  for (const [at, { format, rows }] of tables.entries()) {
    const { proposed, sample } = guessed[at]!
    const label = write(tables[at]!).toString()
    const types = Object.values(typesOf(guessed[at]!))
    t.strictSame([loaded[at]!.rejected, sample.unreadable], [[], []], label)
    for (const [i, row] of rows.entries()) {
      for (const [column, written] of row.entries()) {
        const type = types[column + 1]!
        seen.add(type.replace(/\(.*/, ''))
        const { loss } = proposed.columns[column + 1]!
        const stored = loaded[at]!.rows[i]?.[column + 1]
        const isRight = isSame(type, written, stored, format === 'csv', proposed.nulls)
        if (!isRight && (loss === undefined || /kept as texts/.test(loss)))
          t.fail(`${type}: ${written} became ${String(stored)} in ${label}`)
      }
    }
  }
  t.ok(seen.size >= 7, [...seen].join())
})

t.test('values behind the sample are kept as they are, or their rows are rejected', async t => {
  const tables = fc.sample(table, 80).filter(({ rows }) => rows.length > 1)
  const sampleOf = (each: Table): Table => ({ ...each, rows: each.rows.slice(0, Math.ceil(each.rows.length / 2)) })
  const guessed: GuessedFile[] = []
  for (const each of tables) guessed.push(await guessFile(write(each), {}, each.format, write(sampleOf(each))))
  const loaded = await loadGuessed(t, guessed)
  let kept = 0
  let rejected = 0
  for (const [at, { format, rows }] of tables.entries()) {
    const { proposed } = guessed[at]!
    const label = write(tables[at]!).toString()
    const types = Object.values(typesOf(guessed[at]!))
    const found = new Map(loaded[at]!.rows.map(row => [row[0], row]))
    for (const [i, row] of rows.entries()) {
      const stored = found.get(`r${i}`)
      if (i < sampleOf(tables[at]!).rows.length) t.ok(stored, label)
      else if (stored) kept++
      else rejected++
      for (const [column, written] of stored ? row.entries() : []) {
        const type = types[column + 1]!
        const { loss } = proposed.columns[column + 1]!
        if (!isSame(type, written, stored![column + 1], format === 'csv', proposed.nulls) && loss === undefined)
          t.fail(`${type}: ${written} became ${String(stored![column + 1])} in ${label}`)
      }
    }
  }
  t.ok(kept > 50 && rejected > 20, `${kept} kept, ${rejected} rejected`)
})
