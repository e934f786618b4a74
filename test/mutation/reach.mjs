import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildWith, inTurns, runNode, scratch } from './run-node.mjs'

const OUT = 'dist-mutation-reach'
const LONGEST_MS = 180_000

/**
 * Runs each test file once without a mutant and notes the places of `mutants` that it reaches. Results are kept in a file, and a
 * test runs again only when its own text has changed.
 * @returns tests that pass: `{ file, ms, ids }`, `ids` of the mutants whose place is reached
 */
export async function readReach({ files, mutants, store, jobs, again }) {
  const known = existsSync(store) && !again ? JSON.parse(readFileSync(store, 'utf8')) : {}
  const hashOf = file =>
    createHash('sha256')
      .update(readFileSync(`test/${file}`))
      .digest('hex')
      .slice(0, 16)
  const outdated = files.filter(file => known[file]?.hash !== hashOf(file))
  if (outdated.length > 0) {
    console.log(`what ${outdated.length} of ${files.length} tests reach:`)
    await buildWith(mutants, OUT, true)
    let done = 0
    await inTurns(outdated, jobs, async file => {
      const folder = mkdtempSync(join(scratch, 'hits-'))
      const startedAt = performance.now()
      const { status } = await runNode([`${OUT}/test/${built(file)}`], { TESSER_MUTANT_HITS: folder }, LONGEST_MS)
      const ms = Math.round(performance.now() - startedAt)
      const ids = status === 0 ? [...hits(folder)].map(number => mutants[number].id) : []
      rmSync(folder, { recursive: true })
      known[file] = { hash: hashOf(file), ms, passes: status === 0, ids }
      writeFileSync(store, JSON.stringify(known))
      const outcome =
        status === 0 ? `${ids.length} places` : `left out, because it ${status === null ? 'takes too long' : 'fails'}`
      console.log(`  ${++done}/${outdated.length} ${file}: ${ms} ms, ${outcome}`)
    })
  }
  return files
    .filter(file => known[file].passes)
    .map(file => ({ file: built(file), ms: known[file].ms, ids: new Set(known[file].ids) }))
}

const built = file => file.replace(/\.ts$/, '.js')

function hits(folder) {
  const path = join(folder, 'hits')
  return new Set(existsSync(path) ? readFileSync(path, 'utf8').trim().split(' ').map(Number) : [])
}
