/** Rows that are assembled from the bytes of files and bodies are the same as rows of parsed values. */
import t from 'tap'
import { ProtocolError } from '../../../../engine/base/errors.ts'
import { asNewEntity, rowBatch } from '../../../../engine/import/row-batch.ts'
import { RowEncoder } from '../../../../engine/import/row-encoder.ts'
import { type RowFormat, RowReader } from '../../../../engine/import/row-reader.ts'
import type { EncodedRows } from '../../../../engine/write/contract/encoded-rows.ts'
import { TRUSTED_BODY } from '../../../../engine/write/contract/write-limits.ts'
import type { ElementEncoder } from '../../../../engine/write/body/element-encoder.ts'
import { parserOf } from '../../../../engine/write/body/parse-body.ts'
import { parseParts, splitBody } from '../../../../engine/write/body/split-body.ts'
import { randomOf } from '../../../support/base/random.ts'
import { isLong, longCount, seeds } from '../../../support/runner/rounds.ts'
import { randomObject, randomRow, randomWorld, type World } from './copied-world.ts'

/** Everything of encoded rows as one text. */
const wholeOf = ({ ends, rows, keyDigits, indexes, foreignKeys }: EncodedRows): string =>
  [
    [ends, keyDigits, rows.toString('hex')],
    ...indexes.map(({ values, numbers }) => [numbers, values.ends, Buffer.from(values.bytes).toString('hex')]),
    ...foreignKeys.map(({ values, numbers }) => [numbers, values.map(value => `${typeof value} ${String(value)}`)]),
  ].join('\n')
const rowCount = ({ ends }: EncodedRows): number => ends.filter((end, i) => end > (ends[i - 1] ?? 0)).length

/** Counts the elements that a copier encodes. */
function counted(encoder: ElementEncoder): { count: number } {
  const found = { count: 0 }
  const { copier } = encoder
  if (!copier) return found
  const finish = copier.finish.bind(copier)
  copier.finish = () => {
    const isCopied = finish()
    if (isCopied) found.count++
    return isCopied
  }
  return found
}

async function encodeBatch(
  { dataClass }: World,
  format: RowFormat,
  texts: readonly string[],
  encoder: ElementEncoder,
): Promise<void> {
  const rows = new RowEncoder(dataClass, format, encoder)
  const { bytes, ends } = await rowBatch(format, texts)
  for (let i = 0; i < ends.length; i++) rows.add(bytes as Buffer, ends[i - 1] ?? 0, ends[i]!)
}

const FORMATS: readonly Partial<RowFormat>[] = [
  {},
  { decimal: '.', dates: 'ymd' },
  { decimal: '.', dates: 'mdy', currencies: ['€', 'kr'], years: 1950 },
  { decimal: ',', dates: 'dmy' },
  { nulls: ['0', 'x', '2024-02-29', 'true'] },
  { nulls: ['-'] },
]

t.test('texts of several turns', async t => {
  const random = randomOf(1)
  const texts = Array.from({ length: 3_000 }, (_, i) =>
    random.pick(['', `${i},Łódź`, 'x'.repeat(random.integer(0, 300)), `${'é'.repeat(40)}\udc80`, '🙂'.repeat(9)]),
  )
  texts[2_000] = 'long,'.repeat(50_000)
  const { bytes, ends } = await rowBatch({} as RowFormat, texts)
  t.same(
    texts.map((_, i) => (bytes as Buffer).toString('utf8', ends[i - 1] ?? 0, ends[i])),
    texts.map(text => (text.isWellFormed() ? text : '')),
  )
})

/** Copied elements and all encoded ones, of all seeds. */
const totals = { csv: { copied: 0, encoded: 0 }, bodies: { copied: 0, encoded: 0 }, json: { copied: 0, encoded: 0 } }

