/** `tesser load` reports rows that cannot be saved, and refuses files that cannot be read. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ProtocolError } from '../../../engine/base/errors.ts'
import { loadModel } from '../../../engine/index.ts'
import type { LoadArguments } from '../../../kernel/cli/load.ts'
import { loadRows } from '../../../engine/import/load-rows.ts'
import { model, world } from './load-people.ts'

t.setTimeout(120_000)

t.test('a row that cannot be saved does not affect the others and is reported with its line', async t => {
  const { load, people } = world(t, {
    'a.ndjson':
      '{"ID":1,"name":"A"}\n{"ID":2,\n7\n{"ID":3,"name":null}\n{"ID":4,"name":"D","__proto__":{}}\n{"ID":1,"name":"again"}\n{"ID":5,"nam":"E"}\n',
  })
  const { isComplete, rejected } = await load('a.ndjson')
  t.notOk(isComplete)
  t.match(
    rejected.map(({ line, errors }) => [line, errors[0]]),
    [
      [2, /JSON/],
      [3, 'a row is a JSON object'],
      [5, /forbidden prototype property/],
      [4, 'name is mandatory and cannot be null'],
      [6, /another entity has 1 as ID/],
      [7, /no attribute "nam" in Person; did you mean "name"\?/],
    ],
  )
  t.equal((await people()).length, 1)
})

t.test(
  'whatever is wrong with some rows, the others are saved, and each problem is reported with its line',
  async t => {
    const { load, people } = world(t, {
      'a.csv': Buffer.from(
        'ID,name,woman\n1,"A,1\n2,B,1\n3,C\n4,"D" x,1\n5,E"e,1\n6,\xe9,1\n7,G,maybe\n8,H,1\n',
        'latin1',
      ),
      'b.json': '[\n{"ID":11,"name":"A},\n{"ID":12,"name":"B"},\n{"ID":13,"name":"C"\n',
    })
    const csv = await load('a.csv', { encoding: 'utf-8' })
    t.match(csv.text, /^8 rows read: 2 inserted, 6 rejected\n/)
    t.notOk(csv.isComplete)
    t.match(
      csv.rejected.map(({ line, errors, row }) => [line, errors[0], row]),
      [
        [2, /a quote ends a field before "D/, '1,"A,1'],
        [4, '2 fields for 3 columns', '["3","C"]'],
        [5, /before " x,1"/, '4,"D" x,1'],
        [6, /a quote inside a field/, '5,E"e,1'],
        [7, /not UTF-8; .* --encoding/, '6,\uFFFD,1'],
        [8, /true or false/, { ID: '7' }],
      ],
    )
    const json = await load('b.json')
    t.match(json.text, /^4 rows read: 1 inserted, 3 rejected\n/)
    t.match(
      json.rejected.map(({ line, errors }) => [line, errors[0]]),
      [
        [2, /brackets do not close/],
        [4, /brackets do not close/],
        [5, /ends inside the array/],
      ],
    )
    t.match(
      (await people()).map(({ ID }) => ID),
      [2, 8, 12],
    )
  },
)

t.test(
  'the file of errors holds rows as they were in the source, and they are loaded from it with the same options',
  async t => {
    const { load, people, cwd } = world(t, {
      'a.csv': 'ID;name;woman;big;born;extra\n1;much too long;true;1.000;31.12.2024;"{""a"":1}"\n2;;;;1.2.24;\n',
      'b.json': '[{"ID":3,\n "name":"much too long", "big":9007199254740993}]',
    })
    const given = { decimal: ',', dates: 'dmy' } as const
    const correct = () => {
      const text = readFileSync(join(cwd, 'errors.ndjson'), 'utf8')
      writeFileSync(
        join(cwd, 'right.ndjson'),
        text.replaceAll('much too long', 'short').replace('null', '"B"').replaceAll('1.2.24', '1.2.2024'),
      )
    }
    t.match((await load('a.csv', given)).rejected, [
      { line: 3, row: { ID: '2', name: null, born: '1.2.24' } },
      { line: 2, row: { ID: '1', woman: 'true', big: '1.000', born: '31.12.2024', extra: '{"a":1}' } },
    ])
    correct()
    t.match(await load('right.ndjson', given), { isComplete: true, text: '2 rows read: 2 inserted\n' })
    await load('b.json')
    correct()
    t.match(await load('right.ndjson'), { isComplete: true })
    t.match(await people(), [
      { ID: 1, name: 'short', woman: true, big: 1000, born: '2024-12-31', extra: { a: 1 } },
      { ID: 2, name: 'B', born: '2024-02-01' },
      { ID: 3, big: '9007199254740993' },
    ])
  },
)

t.test(
  'an error of a whole batch is attributed to the row that causes it; an unavailable store ends the load',
  async t => {
    const { dataClasses } = loadModel(model)
    const failure = (httpStatus: number) =>
      new ProtocolError({ name: 'X', httpStatus, entries: [{ message: 'bad', componentSignature: 'x', errCode: 1 }] })
    const run = async (httpStatus: number) => {
      const rejected: number[] = []
      const summary = await loadRows({
        target: {
          async write({ body }) {
            const rows = JSON.parse(Buffer.from(body).toString())
            if (rows.some(({ ID }: { ID: number }) => ID === 5)) throw failure(httpStatus)
            return { kind: 'save', many: true, globalStamp: 1, entities: rows.map(() => ({})) }
          },
          encodeRows: async () => undefined,
          insert: () => t.fail('nothing was encoded') as never,
          findKeys: () => t.fail('no relation is given by a value') as never,
        },
        dataClass: dataClasses[0]!,
        format: {},
        rows: (async function* () {
          for (let ID = 0; ID < 9; ID++) yield [{ line: ID + 1, text: `{"ID":${ID}}` }]
        })(),
        existing: 'reject',
        onRejected: ({ line }) => rejected.push(line),
      })
      return { summary, rejected }
    }
    t.match(await run(500), { summary: { read: 9, inserted: 8, rejected: 1 }, rejected: [6] })
    await t.rejects(run(503), { message: 'bad' })
  },
)

const refused: { name: string; file: string; more?: Partial<LoadArguments>; message: RegExp }[] = [
  { name: 'a missing file', file: 'x.csv', message: /^there is no file .*x\.csv$/ },
  {
    name: 'a file of unknown format',
    file: 'a.txt',
    message: /does not tell its format; give --format json\|ndjson\|csv/,
  },
  {
    name: 'an unknown dataclass',
    file: 'a.json',
    more: { into: 'Persn' },
    message: /^there is no dataclass "Persn"; did you mean "Person"\?$/,
  },
  {
    name: 'an unknown column',
    file: 'a.csv',
    message: /^column "nme" is not an attribute of Person; did you mean "name"\?$/,
  },
  {
    name: 'a wrong quote in the header',
    file: 'b.csv',
    message: /^line 1, the header: a quote is opened and not closed/,
  },
  { name: 'a duplicate column', file: 'e.csv', message: /^there are two columns "ID"/ },
  {
    name: 'a .gz file that is not compressed',
    file: 'c.csv.gz',
    message: /c\.csv\.gz cannot be read: incorrect header check/,
  },
  {
    name: 'UTF-16 as UTF-8',
    file: 'd.csv',
    more: { encoding: 'utf-8' },
    message: /^the file is UTF-16; give --encoding utf-16le/,
  },
  {
    name: 'an unknown encoding',
    file: 'e.csv',
    more: { encoding: 'x' },
    message: /^there is no encoding "x"; use utf-8, win/,
  },
  {
    name: 'a delimiter of several characters',
    file: 'e.csv',
    more: { delimiter: '||' },
    message: /one character, or the/,
  },
  {
    name: 'to resume a load that was not begun',
    file: 'e.csv',
    more: { resume: true },
    message: /^there is nothing to resume/,
  },
]
for (const { name, file, more, message } of refused) {
  t.test(`${name} is refused`, async t => {
    const { load } = world(t, {
      'a.txt': '',
      'a.json': '[]',
      'a.csv': 'ID,nme\n1,A\n',
      'b.csv': 'ID,"name\n1,A\n',
      'c.csv.gz': 'ID,name\n',
      'd.csv': Buffer.from('\uFEFFID,name\n1,A\n', 'utf16le'),
      'e.csv': 'ID,name,ID\n1,A,1\n',
    })
    await t.rejects(load(file, more), { message })
  })
}
