import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { findMutants } from './find-mutants.mjs'
import { sourcesOf } from './rooms.mjs'

/** Paths of moved files when their mutants were first drawn: a move changes neither the sample nor the results. */
const firstPaths = JSON.parse(readFileSync(new URL('./first-paths.json', import.meta.url), 'utf8'))

/** Sources as they were when the mutants were found: builds take these, since files may change during a run. */
export const texts = new Map()

/**
 * All mutants of a room. `id` stays the same while the code around a mutant changes, so that results can be kept: a digest of
 * file, declaration, kind, text, and a number where these are the same.
 */
export function mutantsOf(room) {
  return sourcesOf(room).flatMap(file => {
    const counts = new Map()
    texts.set(file, readFileSync(file, 'utf8'))
    return findMutants(file, texts.get(file)).map(mutant => {
      const key = [firstPaths[file] ?? file, mutant.within, mutant.kind, mutant.original].join('\n')
      const count = counts.get(key) ?? 0
      counts.set(key, count + 1)
      return { ...mutant, file, room, id: digest(`${key}\n${count}`) }
    })
  })
}

/**
 * `count` of them, in an order by chance that depends on the seed and on each mutant alone: a change of the code replaces only
 * the mutants that it touches. Accepted ones do not count.
 * @returns {{ chosen: Mutant[], passedOver: Mutant[] }} `passedOver`: the accepted ones that would have been chosen
 */
export function choose(mutants, count, seed, accepted) {
  const ranked = mutants.map(mutant => ({ mutant, rank: digest(`${seed} ${mutant.id}`) }))
  ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1))
  const chosen = []
  const passedOver = []
  for (const { mutant } of ranked) {
    if (chosen.length === count) break
    const reason = reasonFor(mutant, accepted)
    if (reason) passedOver.push({ ...mutant, reason })
    else chosen.push(mutant)
  }
  return { chosen, passedOver }
}

/** Reason for which a mutant is no fault. */
const reasonFor = (mutant, accepted) => accepted.find(entry => isFor(entry, mutant))?.reason

/** Whether an entry of `accepted.json` is about a mutant: it names a file, and as much more as tells which ones. */
export const isFor = (entry, mutant) =>
  ['file', 'within', 'kind', 'original'].every(key => (entry[key] ?? mutant[key]) === mutant[key])

const digest = text => createHash('sha256').update(text).digest('base64url').slice(0, 12)
