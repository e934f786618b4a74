import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { RowTarget } from '../../../engine/row-target.ts'
import { ProtocolError } from '../../../engine/base/errors.ts'
import { bytesOf, loadModel, openEngine } from '../../../engine/index.ts'
import { decode } from '../../support/engine/read-request.ts'
import { loadWorld } from '../../support/commands/load-world.ts'
import { check } from '../../../kernel/cli/check.ts'
import { loadDemo } from '../../../kernel/cli/demo.ts'
import type { LoadArguments } from '../../../kernel/cli/load.ts'
import { loadRows } from '../../../engine/import/load-rows.ts'
import { engineOptions } from '../../../kernel/main.ts'

t.setTimeout(120_000)

const model = {
  name: 'test',
  dataClasses: {
    Person: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        name: { type: 'string', mandatory: true, maxLength: 10 },
        woman: { type: 'bool' },
        big: { type: 'long64' },
        born: { type: 'date', simpleDate: true },
        extra: { type: 'object' },
        note: { type: 'string', readOnly: true, scope: 'private' },
        bossID: { type: 'long' },
        boss: { kind: 'relatedEntity', type: 'Person', foreignKey: 'bossID' },
      },
    },
  },
}

const world = (t: Test, files: Record<string, string | Buffer | Record<string, string>>) => loadWorld(t, model, files)

t.test('a JSON array is loaded, private and read-only attributes and long integers included', async t => {
  const { load, people } = world(t, {
    'a.json': '[{"ID":1,"name":"Ada","big":9007199254740993,"note":"x"},{"ID":2,"name":"Bob","bossID":1}]',
  })
  const { isComplete, text } = await load('a.json')
  t.equal(text, '2 rows read: 2 inserted\n')
  t.ok(isComplete)
  t.match(await people(), [
    { ID: 1, name: 'Ada' },
    { ID: 2, bossID: 1 },
  ])
})

t.test('words for bools in seven languages', async t => {
  const words = {
    true: 'true Yes T y 1 ja J wahr WAAR oui vrai sì si vero sí verdadero sim verdadeiro',
    false: 'false No F n 0 nein falsch nee onwaar non faux falso não NAO',
    none: 'maybe jain jaa yesno 2',
  }
  const rows = Object.values(words).flatMap(some => some.split(' '))
  const { load, people } = world(t, {
    'a.csv': `ID,name,woman\n${rows.map((word, i) => `${i},x,${word}`).join('\n')}\n`,
  })
  const { rejected } = await load('a.csv')
  t.same(
    rejected.map(({ row }: { row: { woman: string } }) => row.woman),
    words.none.split(' '),
  )
  const saved = (await people()).map(({ woman }) => woman)
  t.same(saved, [...words.true.split(' ').map(() => true), ...words.false.split(' ').map(() => false)])
})

t.test('rows may refer to rows further down, in chains', async t => {
  const { load, people } = world(t, {
    'a.ndjson':
      '{"ID":1,"name":"A","bossID":2}\n{"ID":2,"name":"B","boss":{"__KEY":3}}\n{"ID":3,"name":"C"}\n{"ID":4,"name":"D","bossID":9}\n',
  })
  const { text, rejected } = await load('a.ndjson')
  t.match(
    text,
    /^4 rows read: 3 inserted, 1 rejected\n1 row could not be saved; .*errors\.ndjson says why\nonce it is corrected: npx tesser load .*\n$/,
  )
  t.match(rejected, [{ line: 4, errors: [/no entity of Person has this key/, String], row: { ID: 4 } }])
  t.match(await people(), [{ bossID: 2 }, { bossID: 3 }, { bossID: null }])
})

