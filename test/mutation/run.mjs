/**
 * Measures whether tests notice mistakes: changes one place at a time and runs the tests that reach it until one fails. See README.md.
 *
 *   npm run test:mutation -- [--count 330] [--seed N] [--room write,hooks] [--only FILE[:LINE]] [--survivors] [--list]
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parseArgs } from 'node:util'
import { choose, isFor, mutantsOf } from './choose.mjs'
import { readReach } from './reach.mjs'
import { readResults, writeResults } from './results.mjs'
import { ROOMS, testsOf } from './rooms.mjs'
import { buildWith, inTurns, runNode } from './run-node.mjs'

const OUT = 'dist-mutation'
/** Survives builds; created again if missing. */
const KEPT = 'dist-mutation-kept'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '330' },
    seed: { type: 'string', default: '1' },
    room: { type: 'string' },
    only: { type: 'string' },
    without: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    least: { type: 'string', default: '85' },
    jobs: { type: 'string', default: '1' },
    survivors: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    reach: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
})
const [count, seconds, least, jobs] = ['count', 'seconds', 'least', 'jobs'].map(name => Number(values[name]))
const rooms = values.room?.split(',') ?? Object.keys(ROOMS)
const unknown = rooms.find(room => !ROOMS[room])
if (unknown !== undefined) throw new Error(`there is no room "${unknown}"; there are ${Object.keys(ROOMS).join(', ')}`)
const accepted = JSON.parse(readFileSync(new URL('./accepted.json', import.meta.url), 'utf8'))

setPriority(10)
mkdirSync(KEPT, { recursive: true })
const all = Object.keys(ROOMS).flatMap(mutantsOf)
/** Tests that pass without a mutant, and tests that do not, as far as known. */
const [sound, unsound] = [new Set(), new Set()]
const shares = new Map(rooms.map((room, i) => [room, share(i)]))
const mutants = [...shares.values()].flatMap(({ chosen }) => chosen)
const results = readResults(all)
if (values.again) for (const { id } of mutants) results.delete(id)
if (!values.list) await judge()
report()

function share(i) {
  const ofRoom = all.filter(({ room }) => room === rooms[i])
  if (values.only) return choose(ofRoom.filter(isWanted), Number.POSITIVE_INFINITY, values.seed, accepted)
  const size = Math.floor(((i + 1) * count) / rooms.length) - Math.floor((i * count) / rooms.length)
  return choose(ofRoom, size, values.seed, accepted)
}

/** `--only engine/query/plan/lower.ts` or `--only engine/query/plan/lower.ts:242`: all mutants of a file or a line. */
function isWanted({ file, line }) {
  const [path, wanted] = values.only.split(':')
  return file.startsWith(path) && (wanted === undefined || line === Number(wanted))
}

async function judge() {
  const open = mutants.filter(({ id }) => !results.has(id) || (values.survivors && results.get(id) === null))
  if (open.length === 0) return
  const isLeftOut = file => values.without?.split(',').some(place => file.startsWith(place))
  const files = [...new Set(rooms.flatMap(testsOf))].filter(file => !isLeftOut(file))
  const tests = await readReach({ files, mutants: all, store: `${KEPT}/reach.json`, jobs, again: values.reach })
  await buildWith(mutants, OUT, false)
  console.log(`seed ${values.seed}: ${mutants.length} mutants, ${open.length} to be tried`)
  const numbers = new Map(mutants.map(({ id }, number) => [id, number]))
  let done = 0
  await inTurns(open, jobs, async mutant => {
    const { killer, ran, near } = await tryOne(mutant, numbers.get(mutant.id), tests)
    results.set(mutant.id, killer)
    writeResults(all, results)
    const outcome = killer
      ? `killed ${placeOf(mutant)} ${killer}`
      : `ALIVE  ${placeOf(mutant)} after ${ran} of ${near} tests`
    console.log(`${++done}/${open.length} ${outcome}`)
  })
}

