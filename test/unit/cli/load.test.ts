/** `tesser load`: values, relations, updates, plugins and demos. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { bytesOf, openEngine } from '../../../engine/index.ts'
import { decode } from '../../support/engine/read-request.ts'
import { loadDemo } from '../../../kernel/cli/demo.ts'
import { engineOptions } from '../../../kernel/main.ts'
import { world } from './load-people.ts'

t.setTimeout(120_000)

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
    /^4 rows read: 3 inserted, 1 rejected\n1 row could not be saved; .*errors\.ndjson says why\nafter you fix its rows: npx tesser load .*\n$/,
  )
  t.match(rejected, [{ line: 4, errors: [/no entity of Person has this key/], row: { ID: 4 } }])
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

t.test('with --update a row changes the entity that has its key', async t => {
  const { load, people } = world(t, {
    'a.ndjson': '{"ID":1,"name":"A","woman":true}\n',
    'b.ndjson': '{"ID":1,"name":"new"}\n{"ID":2,"name":"B"}\n{"ID":1,"name":"much too long"}\n',
  })
  await load('a.ndjson')
  const { text, rejected } = await load('b.ndjson', { update: true })
  t.match(text, /^3 rows read: 1 inserted, 1 updated, 1 rejected\n/)
  t.match(rejected, [{ line: 3, errors: [/has 13 characters/] }])
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

t.test(
  'a demo whose first load was interrupted is completed, and then left alone until it lists other rows',
  async t => {
    const rows = '{"ID":1,"name":"A"}\n{"ID":2,"name":"B"}\n'
    const { config, load, people, cwd } = world(t, {
      'demo.json': '{ "rows": "rows.br", "load": [{ "dataClass": "Person", "count": 2 }] }',
      'rows.br': brotliCompressSync(rows),
      'first.ndjson': '{"ID":1,"name":"A"}\n',
    })
    await load('first.ndjson')
    const lines: string[] = []
    await loadDemo(config, line => lines.push(line))
    t.same(lines, ['loading the demo data, once', 'Person: 2 entities'])
    t.equal((await people()).length, 2, cwd)
    await loadDemo(config, line => lines.push(line))
    t.equal(lines.length, 2)
    writeFileSync(join(cwd, 'rows.br'), brotliCompressSync(`${rows}{"ID":3,"name":"C"}\n`))
    writeFileSync(join(cwd, 'demo.json'), '{ "rows": "rows.br", "load": [{ "dataClass": "Person", "count": 3 }] }')
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
