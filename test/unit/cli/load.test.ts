import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import { openEngine } from '../../../engine/index.ts'
import { loadDemo } from '../../../kernel/cli/demo.ts'
import { load, type LoadArguments } from '../../../kernel/cli/load.ts'
import { engineOptions } from '../../../kernel/main.ts'

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

const world = (t: Test, files: Record<string, string | Buffer | Record<string, string>>) => {
  const cwd = t.testdir({ 'model.json': JSON.stringify(model), ...files })
  const config = loadConfig({
    cwd,
    env: {},
    flags: { model: 'model.json', data: 'data', 'storage-map-size-bytes': '64 MiB' },
  })
  return {
    cwd,
    config,
    async load(file: string, more: Partial<LoadArguments> = {}) {
      const output = new PassThrough({ encoding: 'utf8' })
      const errors = join(cwd, 'errors.ndjson')
      const isComplete = await load(
        config,
        { file: join(cwd, file), into: 'Person', update: false, errors, ...more },
        output as never,
      )
      output.end()
      const rejected = existsSync(errors)
        ? readFileSync(errors, 'utf8')
            .trim()
            .split('\n')
            .map(line => JSON.parse(line))
        : []
      return { isComplete, text: (await output.toArray()).join(''), rejected }
    },
    async people(): Promise<Record<string, unknown>[]> {
      const engine = await openEngine(engineOptions(config))
      try {
        const bytes = await engine.read({
          dataClass: 'Person',
          source: { kind: 'all' },
          orderBy: 'ID',
          skip: 0,
          top: Number.POSITIVE_INFINITY,
          output: { form: 'array' },
        })
        return JSON.parse(Buffer.from(bytes).toString())
      } finally {
        await engine.close()
      }
    },
  }
}

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

t.test('rows may refer to rows further down, in chains', async t => {
  const { load, people } = world(t, {
    'a.ndjson':
      '{"ID":1,"name":"A","bossID":2}\n{"ID":2,"name":"B","boss":{"__KEY":3}}\n{"ID":3,"name":"C"}\n{"ID":4,"name":"D","bossID":9}\n',
  })
  const { text, rejected } = await load('a.ndjson')
  t.match(text, /^4 rows read: 3 inserted, 1 rejected\n1 rows could not be saved; .*errors\.ndjson says why\n$/)
  t.match(rejected, [{ line: 4, errors: [/no entity of Person has this key/, String], row: { ID: 4 } }])
  t.match(await people(), [{ bossID: 2 }, { bossID: 3 }, { bossID: null }])
})

t.test('CSV fields become what the attribute is; an empty field is null, a quoted empty one a text', async t => {
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
})

t.test('a row that cannot be saved leaves the others alone and is reported with its line', async t => {
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

t.test('entities as this server answers them can be loaded', async t => {
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

const refused: { name: string; file: string; more?: Partial<LoadArguments>; message: RegExp }[] = [
  { name: 'a file that is not there', file: 'x.csv', message: /^there is no file .*x\.csv$/ },
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
    message: /^column "nme" is no attribute of Person; did you mean "name"\?$/,
  },
  { name: 'an unfinished quote', file: 'b.csv', message: /^line \d+: Quote Not Closed/ },
  { name: 'an unfinished array', file: 'a.json', message: /the file ends inside the array/ },
  { name: 'what is not packed', file: 'c.csv.gz', message: /c\.csv\.gz cannot be read: incorrect header check/ },
  { name: 'what is not UTF-8', file: 'd.csv', message: /d\.csv cannot be read: it is not UTF-8/ },
]
for (const { name, file, more, message } of refused) {
  t.test(`${name} is refused`, async t => {
    const { load } = world(t, {
      'a.txt': '',
      'a.json': '[{"ID":1,"name":"A"}',
      'a.csv': 'ID,nme\n1,A\n',
      'b.csv': 'ID,name\n1,"A\n',
      'c.csv.gz': 'ID,name\n',
      'd.csv': Buffer.from('ID,name\n1,\xe9\n', 'latin1'),
    })
    await t.rejects(load(file, more), { message })
  })
}

t.test('a demo whose first load was interrupted is completed, and then left alone until there is more', async t => {
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
})

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