async function tryOne(mutant, number, tests) {
  const near = nearest(mutant, tests)
  let left = seconds * 1000
  let ran = 0
  for (const { file, ms } of near) {
    if (unsound.has(file) || (ms > left && ran > 0)) continue
    ran++
    left -= ms
    // A test that takes several times as long as usual is in an endless loop, which counts as noticed.
    const timeoutMs = 10_000 + 5 * ms
    const { status } = await runNode([`${OUT}/test/${file}`], { TESSER_MUTANT: String(number) }, timeoutMs)
    if (status !== 0 && (await isSound(file, status === null, timeoutMs))) return { killer: file.replace(/js$/, 'ts') }
  }
  return { killer: null, ran, near: near.length }
}

/**
 * True if a test passes in the same build without a mutant, which makes its failure a kill. Checked once for each test, and
 * again after each timeout, because the machine may have been busy.
 */
async function isSound(file, isByTime, timeoutMs) {
  if (sound.has(file) && !isByTime) return true
  const { status } = await runNode([`${OUT}/test/${file}`], {}, timeoutMs)
  if (status === 0) sound.add(file)
  else if (!isByTime) unsound.add(file)
  if (status !== 0) console.log(`no kill: ${file} ${status === null ? 'takes too long' : 'fails'} without a mutant too`)
  return status === 0
}

/**
 * Tests that reach a mutant, by the time until they probably kill it. If none is known because the code is newer than the
 * records, tests that reach its file.
 */
function nearest(mutant, tests) {
  const ofRoom = new Set(testsOf(mutant.room).map(file => file.replace(/ts$/, 'js')))
  const inRoom = tests.filter(({ file }) => ofRoom.has(file))
  const inFile = all.filter(({ file }) => file === mutant.file)
  const exact = inRoom.filter(({ ids }) => ids.has(mutant.id))
  const reaching = exact.length > 0 ? exact : inRoom.filter(({ ids }) => inFile.some(({ id }) => ids.has(id)))
  const name = mutant.file.replace(/^.*\/|\.ts$/g, '')
  const killers = new Set(inFile.map(({ id }) => results.get(id)))
  const share = file => {
    if (file.endsWith(`/${name}.test.js`)) return 0.1
    if (killers.has(file.replace(/js$/, 'ts'))) return 0.3
    return file.startsWith('unit/') ? 0.6 : 1
  }
  return reaching.sort((a, b) => a.ms * share(a.file) - b.ms * share(b.file))
}

function report() {
  console.log('\n| room | mutants | killed | percent | accepted | neither |\n| --- | --: | --: | --: | --: | --: |')
  const tried = mutants.filter(({ id }) => results.has(id))
  const killed = inRoom => inRoom.filter(({ id }) => results.get(id)).length
  const row = (name, inRoom, passedOver) => {
    const percent = inRoom.length === 0 ? '' : ((100 * killed(inRoom)) / inRoom.length).toFixed(1)
    const cells = [name, inRoom.length, killed(inRoom), percent, passedOver.length, inRoom.length - killed(inRoom)]
    console.log(`| ${cells.join(' | ')} |`)
  }
  for (const [room, { passedOver }] of shares) {
    const inRoom = tried.filter(mutant => mutant.room === room)
    row(room, inRoom, passedOver)
  }
  const passedOver = [...shares.values()].flatMap(({ passedOver }) => passedOver)
  row('all', tried, passedOver)
  if (tried.length < mutants.length) console.log(`\n${mutants.length - tried.length} have not been tried`)
  for (const mutant of passedOver) console.log(`\naccepted ${described(mutant)}\n    ${mutant.reason}`)
  for (const mutant of tried.filter(({ id }) => !results.get(id))) console.log(`\nALIVE ${described(mutant)}`)
  for (const entry of accepted.filter(entry => !all.some(mutant => isFor(entry, mutant)))) {
    console.log(`\naccepted.json: an entry without a mutant: ${JSON.stringify(entry)}`)
  }
  process.exitCode = killed(tried) < (least / 100) * mutants.length ? 1 : 0
}

function described(mutant) {
  const { original, mutated } = mutant
  return `${placeOf(mutant)}\n    ${original.slice(0, 300)}\n    → ${mutated.slice(0, 300)}`
}

function placeOf({ file, line, kind }) {
  return `${file}:${line} ${kind}`
}
