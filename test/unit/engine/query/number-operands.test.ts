/** Operands that are compared with numbers: a text is a number as a whole, or an error. */
import t from 'tap'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { fakeStore } from '../../../support/engine/fake-table.ts'
import { runQuery } from '../../../support/engine/run-query.ts'

const TYPES = ['byte', 'word', 'long', 'long64', 'number', 'float', 'decimal', 'duration'] as const
const typed = (type: string) => ({ type, ...(type === 'decimal' && { scale: 2 }) })
const properties = { size: { type: 'number' } }
const catalog = loadModel({
  name: 'numbers',
  dataClasses: {
    Row: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        any: { type: 'object', properties },
        ...Object.fromEntries(TYPES.map(type => [type, typed(type)])),
      },
    },
  },
})
/** Values of every type; of a decimal in its unit. */
const VALUES = [0, 1, 20, 100]
const store = fakeStore(catalog, {
  Row: VALUES.map((value, ID) => ({
    ID,
    any: { size: value, n: value, text: `1,00${ID}` },
    ...Object.fromEntries(TYPES.map(type => [type, type === 'decimal' ? value * 100 : value])),
  })),
})
const find = (filter: string, params?: unknown): number[] => [
  ...runQuery(catalog, store, { dataClass: 'Row', filter, params }).rowIds,
]

/** Texts that are numbers, with the value. */
const NUMBERS: readonly (readonly [text: string, value: number])[] = [
  ['20', 20],
  ['+20', 20],
  ['20.', 20],
  ['020', 20],
  ['2e1', 20],
  ['2E+1', 20],
  ['200e-1', 20],
  ['.2e2', 20],
  ['-0', 0],
  [' 20 ', 20],
]

/** Texts that are none, with the number that the message proposes. */
const NO_NUMBERS: readonly (readonly [text: string, proposal?: string])[] = [
  ['1,000,000', '1000000'],
  ['1,000', '1000'],
  ['-1,234,567.5', '-1234567.5'],
  ['10,00,000', '1000000'],
  ['1_000_000', '1000000'],
  ["1'000'000", '1000000'],
  ['1 000 000', '1000000'],
  ['1\u00a0000', '1000'],
  ['1.000.000', '1000000'],
  ['1.5M', '1500000'],
  ['20k', '20000'],
  ['20 K', '20000'],
  ['2B', '2000000000'],
  ['2.3k', '2300'],
  ['２０', '20'],
  ['−20', '-20'],
  ['1,5'],
  ['1,00'],
  ['1,0000'],
  ['1.000,50'],
  ['v20'],
  ['20v'],
  ['20€'],
  ['20 m'],
  ['20 30'],
  ['1e'],
  ['1e1.5'],
  ['--1'],
  ['1-1'],
  ['.'],
  ['0x10'],
  ['0b1'],
  ['20n'],
  ['Infinity'],
  ['-Infinity'],
  ['NaN'],
  ['٢٠'],
  ['true'],
  [' '],
  [''],
]

