import {
  closeSync,
  cpSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadConfig } from '../../../../../config/load-config.ts'
import { type Environment, openEnvironment } from '../../../../../engine/storage/environment.ts'
import { inspectStore } from '../../../../../engine/storage/inspect/inspect-store.ts'
import { createServer } from '../../../../../kernel/main.ts'
import { createTestServer, type TestServer } from '../../../../../kernel/testing.ts'
import { temporaryFolder } from '../../../../support/base/temporary-folder.ts'
import { MODEL } from '../../../../support/fixtures/uploads.ts'

const size = 100_000
const large = `data:application/pdf;base64,${Buffer.alloc(size, 7).toString('base64')}`
const ORPHAN = 'A'.repeat(32)

/** A stopped store with one large value, and its only file. */
const original = temporaryFolder(t)
const data = { Document: [{ ID: 1, content: large, image: 'data:image/png;base64,iVBORw0KGgo=' }] }
await createTestServer({ model: MODEL, folder: original, data }).then(server => server.close())
const filesIn = (path: string) => readdirSync(join(path, 'files')).filter(name => name !== 'incoming')
const [id, ...others] = filesIn(join(original, 'store')) as [string]
t.same(others, [])
t.same(readdirSync(join(original, 'store', 'files', 'incoming')), [])

function copy(t: Test): { folder: string; path: string } {
  const folder = temporaryFolder(t)
  cpSync(original, folder, { recursive: true })
  return { folder, path: join(folder, 'store') }
}

const environmentOptions = (path: string) => ({ path, mapSizeBytes: 2 ** 28 })

async function problems(path: string): Promise<string[]> {
  const found: string[] = []
  const options = {
    ...environmentOptions(path),
    model: MODEL,
    wire: { dateOnlyFormat: 'iso' },
    allowLoss: false,
  } as const
  for await (const { text } of inspectStore(options)) found.push(text)
  return found
}

async function change(path: string, work: (environment: Environment) => void): Promise<void> {
  const environment = openEnvironment(environmentOptions(path))
  environment.root.transactionSync(() => work(environment))
  await environment.close()
}

const cases: { name: string; damage: (path: string) => unknown; found: RegExp[] }[] = [
  { name: 'nothing in an intact store', damage: () => {}, found: [] },
  {
    name: 'a missing file',
    damage: path => rmSync(join(path, 'files', id)),
    found: [/are in file [0-9A-F]{32}, which does not exist$/],
  },
  {
    name: 'a file that has been cut off',
    damage: path => truncateSync(join(path, 'files', id), 5),
    found: [/^file [0-9A-F]{32} has 5 bytes, .* says 100000$/],
  },
  {
    name: 'a byte that has changed in a file',
    damage: path => {
      const file = openSync(join(path, 'files', id), 'r+')
      writeSync(file, Buffer.of(8), 0, 1, 77_777)
      closeSync(file)
    },
    found: [/^file [0-9A-F]{32} is damaged: .* are not what was written, from byte 0 on$/],
  },
  {
    name: 'a file that the store does not know',
    damage: path => writeFileSync(join(path, 'files', ORPHAN), 'x'),
    found: [/^file A{32} is not known to this store; it stays, because it may belong to another state of it/],
  },
  {
    name: 'a file of an upload that did not end',
    damage: path => writeFileSync(join(path, 'files', 'incoming', ORPHAN), 'x'),
    found: [/^file incoming\/A{32} is of an upload that did not end; the next start removes it$/],
  },
  {
    name: 'nothing wrong with a file that is still to be moved out of incoming',
    damage: path => renameSync(join(path, 'files', id), join(path, 'files', 'incoming', id)),
    found: [],
  },
  {
    name: 'nothing wrong with a file that is still to be removed',
    damage: path =>
      change(path, ({ state }) => {
        writeFileSync(join(path, 'files', ORPHAN), 'x')
        state.putSync(Buffer.concat([Buffer.from('remove '), Buffer.from(ORPHAN, 'hex')]), Buffer.alloc(0))
      }),
    found: [],
  },
  {
    name: 'a use that is not counted',
    damage: path => change(path, ({ fileReferences }) => void fileReferences.removeSync(Buffer.from(id, 'hex'))),
    found: [/^file [0-9A-F]{32} is used 1 times, the store counts 0$/],
  },
  {
    name: 'a counted use that does not exist',
    damage: path =>
      change(
        path,
        ({ fileReferences }) => void fileReferences.putSync(Buffer.from(ORPHAN, 'hex'), Buffer.of(0, 0, 0, 1)),
      ),
    found: [/^the store counts uses of file A{32}, which nothing uses$/],
  },
]
for (const { name, damage, found } of cases) {
  t.test(`tesser check finds ${name}`, async t => {
    const { path } = copy(t)
    await damage(path)
    const texts = await problems(path)
    t.equal(texts.length, found.length, texts.join('\n'))
    for (const [i, pattern] of found.entries()) t.match(texts[i], pattern)
  })
}

