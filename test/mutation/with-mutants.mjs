import { readFileSync } from 'node:fs'
import { instrument } from './instrument.mjs'

/** The plugin for `config/build.mjs --with`, with the mutants that run.mjs has chosen. */
const { mutants, texts, isTraced } = JSON.parse(readFileSync(process.env.TESSER_MUTANTS, 'utf8'))
const byFile = new Map()
for (const mutant of mutants) {
  const { file } = mutant
  byFile.set(file, { text: texts[file], mutants: [...(byFile.get(file)?.mutants ?? []), mutant] })
}
export default instrument(byFile, isTraced)
