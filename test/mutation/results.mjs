import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const PATH = new URL('./results.json', import.meta.url)

/**
 * Results by the ids of mutants: the test file below `test/` that killed the mutant, or null. Kept in `results.json` by file and
 * declaration, without mutants whose code has changed or whose test no longer exists.
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

/** Writes in the order of the code, so that a run with the same findings writes the same file. */
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