const read = async (server: TestServer) => server.get('/rest/Document(1)/content?$binary=true')

t.test('a start removes files that are noted for it, and finishes what a crash interrupted', async t => {
  const { path, folder } = copy(t)
  const [removed, unknown, begun] = ['A', 'B', 'C'].map(digit => digit.repeat(32)) as [string, string, string]
  for (const name of [removed, unknown, join('incoming', begun)]) writeFileSync(join(path, 'files', name), 'x')
  renameSync(join(path, 'files', id), join(path, 'files', 'incoming', id))
  await change(path, ({ state }) =>
    state.putSync(Buffer.concat([Buffer.from('remove '), Buffer.from(removed, 'hex')]), Buffer.alloc(0)),
  )
  const server = await createTestServer({ model: MODEL, folder })
  t.same(filesIn(path).sort(), [id, unknown].sort())
  t.same(readdirSync(join(path, 'files', 'incoming')), [])
  t.ok(Buffer.alloc(size, 7).equals((await read(server)).bytes))
  await server.close()
  t.match(await problems(path), [/^file B{32} is not known to this store/])
})

t.test('the files of a newer data file are still there after an older one is put back', async t => {
  const { path, folder } = copy(t)
  const backup = join(folder, 'backup')
  cpSync(join(path, 'data.mdb'), backup)
  let server = await createTestServer({ model: MODEL, folder })
  await server.post('/rest/Document', [{ ID: 2, content: large }])
  await server.close()
  const newer = filesIn(path)
  cpSync(join(path, 'data.mdb'), join(folder, 'newer'))
  for (const data of ['backup', 'newer']) {
    cpSync(join(folder, data), join(path, 'data.mdb'))
    rmSync(join(path, 'lock.mdb'))
    server = await createTestServer({ model: MODEL, folder })
    t.ok(Buffer.alloc(size, 7).equals((await read(server)).bytes))
    await server.close()
  }
  t.same(filesIn(path), newer)
  t.same(await problems(path), [])
})

t.test('missing or damaged bytes are answered with an error and logged', async t => {
  const damages: [string, (file: string) => unknown, RegExp][] = [
    ['missing', file => rmSync(file), /the file [0-9A-F]{32} of the store is missing/],
    ['cut off', file => truncateSync(file, 5), /is shorter than it was written/],
    ['changed', file => writeFileSync(file, Buffer.alloc(size, 8)), /has other bytes than were written, from 0 on/],
  ]
  for (const [name, damage, line] of damages) {
    const { path, folder } = copy(t)
    damage(join(path, 'files', id))
    const lines: string[] = []
    const log = pino({ level: 'error' }, { write: (text: string) => void lines.push(text) })
    const file = join(folder, 'tesser.config.json')
    const server = await createServer(loadConfig({ file, env: {}, flags: { data: path } }), log)
    for (const headers of [{ range: '' }, { range: 'bytes=100-200' }]) {
      const answer = await fetch(`${server.url}/rest/Document(1)/content?$binary=true`, { headers })
      t.equal(answer.status, 500, name)
      t.match(await answer.json(), { __ERROR: [{ errCode: 1046, message: /bytes of content are missing or damaged/ }] })
      t.match(lines.join(''), line)
    }
    const image = await fetch(`${server.url}/rest/Document(1)/image?$binary=true`)
    t.equal(image.status, 200, 'bytes in LMDB are not affected')
    await image.arrayBuffer()
    await server.close()
  }
})

t.test('a store of the previous format is read without digests, and raised to the current format', async t => {
  const { path, folder } = copy(t)
  await change(path, ({ meta, binaries }) => {
    meta.putSync('format', 3)
    for (const { key, value } of [...binaries.getRange({ start: Buffer.alloc(1) })]) {
      const end = 1 + (value[0]! & 0x7f) + 24
      if (value[0]! >= 0x80) binaries.putSync(key, value.subarray(0, end))
    }
  })
  t.same(await problems(path), [])
  const server = await createTestServer({ model: MODEL, folder })
  t.ok(Buffer.alloc(size, 7).equals((await read(server)).bytes))
  await server.close()
  await change(path, ({ meta }) => t.equal(meta.get('format'), 4))
})
