import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import { type Config, loadConfig } from '../../config/load-config.ts'
import { cloneDatabase } from '../../kernel/cli/clone-database/clone-database.ts'
import { dump, undump } from '../../kernel/cli/dump.ts'
import { type ExportArguments, exportEntities } from '../../kernel/cli/export.ts'
import { load } from '../../kernel/cli/load.ts'
import { createServer } from '../../kernel/main.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'

/** Round trips: every type of attribute through every format, exported or dumped and read again, with equal digests. */

const model = {
  name: 'types',
  dataClasses: {
    Thing: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        text: { type: 'string' },
        flag: { type: 'bool' },
        byte: { type: 'byte' },
        word: { type: 'word' },
        long: { type: 'long' },
        big: { type: 'long64' },
        number: { type: 'number' },
        float: { type: 'float' },
        exact: { type: 'decimal', scale: 3 },
        asText: { type: 'decimal', scale: 2, asText: true },
        moment: { type: 'date' },
        day: { type: 'date', simpleDate: true },
        time: { type: 'duration' },
        uuid: { type: 'uuid' },
        object: { type: 'object' },
        vector: { type: 'vector', dimension: 3 },
        photo: { type: 'image' },
        file: { type: 'blob' },
        otherID: { type: 'long' },
        other: { kind: 'relatedEntity', type: 'Thing', foreignKey: 'otherID', inverseName: 'others' },
        others: { kind: 'relatedEntities', type: 'Thing', inverseName: 'other' },
        otherText: { kind: 'alias', path: 'other.text' },
      },
    },
  },
}

/** Values by attribute; each is a row, beside one with all of the first and one with nulls alone. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  text: [
    'plain',
    'a "quote", a; line\nand\r\nend',
    '=1+1',
    ' spaces \t',
    'ж語🌍',
    '007',
    '_x000D_',
    '_x0041_x0042_ _X0041_ _x005F\u0001',
    'a\uFFFEb\uFFFFc\rd\u007F\u0085',
    '<a & b>',
    'null',
    '\u0001',
  ],
  flag: [true, false],
  byte: [-128, 127],
  word: [-32_768, 32_767],
  long: [-2_147_483_648, 2_147_483_647],
  big: ['9007199254740993', '-9223372036854775808', '9223372036854775807', 999_999_999_999_999, 0],
  number: [0.1, 1e300, -5e-324, 123456789.12345679, 0],
  float: [-0.1, 3.5],
  exact: ['123456789012345.678', '-0.001', '0.000', '12.5'],
  asText: ['1234567890123456.78', '0.15'],
  moment: [
    '2024-02-29T12:30:00.123Z',
    '2024-02-29T00:00:00.000Z',
    '1899-12-31T23:59:59.999Z',
    '1900-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
    '+010000-01-01T00:00:00.000Z',
    '-000044-03-15T00:00:00.000Z',
  ],
  day: ['2024-02-29', '1900-02-28', '1900-03-01', '9999-12-31', '-000044-03-15'],
  time: [3_600_000, -1, 90_061_001, 1.5, 8_639_999_999_999, 900_000_000_000_000],
  uuid: ['0123456789ABCDEF0123456789ABCDEF', '00000000000000000000000000000012', '0000000000000000000000000001E100'],
  object: [{ a: [1, { b: 'ü"' }], n: null, e: 1e21 }, [], {}],
  vector: [
    [0.1, -1, 3.4e38],
    [0, 0, 1],
  ],
}

const first = Object.fromEntries(Object.entries(VALUES).map(([name, [value]]) => [name, value]))
const PNG = 'data:image/png;base64,iVBORw0KGgo='
const THINGS = [
  { ...first, photo: PNG, file: 'data:application/octet-stream;base64,AAH/' },
  {},
  ...Object.entries(VALUES).flatMap(([name, values]) => values.map(value => ({ [name]: value, otherID: 1 }))),
].map((row, i) => ({ ID: i + 1, ...row }))
/** An Excel file has no empty texts: they are loaded as null. */
const EMPTY = { ID: 1000, text: '' }

const configIn = (folder: string): Config =>
  loadConfig({
    cwd: folder,
    env: {},
    flags: { model: 'model.json', data: 'store', port: '0', 'storage-map-size-bytes': '64 MiB' },
  })

/** Digest of all values, as the server of a store writes them in CSV. */
async function digestOf(config: Config): Promise<string> {
  const server = await createServer(config, pino({ level: 'silent' }))
  try {
    const list = Object.keys(VALUES).join()
    const answer = await fetch(`${server.url}/rest/Thing?$format=csv&$orderby=ID&$attributes=ID,otherID,${list}`)
    return digest(await answer.text())
  } finally {
    await server.close()
  }
}