t.test('numbers of NDJSON are read to their last digit, or refused', async t => {
  const values = [
    '9007199254740993.0',
    '-9.007199254740993e15',
    '9007199254740993.5',
    '1e-400',
    '1.00000000000000000001',
  ]
  const { load, people } = world(t, {
    'a.ndjson': values.map((value, i) => `{"ID":${i},"name":"A","big":${value}}\n`).join(''),
    'b.ndjson': '{"ID":10.0000000000000000001,"name":"B"}\n{"ID":11,"name":"B","extra":{"n":1e-400}}\n',
  })
  const { rejected } = await load('a.ndjson')
  t.match(
    rejected.map(({ errors }: { errors: string[] }) => errors[0]),
    values.slice(2).map(value => new RegExp(`big cannot be ${value.replaceAll('.', '\\.')}; a whole number`)),
  )
  const errors = (await load('b.ndjson')).rejected.map(({ errors }: { errors: string[] }) => errors[0])
  t.match(errors, [/ID cannot be 10\.0000000000000000001; a whole/, /extra cannot be JSON with the number 1e-400; /])
  t.strictSame(
    (await people()).map(({ big }) => String(big)),
    ['9007199254740993', '-9007199254740993'],
  )
})

t.test(
  'CSV fields are converted to the type of the attribute; an empty field is null, a quoted empty one an empty text',
  async t => {
    const { load, people } = world(t, {
      'a.csv.gz': gzipSync(
        '\uFEFFID;name;woman;born;extra;big\n1;"";true;1815-12-10;"{""a"":[1]}";9007199254740993\n2;"B;\nb";0;;;\n',
      ),
    })
    const { text, rejected } = await load('a.csv.gz', { delimiter: ';' })
    t.equal(text, '2 rows read: 2 inserted\n', JSON.stringify(rejected))
    t.match(await people(), [
      { name: '', woman: true, born: '1815-12-10', extra: { a: [1] } },
      { name: 'B;\nb', woman: false, born: null, extra: null },
    ])
  },
)

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

t.test('with --update a row changes the entity that has its key', async t => {
  const { load, people } = world(t, {
    'a.ndjson': '{"ID":1,"name":"A","woman":true}\n',
    'b.ndjson': '{"ID":1,"name":"new"}\n{"ID":2,"name":"B"}\n{"ID":1,"name":"much too long"}\n',
  })
  await load('a.ndjson')
  const { text, rejected } = await load('b.ndjson', { update: true })
  t.match(text, /^3 rows read: 1 inserted, 1 updated, 1 rejected\n/)
  t.match(rejected, [{ line: 3, errors: [/has 13 characters/, String] }])
  t.match(await people(), [{ ID: 1, name: 'new', woman: true, __STAMP: 2 }, { ID: 2 }])
})