for (const type of TYPES) {
  t.test(`${type}: a text that is a number is read exactly`, async t => {
    for (const [text, value] of NUMBERS) {
      const found = VALUES.flatMap((each, row) => (each === value ? [row] : []))
      t.same(find(`${type} = "${text}"`), found, `"${text}"`)
      t.same(find(`${type} = :1`, [text]), found, `:1 with "${text}"`)
      t.same(find(`${type} in :1`, [[text]]), found, `in :1 with "${text}"`)
      if (!text.includes(' ')) t.same(find(`${type} >= ${text} and ${type} <= ${text}`), found, text)
    }
  })

  t.test(`${type}: a text that is no number as a whole is refused, never cut`, async t => {
    for (const [text, proposal] of NO_NUMBERS) {
      const message = proposal === undefined ? /; it takes [^;]*$/ : new RegExp(`; write ${proposal}$`)
      const refuses = (name: string, filter: string, params?: unknown) =>
        t.throws(() => find(filter, params), { name, message }, `${filter} with ${params}`)
      refuses('QUERY.VALUE', `${type} > "${text}"`)
      refuses('QUERY.PLACEHOLDER_TYPE', `${type} > :1`, [text])
      refuses('QUERY.PLACEHOLDER_TYPE', `${type} in :1`, [[1, text]])
      // Blanks, commas and quotes have a meaning of their own in lists and words.
      if (/^[^\s,'"]+$/.test(text)) refuses('QUERY.VALUE', `${type} in [1,${text}]`)
      if (/^[^\s"]+$/.test(text)) refuses('QUERY.VALUE', `${type} > ${text}`)
    }
  })
}

t.test('a time of day is a duration, a text around it is not', async t => {
  t.same(find('duration = 00:00:00.02'), [2])
  t.same(find('duration < "00:01"'), [0, 1, 2, 3])
  for (const text of ['8:30h', '1:30:61', '1:2:3:4', '90 min', 'PT1H'])
    t.throws(() => find(`duration > "${text}"`), { name: 'QUERY.VALUE', message: /a time such as 01:30:00/ }, text)
})

t.test('the comma of a list parts its elements', async t => {
  t.same(find('long in [1,000]'), [0, 1], '1 and 0')
  t.same(find('long in [1,20]'), [1, 2])
})

t.test('numbers of plugin code are compared as they are, if they are finite', async t => {
  for (const type of TYPES) {
    t.same(find(`${type} = :1`, [20]), [2], type)
    for (const number of [Number.NaN, Infinity]) {
      const expected = { name: 'QUERY.PLACEHOLDER_TYPE', message: new RegExp(`holds the number ${number};`) }
      t.throws(() => find(`${type} < :1`, [number]), expected, type)
    }
  }
})

t.test('a number that is not zero is never compared as zero, nor one beyond doubles as another', async t => {
  const INTEGERS = ['byte', 'word', 'long', 'long64', 'decimal']
  for (const type of TYPES) {
    for (const text of ['1e-400', '-1e-400', '1e400']) {
      const json = JSON.parse(JSON.stringify([text])) as unknown
      for (const [filter, params] of [
        [`${type} >= ${text}`, undefined],
        [`${type} >= :1`, json],
        [`${type} >= :1`, [Object(text)]],
      ] as const) {
        const at = `${filter} ${text}`
        if (!INTEGERS.includes(type)) t.throws(() => find(filter, params), { message: new RegExp(text) }, at)
        else t.same(find(filter, params), text === '1e400' ? [] : text === '1e-400' ? [1, 2, 3] : [0, 1, 2, 3], at)
      }
    }
  }
  for (const path of ['any.size', 'any.n']) {
    t.throws(() => find(`${path} > 1e-400`), { name: 'QUERY.VALUE', message: /"1e-400"/ }, path)
    t.throws(() => find(`${path} < 1e400`), { name: 'QUERY.VALUE', message: /"1e400"/ }, path)
    const expected = { name: 'QUERY.PLACEHOLDER_TYPE', message: /holds the number 1e-400;/ }
    t.throws(() => find(`${path} > :1`, [Object('1e-400')]), expected, path)
  }
  t.same(find('any.n > "1e400"'), [], 'a text in quotes stays a text')
})

t.test('inside objects a declared number takes numbers, another property what the operand is', async t => {
  t.same(find('any.size > "1"'), [2, 3])
  t.throws(() => find('any.size > "1,000"'), { name: 'QUERY.VALUE', message: /write 1000/ })
  t.throws(() => find('any.size > :1', ['1,000']), { name: 'QUERY.PLACEHOLDER_TYPE', message: /write 1000/ })
  t.same(find('any.n > 1'), [2, 3])
  t.same(find('any.text = "1,002"'), [2])
  t.same(find('any.text = :1', ['1,002']), [2])
  t.same(find('any.text begin 1,00'), [0, 1, 2, 3])
  for (const filter of ['any.n > 1,000', 'any.text = 1,002', 'any.n < 1_000', 'any.n in ["a",1_000]'])
    t.throws(
      () => find(filter),
      { name: 'QUERY.VALUE', message: /a number such as 100[02], or a text in quotes/ },
      filter,
    )
})