/** The text itself, where it differs, is more helpful. */
const digest = (text: string): string => `${createHash('sha256').update(text).digest('hex')}\n${text}`

async function loadInto(config: Config, file: string, folder: string): Promise<void> {
  writeFileSync(config.model, JSON.stringify(model))
  const output = new PassThrough({ encoding: 'utf8' })
  const errors = join(folder, 'errors.ndjson')
  const given = { file, into: 'Thing', update: false, errors, columns: { otherText: null } }
  const quiet = { print: () => {}, ask: async () => undefined }
  const isComplete = await load(config, given, output as never, undefined, quiet)
  if (!isComplete) throw new Error(readFileSync(errors, 'utf8'))
}

interface Way {
  readonly name: string
  /** Extension of the file; undefined for a dump. */
  readonly file?: string
  back(config: Config, file: string, folder: string): Promise<unknown>
  /** Rows that the format keeps. */
  readonly keepsEmpty?: false
}

const clone = async (config: Config, file: string, folder: string): Promise<void> => {
  const lines: string[] = []
  const given = { source: file, modelOnly: false, resume: false, errors: folder }
  if (!(await cloneDatabase(config, given, line => lines.push(line)))) throw new Error(lines.join('\n'))
}
const undumped = (config: Config, folder: string): Promise<string> => {
  writeFileSync(config.model, readFileSync(join(folder, 'model.json')))
  return undump(config, { folder, leaveOutUnknown: false, withAccounts: false })
}

const WAYS: readonly Way[] = [
  { name: 'CSV', file: 'a.csv', back: loadInto },
  { name: 'CSV, packed', file: 'a.csv.gz', back: loadInto },
  { name: 'NDJSON', file: 'a.ndjson', back: loadInto },
  { name: 'JSON', file: 'a.json', back: loadInto },
  { name: 'Excel', file: 'a.xlsx', back: loadInto, keepsEmpty: false },
  { name: 'Parquet', file: 'a.parquet', back: loadInto },
  { name: 'SQLite', file: 'a.sqlite', back: clone },
  { name: 'dump', back: undumped },
]

t.test('every type of attribute through every format', async t => {
  const folder = temporaryFolder(t)
  const rows = { Thing: [...THINGS, EMPTY] }
  const server = await startServer(t, { model, rows }, { folder })
  const list = Object.keys(VALUES).join()
  const csv = async (filter: string): Promise<string> =>
    digest((await server.get(`/Thing?$format=csv&$orderby=ID&$filter="${filter}"&$attributes=ID,otherID,${list}`)).text)
  const wanted = { all: await csv('ID > 0'), filled: await csv('ID < 1000') }
  t.equal(wanted.all.split('\r\n').length > THINGS.length, true)
  for (const { name, file, back, keepsEmpty = true } of WAYS) {
    await t.test(name, async t => {
      const place = join(folder, `way-${file ?? 'dump'}`)
      mkdirSync(place)
      const path = join(place, file ?? 'dump')
      if (file === undefined)
        await dump(loadConfig({ cwd: folder, env: {}, flags: { data: 'store' } }), {
          folder: path,
          withAccounts: false,
        })
      else {
        const warned: string[] = []
        const given = {
          dataClass: 'Thing',
          out: path,
          url: server.url,
          order: 'ID desc',
          ...(keepsEmpty ? {} : { filter: 'ID < 1000' }),
        }
        t.match(
          await exportEntities(given, process.stdout, line => warned.push(line)),
          /: [\d.]+ (KiB|MiB) of (CSV|NDJSON|JSON|Excel|Parquet|SQLite)$/,
        )
        t.same(warned, ['not in the export: photo (image), file (blob); tesser dump writes images and blobs'])
        t.same(readdirSync(place), [file], 'nothing else is left')
      }
      const config = configIn(place)
      await back(config, path, place)
      t.equal(await digestOf(config), keepsEmpty ? wanted.all : wanted.filled)
    })
  }
})

const OUT = ['a.xlsx', 'a.parquet', 'a.sqlite'] as const

