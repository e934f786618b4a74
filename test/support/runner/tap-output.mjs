/** Reads the output of tap, a TAP stream. */

/** Maximum number of lines shown of each failure. */
const LINES_EACH = 25

/** @returns {{ total: number, pass: number, fail: number } | undefined} counts of assertions, from the last line of tap */
export function totalsOf(output) {
  const line = [...output.matchAll(/^# \{ total: .*$/gm)].at(-1)?.[0]
  const count = name => Number(new RegExp(`\\b${name}: (\\d+)`).exec(line)?.[1] ?? 0)
  return line && { total: count('total'), pass: count('pass'), fail: count('fail') }
}

/** @returns {string[]} test files that failed, in a stream whose outermost tests are files */
export const failedFilesOf = output => [...output.matchAll(/^not ok \d+ - (\S+\.m?js)\b/gm)].map(match => match[1])

/** @returns {string} the section of one file in such a stream; all of it if the file is not found */
export function sectionOf(output, file) {
  const start = output.indexOf(`\n# Subtest: ${file}`)
  const end = output.indexOf('\n# Subtest: ', start + 1)
  return start < 0 ? output : output.slice(start, end < 0 ? undefined : end)
}

/**
 * @returns {string[]} each failed assertion with the names of the tests that contain it, its diagnostics, lines that name a seed,
 *   and the error that ended the process
 */
export function failedCasesOf(output) {
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
    // The line of a test follows those of its assertions.
    const isTest = indent < deepest
    deepest = indent
    if (isTest) continue
    const diagnostics = lines.slice(at + 1, at + LINES_EACH)
    const end = diagnostics.findIndex(next => next.search(/\S/) <= indent && !/^ *(---|\.\.\.)/.test(next))
    found.push(`  ${names.slice(0, indent / 4).join(' > ')}`, line, ...diagnostics.slice(0, end < 0 ? undefined : end))
  }
  const end = lines.findLastIndex(line => /^\s*Node\.js v\d/.test(line))
  return end < 0 ? found : [...found, ...lines.slice(Math.max(0, end - LINES_EACH), end)]
}
