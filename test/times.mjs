/**
 * Runs test files of a build, and says where their time goes.
 *
 *   npm run test:times                 all files of `npm test`, as a table in test/README.md
 *   node test/times.mjs dist/groups/cost.test.js [FILE …]    these alone, on the screen
 *
 * As many files as there are processors run at once: processor times are comparable, wall times on an idle machine only.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { runTestFile } from './support/runner/run-test-file.mjs'

const README = new URL('README.md', import.meta.url)
const TABLE = /(?<=<!-- times -->\n)[\s\S]*?(?=<!-- \/times -->)/

const given = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'tesser-times-'))
/** Times of a process that ended itself at once. */
const NOTHING = {
  cpu: 0,
  main: 0,
  loaded: { cpu: 0 },
  idle: 0,
  children: 0,
  childrenCpu: 0,
  servers: 0,
  serversWall: 0,
}
/** Times of the tests of each file, in milliseconds; processes run many. */
const files = new Map()
/** Processor time from which a file is in the table, in milliseconds. */
const LARGE_FILE = 3_000
const seconds = ms => (ms / 1000).toFixed(1)

function build() {
  const startedAt = performance.now()
  execFileSync(process.execPath, ['config/build.mjs', '--tests', '--types'], { stdio: 'inherit' })
  return performance.now() - startedAt
}

/** Times of a file, in milliseconds. */
async function measured(file) {
  const times = join(folder, `${basename(file)}.ndjson`)
  const startedAt = performance.now()
  const { status } = await runTestFile(file, {
    env: {
      TESSER_TEST_TIMES: times,
      NODE_OPTIONS:
        '--import=./test/support/runner/times/record.mjs --import=./test/support/runner/without-tap-hooks.mjs',
    },
  })
  const wall = performance.now() - startedAt
  const lines = (existsSync(times) ? readFileSync(times, 'utf8') : '')
    .trim()
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
  const own = lines.find(({ kind }) => kind === 'process') ?? NOTHING
  const threads = lines.filter(({ kind }) => kind === 'thread')
  for (const { kind, file, wall, cpu } of lines)
    if (kind === 'test' && file !== undefined) {
      const sum = files.get(file) ?? { name: file, wall: 0, cpu: 0 }
      files.set(file, { name: file, wall: sum.wall + wall, cpu: sum.cpu + cpu })
    }
  const starting = threads.reduce((sum, { cpu }) => sum + cpu, 0)
  return {
    name: basename(file, '.test.js'),
    status,
    wall,
    cpu: own.cpu + own.childrenCpu,
    loading: own.loaded.cpu,
    threads: threads.length,
    starting,
    running: own.cpu - own.main - starting,
    servers: own.servers,
    serversWall: own.serversWall,
    children: own.children,
    childrenCpu: own.childrenCpu,
    main: own.main - own.loaded.cpu,
    waiting: own.idle,
  }
}

const COLUMNS = [
  ['process', ({ name, status }) => (status === 0 ? name : `${name} (failed)`)],
  ['wall', ({ wall }) => seconds(wall)],
  ['CPU', ({ cpu }) => seconds(cpu)],
  ['loading', ({ loading }) => seconds(loading)],
  ['checks', ({ main }) => seconds(main)],
  ['threads', ({ threads, starting }) => `${seconds(starting)} (${threads})`],
  ['in threads', ({ running }) => seconds(running)],
  ['processes', ({ children, childrenCpu }) => `${seconds(childrenCpu)} (${children})`],
  ['servers', ({ servers, serversWall }) => `${seconds(serversWall)} (${servers})`],
  ['waiting', ({ waiting }) => seconds(waiting)],
]

const FILE_COLUMNS = [
  ['file', ({ name }) => name],
  ['wall', ({ wall }) => seconds(wall)],
  ['CPU', ({ cpu }) => seconds(cpu)],
]

const line = cells => `| ${cells.join(' | ')} |`
const table = (columns, rows) =>
  [
    line(columns.map(([name]) => name)),
    line(columns.map((_, i) => (i === 0 ? '---' : '--:'))),
    ...rows.map(each => line(columns.map(([, cell]) => cell(each)))),
  ].join('\n')

const built = given.length > 0 ? undefined : build()
const left = given.length > 0 ? [...given] : readdirSync('dist/groups').map(name => `dist/groups/${name}`)
const all = []
const startedAt = performance.now()
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let file = left.shift(); file !== undefined; file = left.shift()) {
      const one = await measured(file)
      all.push(one)
      process.stderr.write(`${one.name}: ${seconds(one.wall)} s, ${seconds(one.cpu)} s of CPU\n`)
    }
  }),
)
const wall = performance.now() - startedAt
rmSync(folder, { recursive: true })
all.sort((a, b) => b.cpu - a.cpu)
const sum = { name: 'all', status: 0 }
for (const each of all)
  for (const [name, value] of Object.entries(each))
    if (typeof value === 'number' && name !== 'status') sum[name] = (sum[name] ?? 0) + value
const large = [...files.values()].filter(({ cpu }) => cpu >= LARGE_FILE).sort((a, b) => b.cpu - a.cpu)
const text = `${table(COLUMNS, [sum, ...all])}

Of the ${files.size} files, the tests of these take ${seconds(LARGE_FILE)} s of processor time or more, without what is loaded:

${table(FILE_COLUMNS, large)}`
if (built === undefined) console.log(text)
else {
  const heading = `Building took ${seconds(built)} s, the processes ${seconds(wall)} s on ${availableParallelism()} processors.`
  writeFileSync(README, readFileSync(README, 'utf8').replace(TABLE, `${heading}\n\n${text}\n`))
}
process.exitCode = all.some(({ status }) => status !== 0) ? 1 : 0
