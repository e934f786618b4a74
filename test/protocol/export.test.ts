import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { type ExportArguments, exportEntities } from '../../kernel/cli/export.ts'
import { importFile } from '../../kernel/cli/import.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'

/** `tesser export`, and back by `tesser import`: every type of attribute through every format. */

const model = {
  name: 'types',
  dataClasses: {
    Thing: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        text: { type: 'string' },
        flag: { type: 'bool' },
        byte: { type: 'byte' },
        word: { type: 'word' },
        big: { type: 'long64' },
        number: { type: 'number' },
        float: { type: 'float' },
        exact: { type: 'decimal', scale: 3 },
        moment: { type: 'date' },
        day: { type: 'date', simpleDate: true },
        time: { type: 'duration' },
        uuid: { type: 'uuid' },
        object: { type: 'object' },
        vector: { type: 'vector', dimension: 2 },
        otherID: { type: 'long' },
        other: { kind: 'relatedEntity', type: 'Thing', foreignKey: 'otherID', inverseName: 'others' },
        others: { kind: 'relatedEntities', type: 'Thing', inverseName: 'other' },
      },
    },
  },
}

const THINGS = [
  { text: 'plain', flag: true, byte: 1, word: -2, big: 5, number: 1.5, float: 0.25, exact: 1.125 },
  {
    text: 'a "quote", a; line\nand another\r\nend',
    moment: '2024-02-29T12:30:00.000Z',
    day: '2024-02-29',
    time: 3_600_000,
  },
  { text: '', object: { a: [1, { b: 'ü"' }], n: null }, vector: [0.5, -1], otherID: 1 },
  { text: '=1+1', uuid: '0123456789ABCDEF0123456789ABCDEF', number: 1e300, float: -0.1, otherID: 2 },
  { text: ' spaces \t', flag: false, byte: -128, word: 32_767, number: 0, exact: -0.001 },
  {},
  { text: 'ж語🌍', otherID: 3 },
]

t.test('what is exported is imported again', async t => {
  const folder = temporaryFolder(t)
  const config = { auth: { guestsAdministrate: true } }
  const server = await startServer(t, { model, rows: { Thing: THINGS } }, { config })
  const source = await server.get('/Thing?$asArray=true&$orderby="ID"')
  for (const name of ['a.csv', 'a.ndjson', 'a.json', 'b.csv.gz', 'b.json.gz']) {
    const file = join(folder, name)
    const outcome = await exportEntities(
      { dataClass: 'Thing', out: file, url: server.url, order: 'ID' },
      process.stdout,
    )
    t.match(outcome, /: \d+ KiB of (CSV|NDJSON|JSON)$/)
    t.notOk(existsSync(`${file}.part`))
    const copy = await startServer(t, { model, rows: {} }, { config })
    const lines: string[] = []
    const given = { file, into: 'Thing', url: copy.url, existing: 'reject', trial: false } as const
    // Without a key in the file, automatic ones would follow the order; with one, it is kept.
    t.ok(await importFile(given, line => lines.push(line)), lines.join())
    const found = await copy.get('/Thing?$asArray=true&$orderby="ID"')
    const content = (rows: Record<string, unknown>[]) =>
      rows.map(({ __TIMESTAMP: _, __STAMP: __, __GlobalStamp: ___, ...row }) => row)
    t.same(content(found.json), content(source.json), name)
  }
  const packed = gunzipSync(readFileSync(join(folder, 'b.csv.gz')))
  t.ok(packed.equals(readFileSync(join(folder, 'a.csv'))))
})

t.test('an export is limited by the disk for exports, not by the size of other answers', async t => {
  const text = 'x'.repeat(10_000)
  const rows = { Thing: Array.from({ length: 300 }, () => ({ text })) }
  const config = (exportBytes: number) => ({ query: { maxAnswerBytes: 2_000_000 }, storage: { exportBytes } })
  const server = await startServer(t, { model, rows }, { config: config(4_000_000) })
  const lines = await server.get('/Thing?$format=ndjson')
  t.same([lines.status, lines.text.trimEnd().split('\n').length], [200, 300])
  t.match((await server.get('/Thing?$top=300')).text, /maxAnswerBytes/)
  const array = new PassThrough({ encoding: 'utf8' })
  const read = array.toArray()
  await exportEntities({ dataClass: 'Thing', url: server.url, format: 'json' }, array)
  array.end()
  const entities = JSON.parse((await read).join(''))
  t.same([entities.length, entities.every((each: { text: string }) => each.text === text)], [300, true])

  const small = await startServer(t, { model, rows }, { config: config(2_000_000) })
  for (const format of ['csv', 'ndjson']) {
    const refused = await small.get(`/Thing?$format=${format}`)
    t.equal(refused.status, 503)
    t.match(refused.json.__ERROR[0].message, /storage\.exportBytes.*export parts by \$filter/)
  }
  t.equal((await small.get('/Thing?$format=ndjson&$top=100')).status, 200, 'nothing of a refused one is left')
})

t.test('nothing is an empty array', async t => {
  const server = await startServer(t, { model, rows: {} })
  const array = new PassThrough({ encoding: 'utf8' })
  await exportEntities({ dataClass: 'Thing', url: server.url, format: 'json' }, array)
  array.end()
  t.same(JSON.parse((await array.toArray()).join('')), [])
})

t.test('a selection, to the standard output', async t => {
  const server = await startServer(t, { model, rows: { Thing: THINGS } })
  const run = async (given: Partial<ExportArguments>): Promise<string> => {
    const output = new PassThrough({ encoding: 'utf8' })
    await exportEntities({ dataClass: 'Thing', url: server.url, ...given }, output)
    output.end()
    return (await output.toArray()).join('')
  }
  const attributes = 'ID,other.number'
  t.equal(
    await run({ attributes, filter: 'otherID > 0', order: 'ID desc' }),
    'ID,other.number\r\n7,\r\n4,\r\n3,1.5\r\n',
  )
  t.equal(await run({ attributes, top: 1, order: 'ID' }), 'ID,other.number\r\n1,\r\n')
  t.match(JSON.parse(await run({ format: 'json', attributes: 'ID' })).length, THINGS.length)
  t.match((await run({ format: 'ndjson', attributes: 'ID' })).split('\n').length, THINGS.length + 1)
  const made = await server.get('/Thing?$method=entityset&$filter="ID < 3"')
  const set = made.json.__ENTITYSET.split('/').at(-1)
  t.equal(await run({ set, attributes: 'ID', order: 'ID' }), 'ID\r\n1\r\n2\r\n')
  await t.rejects(run({ dataClass: 'Thng' }), { message: /"Thng" datastore class cannot be found/ })
  await t.rejects(run({ filter: 'nothing = 1' }), { message: /nothing/ })
  await t.rejects(run({ out: 'a.txt' }), { message: /a\.txt does not tell its format/ })
  await t.rejects(run({ key: 'wrong' }), { message: /./ })
  await server.close()
  await t.rejects(run({}), { message: /cannot be reached: / })
})
