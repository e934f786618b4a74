/**
 * Reads the output of `npm test -- --reporter=tap` and runs each failed test file once more, alone: one that passes then is
 * flaky, not a failure. Shows the failures, then names the flaky files, and ends with a line `N passed, N failed`.
 *
 *   node test/second-try.mjs OUTPUT STATUS
 *
 * Exit code 1 when a file failed twice, or when the tests ended with a status other than 0 that no file explains.
 */
import { readFileSync } from 'node:fs'
import { runTestFile } from './support/runner/run-test-file.mjs'
import { failedCasesOf, failedFilesOf, sectionOf, totalsOf } from './support/runner/tap-output.mjs'

/** Maximum number of lines shown of all failures together. */
const MAX_LINES = 200
/** Maximum number of second tries. When more files fail, the machine or the change is at fault, and trying again only takes time. */
const MAX_TRIES = 5

const [, , outputFile, status] = process.argv
const first = readFileSync(outputFile, 'utf8')
const failedFiles = failedFilesOf(first)
const flaky = []
const failures = failedFiles.slice(MAX_TRIES).map(file => ({ file, output: sectionOf(first, file) }))
for (const file of failedFiles.slice(0, MAX_TRIES)) {
  const second = await runTestFile(file)
  if (second.status === 0) flaky.push(file)
  else failures.push({ file, output: second.output })
}

const shown = [
  ...flaky.flatMap(file => [`${file} failed at first:`, ...failedCasesOf(sectionOf(first, file))]),
  ...failures.flatMap(({ file, output }) => [`${file} failed:`, ...failedCasesOf(output)]),
]
const totals = totalsOf(first)
const hasEnded = totals && totals.total > 0 && (status === '0' || failedFiles.length > 0)
if (!hasEnded) shown.push(`The tests ended with ${status}:`, ...first.split('\n').slice(-60))
for (const line of shown.slice(0, MAX_LINES)) console.log(line)
if (shown.length > MAX_LINES) console.log(`and ${shown.length - MAX_LINES} more lines`)

const failed = failures.reduce((sum, { output }) => sum + Math.max(1, totalsOf(output)?.fail ?? 0), hasEnded ? 0 : 1)
const passed = totals ? totals.pass + (failures.length === 0 ? totals.fail : 0) : 0
if (flaky.length > 0) console.log(`flaky: ${flaky.join(', ')}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