t.test('entities can be loaded in the form in which this server sends them', async t => {
  const row = {
    __KEY: '7',
    __TIMESTAMP: '2020-01-01T00:00:00.000Z',
    __STAMP: 3,
    name: 'G',
    boss: { __deferred: { uri: '/rest/Person(8)', __KEY: '8' } },
  }
  const { load, people } = world(t, { 'a.json': JSON.stringify([row, { ...row, __KEY: '8', ID: 8, boss: null }]) })
  const { text, rejected } = await load('a.json')
  t.equal(text, '2 rows read: 2 inserted\n', JSON.stringify(rejected))
  t.match(await people(), [{ __KEY: '7', __STAMP: 1, bossID: 8 }, { __KEY: '8' }])
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
  'files in formats of other countries: delimiters, decimal commas, dates, encodings, and hints for them',
  async t => {
    const { load, people } = world(t, {
      'a.csv': Buffer.from('sep=;\r\nID;name;big;born\r\n1;\xc9va;1.234.567;31.12.2024\r\n', 'latin1'),
      'b.csv': 'ID\tname\tborn\n2\tB\t2024-1-5\n',
      'c.csv': 'ID|name|big|born\n3|C|1 000|12/31/2024\n4|D|1|1.2.24\n',
    })
    const german = { encoding: 'windows-1252', decimal: ',', dates: 'dmy' } as const
    t.match(await load('a.csv', german), { isComplete: true, text: '1 row read: 1 inserted\n' })
    t.match(await load('b.csv'), { isComplete: true })
    const { text, rejected } = await load('c.csv')
    t.match(
      text,
      /big has numbers such as 1 000: --decimal "." or "," reads them\nborn has dates such as 12\/31\/2024: --dates mdy reads/,
    )
    t.match(rejected, [{ line: 3, errors: [/year of "1\.2\.24" has fewer than four digits/] }, { line: 2 }])
    t.match(await load('c.csv', { decimal: '.', dates: 'mdy' }), { text: /^2 rows read: 1 inserted, 1 rejected/ })
    t.match(await people(), [
      { ID: 1, name: 'Éva', big: 1234567, born: '2024-12-31' },
      { ID: 2, born: '2024-01-05' },
      { ID: 3, big: 1000, born: '2024-12-31' },
    ])
  },
)

t.test('decimals are loaded to the last digit, from number formats of any country', async t => {
  const attributes = { ID: { type: 'long' }, price: { type: 'decimal', scale: 2, asText: true } }
  const { load, people } = world(t, {
    'model.json': JSON.stringify({ name: 'test', dataClasses: { Person: { key: 'ID', attributes } } }),
    'dots.csv': 'ID,price\n1,9999999999999999.99\n2,1.5\n3,1.005\n4,\n',
    'commas.csv': 'ID;price\n5;1.234,50\n6;-0,1\n7;1,234.50\n',
    'rows.json':
      '[{"ID":8,"price":9999999999999999.98},{"ID":9,"price":"0.10"},{"ID":10,"price":1234567890123456.781}]',
  })
  const refused = (price: RegExp) => ({ errors: [price] })
  const dots = await load('dots.csv')
  t.match(dots.rejected, [refused(/^price cannot be "1\.005"; .* 2 after it is expected$/)])
  t.notMatch(dots.text, /reads them/, 'which would read it as 1005')
  const hint = await load('commas.csv')
  t.match(hint.text, /price has numbers such as 1\.234,50: --decimal "," reads them/)
  t.match((await load('commas.csv', { decimal: ',' })).rejected, [refused(/^price cannot be "1,234\.50"; /)])
  t.match((await load('rows.json')).rejected, [refused(/^price cannot be 1234567890123456\.781; /)])
  t.match(await people(), [
    { ID: 1, price: '9999999999999999.99' },
    { ID: 2, price: '1.50' },
    { ID: 4, price: null },
    { ID: 5, price: '1234.50' },
    { ID: 6, price: '-0.10' },
    { ID: 8, price: '9999999999999999.98' },
    { ID: 9, price: '0.10' },
  ])
})

t.test('for values of a wrong type, hints name options that would read them', async t => {
  const { load } = world(t, {
    'other.csv': 'ID;name;big;born\n1;much too long;1,5;2024-05-01\n2;B;1,5;05.01.2024\n3;C;1;x\n',
    'dots.csv': 'ID;big\n1;1.000\n',
    'duplicates.csv': 'ID;name;big;born\n7;A;1.000;31.12.2024\n7;B;1.000;31.12.2024\n',
  })
  const first = await load('other.csv')
  t.match(
    first.text,
    /says why\nonce it is corrected: .*\nborn has dates such as 05\.01\.2024: --dates dmy or mdy reads them\n$/,
  )
  t.match((await load('other.csv', { dates: 'dmy' })).text, /says why\nonce it is corrected: .*\n$/)
  t.match(await load('other.csv', { decimal: ',', dates: 'dmy' }), {
    text: /says why\nonce it is corrected: .*\n$/,
    rejected: { 1: { errors: [/^big cannot be "1,5"; /], row: { big: '1,5', born: '05.01.2024' } } },
  })
  t.match(
    (await load('dots.csv', { decimal: '.' })).text,
    /big has numbers such as 1\.000: --decimal "," reads them\n$/,
  )
  t.match(
    (await load('duplicates.csv', { decimal: ',', dates: 'dmy' })).text,
    /1 inserted, 1 rejected\n.* says why\nonce it is corrected: .* --decimal , --dates dmy .*\n$/,
  )
})

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

t.test('a load that ends early reports what was saved, and can be resumed', async t => {
  const rows = Array.from({ length: 50_010 }, (_, i) => `{"ID":${i},"name":"N"${i === 3 ? ',"bossID":50009' : ''}}\n`)
  const { load, people, cwd } = world(t, { 'a.ndjson': rows.join('') })
  // The second request is saved, but its outcome does not arrive.
  const insert = RowTarget.prototype.insert
  let calls = 0
  const { restore } = t.intercept(RowTarget.prototype, 'insert', {
    async value(this: RowTarget, ...args: Parameters<typeof insert>) {
      const left = await insert.apply(this, args)
      if (++calls === 2) throw new Error('the disk is full')
      return left
    },
  })
  await t.rejects(load('a.ndjson'), {
    message: /^the disk is full\n50010 rows read: 49999 inserted; --resume continues$/,
  })
  restore()
  await t.rejects(load('a.ndjson'), {
    message: /^a load of .*a\.ndjson stopped after row 50000; --resume continues, --restart begins from the first row$/,
  })
  mkdirSync(join(cwd, 'other'))
  writeFileSync(join(cwd, 'other', 'a.ndjson'), '')
  await t.rejects(load('other/a.ndjson'), { message: /--resume with \/.*a\.ndjson continues/ })
  const { isComplete, text } = await load('a.ndjson', { resume: true })
  t.equal(text, 'continuing after row 50010\n1 row read: 1 inserted\n')
  t.ok(isComplete)
  const all = await people()
  t.equal(all.length, rows.length)
  t.equal(all[3]!.bossID, 50009)
  t.notOk(readdirSync(join(cwd, 'data')).some(name => name.startsWith('load.')))

  writeFileSync(join(cwd, 'b.ndjson'), rows.map(row => row.replace('"ID":', '"ID":1')).join(''))
  const stop = new AbortController()
  stop.abort()
  const stopped = await load('b.ndjson', {}, stop.signal)
  t.match(stopped, { isComplete: false, text: /^0 rows read: 0 inserted\nstopped before the end of the file/ })
})

t.test('keys beyond 2^53 keep their digits', async t => {
  const { load, cwd, config } = world(t, {
    'a.ndjson': '{"ID":9007199254740992,"name":"even"}\n{"__KEY":9007199254740993,"name":"odd"}\n',
    'b.ndjson': '{"ID":9007199254740993,"name":"by ID"}\n',
    'c.ndjson': '{"__KEY":9007199254740993,"note":"by key"}\n',
  })
  const big = { key: 'ID', attributes: { ID: { type: 'long64' }, name: { type: 'string' }, note: { type: 'string' } } }
  writeFileSync(join(cwd, 'model.json'), JSON.stringify({ name: 'big', dataClasses: { Person: big } }))
  t.match(await load('a.ndjson'), { text: '2 rows read: 2 inserted\n' })
  for (const file of ['b.ndjson', 'c.ndjson'])
    t.match(await load(file, { update: true }), { text: '1 row read: 0 inserted, 1 updated\n' }, file)
  const engine = await openEngine(engineOptions(config))
  t.teardown(() => engine.close())
  const of = async (key: string) => {
    const output = { form: 'array' } as const
    const source = { kind: 'keys', keys: [key] } as const
    return decode(await bytesOf(await engine.queries.read({ dataClass: 'Person', source, skip: 0, top: 1, output })))
  }
  t.match(await of('9007199254740992'), [{ name: 'even', note: null }])
  t.match(await of('9007199254740993'), [{ name: 'by ID', note: 'by key' }])
})

t.test('a large file is loaded without the log, which begins another time then', async t => {
  const rows = (name: string) => Array.from({ length: 300 }, (_, i) => `{"ID":${name}${i},"name":"N"}\n`).join('')
  const { load, people, config, cwd } = world(t, {
    'a.ndjson': rows('1'),
    'b.ndjson': rows('2'),
    'c.ndjson': rows('3'),
  })
  const logged = () => readdirSync(join(cwd, 'data', 'log')).map(name => readFileSync(join(cwd, 'data', 'log', name)))
  for (const [name, loggedBytes, isLogged] of [
    ['a', 1e6, true],
    ['b', 100, false],
    ['c', 1e6, true],
  ] as const) {
    t.match(await load(`${name}.ndjson`, { loggedBytes }), { isComplete: true, text: '300 rows read: 300 inserted\n' })
    const first = { a: 10, b: 20, c: 30 }[name]
    t.equal(
      logged().some(bytes => bytes.includes(`"__KEY":"${first}"`)),
      isLogged,
      name,
    )
    const problems: string[] = []
    for await (const problem of check(config)) problems.push(problem)
    t.same(problems, [], name)
  }
  t.equal((await people()).length, 900)
})

t.test('a load that ended before any row was known to be saved is only repeated with --restart', async t => {
  const { load, people, cwd } = world(t, { 'a.ndjson': '{"ID":1,"name":"A"}\n', 'a.csv': 'ID,nme\n1,A\n' })
  const { restore } = t.intercept(RowTarget.prototype, 'insert', { value: failing(1, RowTarget.prototype.insert) })
  await t.rejects(load('a.ndjson'), { message: /the disk is full/ })
  restore()
  await t.rejects(load('a.ndjson'), { message: /stopped after row 0;/ })
  t.match(await load('a.ndjson', { restart: true }), { isComplete: true, text: '1 row read: 1 inserted\n' })
  t.equal((await people()).length, 1)
  for (let i = 0; i < 2; i++) await t.rejects(load('a.csv'), { message: /column "nme"/ })
  t.notOk(readdirSync(join(cwd, 'data')).some(name => name.startsWith('load.')))
})

/** `insert`, but its call number `count` fails. */
function failing(count: number, insert: RowTarget['insert']): RowTarget['insert'] {
  let calls = 0
  return function (this: RowTarget, ...args) {
    if (++calls !== count) return insert.apply(this, args)
    return Promise.reject(new Error('the disk is full'))
  }
}

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
    message: /does not say its format by its name; give --format json\|ndjson\|csv/,
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

t.test(
  'a demo whose first load was interrupted is completed, and then left alone until it names another file',
  async t => {
    const { config, load, people, cwd } = world(t, {
      'demo.json': '{ "load": [{ "dataClass": "Person", "file": "people.ndjson" }] }',
      'people.ndjson': '{"ID":1,"name":"A"}\n{"ID":2,"name":"B"}\n',
      'first.ndjson': '{"ID":1,"name":"A"}\n',
    })
    await load('first.ndjson')
    const lines: string[] = []
    await loadDemo(config, line => lines.push(line))
    t.same(lines, ['loading the demo data, once', '  Person: 2 entities'])
    t.equal((await people()).length, 2, cwd)
    await loadDemo(config, line => lines.push(line))
    t.equal(lines.length, 2)
    writeFileSync(join(cwd, 'more.ndjson'), '{"ID":3,"name":"C"}\n')
    writeFileSync(join(cwd, 'demo.json'), '{ "load": [{ "dataClass": "Person", "file": "more.ndjson" }] }')
    await loadDemo(config, line => lines.push(line))
    t.equal((await people()).length, 3)
  },
)

t.test('rows are saved with the events and the calculated attributes of plugins', async t => {
  const { load } = world(t, {
    'tesser.config.json': JSON.stringify({ plugins: ['./plugin/index.ts'] }),
    plugin: {
      'index.ts': `import { definePlugin } from 'tesser'
        export default definePlugin({ name: 'p', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })`,
      'classes.ts': `import { calculated, Entity, event } from 'tesser/classes'
        export class PersonEntity extends Entity('Person') {
          @event('validateSave') check() { if (this.name === 'Bad') return { errCode: 9, message: 'not this one' } }
          @calculated({ type: 'string', stored: true }) get upper() { return this.name.toUpperCase() }
        }`,
    },
    'people.ndjson': '{"ID":1,"name":"Good"}\n{"ID":2,"name":"Bad"}\n',
  })
  const { text, rejected } = await load('people.ndjson')
  t.match(text, '2 rows read: 1 inserted, 1 rejected')
  t.same(rejected, [{ line: 2, errors: ['not this one'], row: { ID: 2, name: 'Bad' } }])
})
