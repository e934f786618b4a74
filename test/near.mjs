/**
 * Runs the test files near a change: those whose bundle contains a file that differs from another revision. The smallest
 * bundles run first, until the time is over; the next of the remaining files are named.
 *
 *   node test/near.mjs [--base main] [--seconds 60]
 *
 * Ends with a line `N passed, N failed`. Exit code 1 if something failed, or if the time was over before any file was
 * done.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { nearTests } from './support/runner/near-tests.mjs'
import { runTestFile } from './support/runner/run-test-file.mjs'
import { failedCasesOf, totalsOf } from './support/runner/tap-output.mjs'

/** Number of files to name for which there was no time. */
const NAMED = 10

const { values } = parseArgs({
  options: { base: { type: 'string', default: 'main' }, seconds: { type: 'string', default: '60' } },
})
const endsAt = Date.now() + Number(values.seconds) * 1000

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean)
const changed = [...git('diff', '--name-only', values.base), ...git('ls-files', '--others', '--exclude-standard')]
execFileSync(process.execPath, ['config/build.mjs', '--tests'], { stdio: 'inherit' })
const imports = new Map(Object.entries(JSON.parse(readFileSync('dist/imports.json', 'utf8'))))
const near = nearTests(changed, imports)

let passed = 0
let failed = 0
const left = [...near]
const runNext = async () => {
  for (let file = left.shift(); file !== undefined; file = left.shift()) {
    if (Date.now() >= endsAt) return left.unshift(file)
    const startedAt = Date.now()
    const { status, isOver, output } = await runTestFile(`dist/${file.replace(/ts$/, 'js')}`, { endsAt })
    if (isOver) {
      left.push(file)
      continue
    }
    const totals = totalsOf(output)
    passed += totals?.pass ?? 0
    failed += status === 0 ? 0 : Math.max(1, totals?.fail ?? 0)
    console.log(`${file}: ${status === 0 ? 'ok' : 'FAILED'}, ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
    if (status !== 0) console.log(failedCasesOf(output).join('\n'))
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, runNext))
if (left.length > 0) {
  const next = left.slice(0, NAMED).join(', ') + (left.length > NAMED ? ', …' : '')
  console.log(`${left.length} of ${near.length} files were not run within ${values.seconds} s: ${next}`)
}
// A time that was too short for any file says nothing about the change.
if (near.length > 0 && left.length === near.length) failed++
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