t.test('attributes of related entities, one column of nulls, and nothing at all', async t => {
  const folder = temporaryFolder(t)
  const server = await startServer(t, { model, rows: { Thing: THINGS.slice(0, 4) } })
  const cases: readonly (readonly [name: string, given: Partial<ExportArguments>, text: string])[] = [
    [
      'related',
      { attributes: 'ID,other.big,other.day', order: 'ID', filter: 'ID > 1' },
      'ID,otherBig,otherDay\r\n2,,\r\n3,9007199254740993,2024-02-29\r\n4,9007199254740993,2024-02-29\r\n',
    ],
    ['nulls', { attributes: 'ID,long', order: 'ID', top: 2 }, 'ID,long\r\n1,-2147483648\r\n2,\r\n'],
    ['nothing', { attributes: 'ID,text', filter: 'ID = 77' }, 'ID,text\r\n'],
  ]
  const target = (name: string) => ({
    name,
    dataClasses: {
      Row: {
        key: 'ID',
        attributes: {
          ID: { type: 'long' },
          text: { type: 'string' },
          long: { type: 'long' },
          otherBig: { type: 'long64' },
          otherDay: { type: 'date', simpleDate: true },
        },
      },
    },
  })
  for (const [name, given, text] of cases)
    for (const out of OUT.filter(out => out !== 'a.sqlite')) {
      await t.test(`${name}, ${out}`, async t => {
        const place = join(folder, `${name}-${out}`)
        mkdirSync(place)
        const path = join(place, out)
        await exportEntities({ dataClass: 'Thing', out: path, url: server.url, ...given }, process.stdout)
        const config = configIn(place)
        writeFileSync(config.model, JSON.stringify(target(name)))
        const columns = { 'other.big': 'otherBig', 'other.day': 'otherDay' }
        await load(config, { file: path, into: 'Row', update: false, columns }, new PassThrough() as never, undefined, {
          print: () => {},
          ask: async () => undefined,
        })
        const copy = await createServer(config, pino({ level: 'silent' }))
        const header = text.slice(0, text.indexOf('\r'))
        const found = await (await fetch(`${copy.url}/rest/Row?$format=csv&$orderby=ID&$attributes=${header}`)).text()
        await copy.close()
        t.equal(found, text)
      })
    }
  const path = join(folder, 'single.parquet')
  await exportEntities({ dataClass: 'Thing', out: path, url: server.url, attributes: 'flag' }, process.stdout)
  const { asyncBufferFromFile, parquetMetadataAsync } = await import('hyparquet')
  t.equal(
    (await parquetMetadataAsync(await asyncBufferFromFile(path))).num_rows,
    4n,
    'nulls of a single column are rows',
  )
})

t.test('what cannot be exported leaves no file', async t => {
  const folder = temporaryFolder(t)
  const rows = {
    Thing: [
      { ID: 1, text: 'x'.repeat(32_768) },
      { ID: 2, text: 'short' },
    ],
  }
  const server = await startServer(t, { model, rows })
  writeFileSync(join(folder, 'there.db'), '')
  const cases: readonly (readonly [out: string | undefined, given: Partial<ExportArguments>, message: RegExp])[] = [
    ['a.xlsx', {}, /"text" of entity 1 has 32768 characters, but an Excel cell holds 32767/],
    ['a.parquet', { attributes: 'ID,photo' }, /"photo" is of type image; .*tesser dump does/],
    ['a.sqlite', { attributes: 'file' }, /"file" is of type blob/],
    ['there.db', {}, /there\.db exists; an export creates a new database/],
    ['a.xlsx.gz', { format: 'xlsx' }, /Excel cannot be compressed/],
    [undefined, { format: 'parquet' }, /Parquet is written to a file: name it with --out/],
    ['a.parquet', { dataClass: 'Thng' }, /"Thng" datastore class cannot be found/],
    ['a.sqlite', { filter: 'nothing = 1' }, /nothing/],
    ['a.db.gz', {}, /does not tell its format; give --format json\|ndjson\|csv\|xlsx\|parquet\|sqlite/],
  ]
  for (const [out, given, message] of cases) {
    const path = out === undefined ? undefined : join(folder, out)
    const asked = { dataClass: 'Thing', out: path, url: server.url, ...given }
    await t.rejects(
      exportEntities(asked, process.stdout, () => {}),
      { message },
      `${out} ${message}`,
    )
  }
  t.same(readdirSync(folder), ['there.db'])
})

t.test('an answer that breaks off leaves no file', async t => {
  const catalog = {
    dataClasses: [
      { name: 'Thing', attributes: [{ name: 'ID', kind: 'storage', type: 'long' }], key: [{ name: 'ID' }] },
    ],
  }
  const server = createHttpServer((request, response) => {
    if (request.url!.includes('$catalog')) response.end(JSON.stringify(catalog))
    else {
      response.write(`ID\r\n${Array.from({ length: 5_000 }, (_, i) => `${i}\r\n`).join('')}`)
      setImmediate(() => response.destroy())
    }
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const out of [...OUT, 'a.csv', 'a.json.gz']) {
    const folder = temporaryFolder(t)
    await t.rejects(exportEntities({ dataClass: 'Thing', out: join(folder, out), url }, process.stdout), out)
    t.same(readdirSync(folder), [], out)
    t.notOk(existsSync(join(folder, out)))
  }
})
