import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const PATH = new URL('./results.json', import.meta.url)

/**
 * Results by the ids of mutants: the test file below `test/` that has killed it, or null. Kept in `results.json` below the file and the
 * declaration, without those whose code has changed or whose test has gone since.
 * @param {readonly (import('./find-mutants.mjs').Mutant & { file: string, id: string })[]} mutants of all rooms
 * @returns {Map<string, string | null>}
 */
export function readResults(mutants) {
  const written = existsSync(PATH) ? JSON.parse(readFileSync(PATH, 'utf8')) : {}
  const results = new Map()
  for (const mutant of mutants) {
    const result = written[mutant.file]?.[keyOf(mutant)]
    const isKnown = result === null || (result && existsSync(`test/${result}`))
    if (isKnown) results.set(mutant.id, result)
  }
  return results
}

/** In the order of the code, so that a run that finds the same writes the same. */
export function writeResults(mutants, results) {
  const written = {}
  for (const mutant of mutants) {
    if (!results.has(mutant.id)) continue
    written[mutant.file] ??= {}
    written[mutant.file][keyOf(mutant)] = results.get(mutant.id)
  }
  writeFileSync(PATH, `${JSON.stringify(written, null, 2)}\n`)
}

const keyOf = ({ within, kind, id }) => `${within}: ${kind} (${id})`
