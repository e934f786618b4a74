/**
 * Reads the output of `npm test -- --reporter=tap` and runs each test file that failed once more by itself: one that passes
 * then is flaky, not a failure. Shows what failed, then names the flaky files, and ends with a line `N passed, N failed`.
 *
 *   node test/second-try.mjs OUTPUT STATUS
 *
 * Exit code 1 when a file failed twice, or when the tests ended with a status other than 0 and no file tells why.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Lines that are shown of all failures together, and of each. */
const MAX_LINES = 200
const LINES_EACH = 25
/** Second tries. When more files fail, the machine or the change is at fault, and trying again only takes time. */
const MAX_TRIES = 5

const [, , outputFile, status] = process.argv
const first = readFileSync(outputFile, 'utf8')
const failedFiles = topLevelFailures(first)
const tries = failedFiles.slice(0, MAX_TRIES).map(file => {
  const run = spawnSync(process.execPath, ['--import=./test/support/without-tap-hooks.mjs', file], {
    env: { ...process.env, TAP_TIMEOUT: '900' },
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  return { file, hasPassed: run.status === 0, output: `${run.stdout}\n${run.stderr}` }
})
const flaky = tries.filter(({ hasPassed }) => hasPassed).map(({ file }) => file)
const failures = [
  ...failedFiles.slice(MAX_TRIES).map(file => ({ file, output: sectionOf(first, file) })),
  ...tries.filter(({ hasPassed }) => !hasPassed),
]

const shown = [
  ...flaky.flatMap(file => [`${file} failed at first:`, ...failedCases(sectionOf(first, file))]),
  ...failures.flatMap(({ file, output }) => [`${file} failed:`, ...failedCases(output)]),
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

/** @returns {string[]} test files that failed, in a TAP stream whose outermost tests are files */
function topLevelFailures(output) {
  return [...output.matchAll(/^not ok \d+ - (\S+\.m?js)\b/gm)].map(match => match[1])
}

/** @returns {string} the part of the stream that is of one file; all of it when it is not found */
function sectionOf(output, file) {
  const start = output.indexOf(`\n# Subtest: ${file}`)
  const end = output.indexOf('\n# Subtest: ', start + 1)
  return start < 0 ? output : output.slice(start, end < 0 ? undefined : end)
}

/** @returns {{ total: number, pass: number, fail: number } | undefined} counts of assertions, from the last line of tap */
function totalsOf(output) {
  const line = [...output.matchAll(/^# \{ total: .*$/gm)].at(-1)?.[0]
  const count = name => Number(new RegExp(`\\b${name}: (\\d+)`).exec(line)?.[1] ?? 0)
  return line && { total: count('total'), pass: count('pass'), fail: count('fail') }
}

/** @returns {string[]} each failed assertion with the names of the tests it is part of, its diagnostics, and lines that name a seed */
function failedCases(output) {
  const lines = output.split('\n')
  const names = []
  const found = []
  let deepest = -1
  for (const [at, line] of lines.entries()) {
    const indent = line.search(/\S/)
    const subtest = /^ *# Subtest: (.*)/.exec(line)
    if (subtest) names.splice(indent / 4, Number.POSITIVE_INFINITY, subtest[1])
    if (/^\s*failed with .*seed/.test(line)) found.push(line)
    if (!/^ *not ok/.test(line) || / # TODO/.test(line)) continue
    // The line of a test comes behind those of its assertions.
    const isTest = indent < deepest
    deepest = indent
    if (isTest) continue
    const diagnostics = lines.slice(at + 1, at + LINES_EACH)
    const end = diagnostics.findIndex(next => next.search(/\S/) <= indent && !/^ *(---|\.\.\.)/.test(next))
    found.push(`  ${names.slice(0, indent / 4).join(' > ')}`, line, ...diagnostics.slice(0, end < 0 ? undefined : end))
  }
  return found
}