for (const seed of seeds(isLong ? longCount(60) : 4)) {
  t.test(`rows of CSV (seed ${seed})`, async t => {
    const random = randomOf(seed)
    for (let round = 0; round < 60; round++) {
      const world = randomWorld(random)
      // A header has at least one column.
      const columns = [...world.types].filter((_, i) => i === 0 || random.chance(0.9))
      const attributes = columns.map(([name]) => (random.chance(0.05) ? null : name))
      const format: RowFormat = { csv: { delimiter: ',', attributes }, ...random.pick(FORMATS) }
      const texts = Array.from({ length: 30 }, () =>
        randomRow(
          random,
          columns.map(([, type]) => type),
        ),
      )
      if (random.chance(0.2)) texts[5] = `a\udc80${texts[5]}`
      const plain = world.newEncoder()
      const reader = new RowReader(world.dataClass, format)
      for (const text of texts) {
        const fields = text === '' ? undefined : reader.fields(text)
        if (fields) plain.addFields(reader.attributes!, fields)
        else plain.addNothing()
      }
      const encoder = world.newEncoder()
      const counter = counted(encoder)
      await encodeBatch(world, format, texts, encoder)
      const expected = plain.finish()
      const [found, wanted] = [wholeOf(encoder.finish()), wholeOf(expected)]
      if (found !== wanted) {
        t.equal(found, wanted, `round ${round}: ${JSON.stringify({ columns, format, texts })}`)
        break
      }
      totals.csv.copied += counter.count
      totals.csv.encoded += rowCount(expected)
    }
    t.end()
  })

  t.test(`elements of bodies (seed ${seed})`, t => {
    const random = randomOf(seed)
    let refused = 0
    for (let round = 0; round < 80; round++) {
      const world = randomWorld(random)
      const isBroken = random.chance(0.2)
      const objects = Array.from({ length: random.integer(1, 20) }, () => randomObject(random, world, isBroken))
      const text = `${random.pick(['[', ' [ '])}${objects.join(random.pick([',', ' ,\n ']))}]`
      const encode = (isCopying: boolean) => {
        const encoder = world.newEncoder()
        const found = counted(encoder)
        const body = Buffer.from(text)
        const reader = { parse: parserOf(world.dataClass), add: (element: unknown) => encoder.add(element) }
        try {
          const { ranges } = splitBody(body, TRUSTED_BODY, () => {})
          parseParts(body, ranges, 0, () => {}, isCopying ? { ...reader, copier: encoder.copier } : reader)
        } catch (error) {
          if (!(error instanceof ProtocolError)) throw error
          return { error: error.message, count: 0, rows: 0 }
        }
        const rows = encoder.finish()
        return { whole: wholeOf(rows), count: found.count, rows: rowCount(rows) }
      }
      const [plain, found] = [encode(false), encode(true)]
      const { count, ...outcome } = found
      if (outcome.error !== plain.error || outcome.whole !== plain.whole) {
        t.same(outcome, plain, `round ${round}: ${JSON.stringify(text)}`)
        break
      }
      totals.bodies.copied += count
      totals.bodies.encoded += plain.rows
      if (plain.error !== undefined) refused++
    }
    t.ok(refused > 0)
    t.end()
  })

  t.test(`rows of JSON (seed ${seed})`, async t => {
    const random = randomOf(seed)
    for (let round = 0; round < 40; round++) {
      const world = randomWorld(random)
      const format: RowFormat = random.chance(0.8) ? {} : { names: { x0: 'clé' } }
      const texts = Array.from({ length: 20 }, () => randomObject(random, world, random.chance(0.1)).trim())
      const plain = world.newEncoder()
      const reader = new RowReader(world.dataClass, format)
      for (const text of texts) {
        const read = reader.read({ line: 0, text })
        plain.add(read.value instanceof Error ? undefined : asNewEntity(read, world.dataClass).value)
      }
      const encoder = world.newEncoder()
      const counter = counted(encoder)
      await encodeBatch(world, format, texts, encoder)
      const [found, expected] = [encoder.finish(), plain.finish()]
      if (wholeOf(found) !== wholeOf(expected)) {
        t.equal(wholeOf(found), wholeOf(expected), `round ${round}: ${JSON.stringify({ format, texts })}`)
        break
      }
      totals.json.copied += counter.count
      totals.json.encoded += rowCount(expected)
    }
    t.end()
  })
}

t.test('most elements are copied', t => {
  for (const [kind, share] of [
    ['csv', 0.75],
    ['bodies', 0.45],
    ['json', 0.3],
  ] as const) {
    const { copied, encoded } = totals[kind]
    t.ok(copied > encoded * share, `${kind}: ${copied} of ${encoded} elements`)
  }
  t.end()
})
