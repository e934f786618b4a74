/**
 * The packed file serves where somebody installs it, on the Node.js of this run; `npm run test:nodes` repeats this on the others. Packages
 * come from the cache of npm, if it has them.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { programOf } from '../support/base/programs.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { until } from '../support/base/until.ts'
import { isLong } from '../support/runner/rounds.ts'
import { InstalledPackage } from './installed-package.ts'

t.setTimeout(900_000)

interface Packed {
  filename: string
  size: number
  files: { path: string }[]
}

interface Passages {
  __COUNT: number
  __ENTITIES: { ID: number; embedding: number[] }[]
}

const READ = { encoding: 'utf8', maxBuffer: 2 ** 24 } as const
const MAXIMUM_BYTES = 10_000_000
const NOT_PACKED =
  /\.map$|^dist\/(?:test|groups|bench|imports\.json)|^config\/demo\/(?:sources|build-demo)|node_modules/
const all = isLong || process.env.TESSER_TEST_NODES !== undefined
const missing = programOf('npm') ? undefined : 'npm is not installed'
const folder = temporaryFolder(t)
const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder]
const packed = missing ? undefined : (JSON.parse(execFileSync('npm', words, READ)) as [Packed])[0]

t.test('the packed file is small, and has neither sources nor tests', { skip: missing ?? false }, async t => {
  const { size, files } = packed!
  t.ok(size <= MAXIMUM_BYTES, `${size} bytes`)
  t.strictSame(
    files.map(({ path }) => path).filter(path => NOT_PACKED.test(path)),
    [],
  )
})

const INSTALLATIONS = [
  { name: 'without scripts of packages', flags: ['--ignore-scripts'], isUsual: true },
  { name: 'with scripts that find no compiler', flags: [], isUsual: false },
]
for (const { name, flags, isUsual } of INSTALLATIONS) {
  const skip = missing ?? (isUsual || all ? false : 'it is installed in long runs and by test:nodes')
  t.test(`npm install ${name}, then npx tesser`, { skip }, async t => {
    const user = new InstalledPackage(t)
    if (!user.install(join(folder, packed!.filename), flags)) {
      t.comment('skipped: the packages are not in the cache of npm, and the registry does not answer')
      return
    }
    const before = filesIn(user)
    const url = await user.serve()
    await until(async () => (await request(`${url}/health/ready`)).statusCode === 200)
    await asksForPages(t, url)
    await asksForVectors(t, url)

    const notes = () => user.log.filter(line => line.includes('hnswlib-node'))
    await until(() => notes().length > 0)
    t.match(notes(), [/hnswlib-node cannot be loaded .* npm (?:install|rebuild) hnswlib-node builds it/])
    t.equal(notes().length, 1)
    t.strictSame(filesIn(user), before, 'the server writes into no package')
  })
}

/** Media types by address. The image is converted from PNG, by native code. */
const PAGES = {
  '/docs/': 'text/html',
  '/explorer/': 'text/html',
  '/rest/City(1)': 'application/json',
  '/rest/Country(FR)/flag?$imageformat=webp': 'image/webp',
}

async function asksForPages(t: Test, url: string): Promise<void> {
  for (const [path, type] of Object.entries(PAGES)) {
    const answer = await request(`${url}${path}`)
    await answer.body.dump()
    t.equal(answer.statusCode, 200, path)
    t.match(answer.headers['content-type'], type)
  }
}

async function asksForVectors(t: Test, url: string): Promise<void> {
  const find = async (body: object): Promise<Passages> => {
    const answer = await request(`${url}/rest/Passage/$query`, { method: 'POST', body: JSON.stringify(body) })
    return (await answer.body.json()) as Passages
  }
  const passages = await find({ $filter: 'ID = 7', $attributes: 'ID,embedding' })
  const { ID, embedding: vector } = passages.__ENTITIES[0]!
  const nearest = { $filter: 'embedding > :1', $params: [{ vector, threshold: 0.5 }], $orderby: 'embedding desc' }
  const found = await find(nearest)
  t.equal(found.__ENTITIES[0]!.ID, ID)
  t.match(found, await find({ ...nearest, $exact: true }))
  t.ok(found.__COUNT > 1)
}

/** Files of the installed package, without the cache of compiled code. */
const filesIn = ({ folder }: InstalledPackage): string[] =>
  (readdirSync(join(folder, 'node_modules/tesser'), { recursive: true }) as string[])
    .filter(path => !path.startsWith(join('dist', 'compile-cache')))
    .sort()
