/**
 * Installs the packed file as a user would, serves the demo from it, and plays the first hour of the manual, on the Node.js of this run;
 * `npm run test:nodes` repeats this on the other versions. Packages come from npm's cache, if it has them.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { programOf } from '../support/base/programs.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { until } from '../support/base/until.ts'
import { installTesser, runTesser } from '../support/commands/author-package.ts'
import { isLong } from '../support/runner/rounds.ts'
import { creationFrom, playFirstHour } from './first-hour.ts'
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

const file = packed && join(folder, packed.filename)
const user = missing ? undefined : new InstalledPackage(t)
/** Output of the first command of the page; undefined if the registry does not answer. */
const created = user?.install(creationFrom(file!), { npm_config_ignore_scripts: 'true' })
const UNREACHABLE = 'the packages are not in the cache of npm, and the registry does not answer'

t.test('npx installs the packed file without scripts of packages', { skip: missing ?? false }, async t => {
  if (created === undefined) t.comment(`skipped: ${UNREACHABLE}`)
  else await serves(t, user!, user!.folderOfNpx)
})

const noCurl = programOf('curl') ? undefined : 'curl is not installed'
t.test('the first hour', { skip: missing ?? noCurl ?? false }, async t => {
  const { folder, env } = user!
  const installBuild = (application: string) => {
    t.comment(`the build of this test takes the place of the packed file: ${UNREACHABLE}`)
    installTesser(application)
  }
  const installPacked = (application: string) => {
    const modules = join(application, 'node_modules')
    // npm keeps these packages, and adds those of the template. Installing all of them again would take most of the time of this test.
    if (!all) renameSync(join(user!.folderOfNpx, 'node_modules'), modules)
    if (user!.install('npm install', {}, application) !== undefined) return
    rmSync(modules, { recursive: true, force: true })
    installBuild(application)
  }
  if (created !== undefined) await playFirstHour(t, { folder, env, created, install: installPacked })
  else {
    const { output } = await runTesser(folder, ...creationFrom('').split(' tesser ')[1]!.split(' '))
    await playFirstHour(t, { folder, env, created: output, install: installBuild })
  }
})

const skip = missing ?? (all ? false : 'it is installed in long runs and by test:nodes')
t.test('npm install, with scripts that find no compiler, then npx tesser', { skip }, async t => {
  const user = new InstalledPackage(t)
  if (user.install(`npm install ${file}`) === undefined) t.comment(`skipped: ${UNREACHABLE}`)
  else await serves(t, user, user.folder)
})

/** The demo serves from a folder in which the packed file is installed. */
async function serves(t: Test, user: InstalledPackage, folder: string): Promise<void> {
  const before = filesIn(folder)
  const url = await user.serve(t, folder)
  await until(async () => (await request(`${url}/health/ready`)).statusCode === 200)
  await asksForPages(t, url)
  await asksForVectors(t, url)

  const notes = () => user.log.filter(line => line.includes('hnswlib-node'))
  await until(() => notes().length > 0)
  t.match(notes(), [/hnswlib-node cannot be loaded .* npm (?:install|rebuild) hnswlib-node builds it/])
  t.equal(notes().length, 1)
  t.strictSame(filesIn(folder), before, 'the server writes into no package')
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
const filesIn = (folder: string): string[] =>
  (readdirSync(join(folder, 'node_modules/tesser'), { recursive: true }) as string[])
    .filter(path => !path.startsWith(join('dist', 'compile-cache')))
    .sort()
