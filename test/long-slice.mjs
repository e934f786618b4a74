/**
 * A slice of the long run: as many test files at their full counts as the time allows. The commit decides which ones, in
 * which order and on which setting, so that every commit tries different ones.
 *
 *   node test/long-slice.mjs [--minutes 5] [--commit HASH]
 *
 * Needs a build with tests. A file that is not done when the time is over is ended and not counted. Ends with a line
 * `N passed, N failed`; failures are printed. Exit code 1 if something failed.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { runTestFile } from './support/runner/run-test-file.mjs'
import { failedCasesOf, totalsOf } from './support/runner/tap-output.mjs'

/** Maximum number of lines shown of a file that failed. */
const MAX_LINES = 200

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
  const env = { TESSER_TEST_LONG: '1', TESSER_TEST_SETTING: setting, TAP_TIMEOUT: '3600' }
  const { status, isOver, output } = await runTestFile(file, { env, endsAt })
  const seconds = Math.round((Date.now() - startedAt) / 1000)
  if (isOver) {
    console.log(`${file} (${setting}): not done after ${seconds} s`)
    break
  }
  const totals = totalsOf(output)
  passed += totals?.pass ?? 0
  failed += status === 0 ? 0 : Math.max(1, totals?.fail ?? 0)
  console.log(`${file} (${setting}): ${status === 0 ? 'ok' : 'FAILED'}, ${seconds} s`)
  if (status !== 0) console.log(failedCasesOf(output).slice(0, MAX_LINES).join('\n'))
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
