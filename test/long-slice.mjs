/**
 * A slice of the long run: test files at their full counts, as many as a time allows. Which ones, in which order and on which
 * setting, depends on the commit, so that every commit tries others.
 *
 *   node test/long-slice.mjs [--minutes 5] [--commit HASH]
 *
 * Needs a build with tests. A file that is not done when the time is over is ended and counts neither way. Ends with a line
 * `N passed, N failed`; what fails is printed. Exit code 1 when something failed.
 */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '5' }, commit: { type: 'string' } },
})
const commit = values.commit ?? execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()
const endsAt = Date.now() + Number(values.minutes) * 60_000

const orderOf = text => createHash('sha256').update(`${commit} ${text}`).digest('hex')
const runs = ['protocol', 'property', 'concurrency', 'durability', 'cost'].flatMap(folder => {
  const files = readdirSync(`dist/test/${folder}`).filter(file => file.endsWith('.test.js'))
  const settings = ['durability', 'cost'].includes(folder) ? ['normal'] : ['normal', 'memory-minimum', 'pool']
  return files.flatMap(file => settings.map(setting => ({ file: `dist/test/${folder}/${file}`, setting })))
})
runs.sort((a, b) => (orderOf(a.file + a.setting) < orderOf(b.file + b.setting) ? -1 : 1))

let passed = 0
let failed = 0
for (const { file, setting } of runs) {
  if (Date.now() > endsAt) break
  const startedAt = Date.now()
  const { status, output } = await run(file, setting)
  const total = /^# \{ total: .*$/m.exec(output)?.[0] ?? ''
  const countOf = name => Number(new RegExp(`${name}: (\\d+)`).exec(total)?.[1] ?? 0)
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  if (status === 'over') {
    console.log(`${file} (${setting}): not done after ${seconds} s`)
    break
  }
  passed += countOf('pass')
  failed += status === 0 ? 0 : Math.max(1, countOf('fail'))
  console.log(`${file} (${setting}): ${status === 0 ? 'ok' : 'FAILED'}, ${seconds} s`)
  if (status !== 0) console.log(failures(output))
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

function run(file, setting) {
  const child = spawn(process.execPath, ['--import=./test/support/without-tap-hooks.mjs', file], {
    env: { ...process.env, TESSER_TEST_LONG: '1', TESSER_TEST_SETTING: setting, TAP_TIMEOUT: '3600' },
    // A group of its own, so that servers that it has started end with it.
    detached: true,
  })
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), Math.max(0, endsAt - Date.now()))
  const pieces = []
  child.stdout.on('data', data => pieces.push(data))
  child.stderr.on('data', data => pieces.push(data))
  return new Promise(resolve =>
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const isOver = signal === 'SIGKILL' && Date.now() >= endsAt
      resolve({ status: isOver ? 'over' : (code ?? signal), output: Buffer.concat(pieces).toString() })
    }),
  )
}

/** Failed assertions, with the output below them, and the seed. */
function failures(output) {
  const lines = output.split('\n')
  const shown = lines.flatMap((line, at) => (/^ *not ok/.test(line) ? lines.slice(at, at + 30) : []))
  const seed = lines.filter(line => /seed/.test(line)).slice(0, 3)
  return [...seed, ...shown.slice(0, 200)].join('\n')
}
