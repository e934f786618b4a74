import { cpSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Environment, openEnvironment } from '../../../../engine/storage/environment.ts'
import { inspectStore } from '../../../../engine/inspect/inspect-store.ts'
import { createTestServer } from '../../../../kernel/testing.ts'
import { temporaryFolder } from '../../../support/test-server.ts'
import { MODEL } from '../../../durability/uploads.model.ts'

const size = 100_000
const large = `data:application/pdf;base64,${Buffer.alloc(size, 7).toString('base64')}`
const ORPHAN = 'A'.repeat(32)

/** A stopped store with one large value, and its only file. */
const original = temporaryFolder(t)
const data = { Document: [{ ID: 1, content: large, image: 'data:image/png;base64,iVBORw0KGgo=' }] }
await createTestServer({ model: MODEL, folder: original, data }).then(server => server.close())
const [id, ...others] = readdirSync(join(original, 'store', 'files')) as [string]
t.same(others, [])

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
  { name: 'nothing in a store that is in order', damage: () => {}, found: [] },
  {
    name: 'a file that is gone',
    damage: path => rmSync(join(path, 'files', id)),
    found: [/are in file [0-9A-F]{32}, which does not exist$/],
  },
  {
    name: 'a file that has been cut off',
    damage: path => truncateSync(join(path, 'files', id), 5),
    found: [/^file [0-9A-F]{32} has 5 bytes, .* says 100000$/],
  },
  {
    name: 'a file that nothing refers to',
    damage: path => writeFileSync(join(path, 'files', ORPHAN), 'x'),
    found: [/^file A{32} is an orphan; the next start removes it$/],
  },
  {
    name: 'a use that is not counted',
    damage: path => change(path, ({ fileReferences }) => void fileReferences.removeSync(Buffer.from(id, 'hex'))),
    found: [/^file [0-9A-F]{32} is used 1 times, the store counts 0$/],
  },
  {
    name: 'a use that is none',
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

t.test('a start removes orphans, and a large value that was loaded is read as it was', async t => {
  const { path, folder } = copy(t)
  writeFileSync(join(path, 'files', ORPHAN), 'x')
  const server = await createTestServer({ model: MODEL, folder })
  t.same(readdirSync(join(path, 'files')).includes(ORPHAN), false)
  t.ok(Buffer.alloc(size, 7).equals((await server.get('/rest/Document(1)/content?$binary=true')).bytes))
  await server.close()
  t.same(await problems(path), [])
})
