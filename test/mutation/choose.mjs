import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { findMutants } from './find-mutants.mjs'
import { sourcesOf } from './rooms.mjs'

/** Paths of moved files at the time when their mutants were first drawn: a move changes neither the sample nor the results. */
const firstPaths = JSON.parse(readFileSync(new URL('./first-paths.json', import.meta.url), 'utf8'))

/** Sources at the time when the mutants were found: builds use these, because files may change during a run. */
export const texts = new Map()

/**
 * All mutants of a room. `id` does not change with the code around a mutant, so that results can be kept: a digest of
 * file, declaration, kind, text, and a number if these are equal.
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
 * `count` of the mutants, in a pseudo-random order that depends only on the seed and on each mutant itself: a change of the code
 * replaces only the mutants that it touches. Accepted ones do not count.
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

/** Reason why a mutant is not a fault. */
const reasonFor = (mutant, accepted) => accepted.find(entry => isFor(entry, mutant))?.reason

/** True if an entry of `accepted.json` covers a mutant: the entry names a file, and any further properties that identify mutants. */
export const isFor = (entry, mutant) =>
  ['file', 'within', 'kind', 'original'].every(key => (entry[key] ?? mutant[key]) === mutant[key])

const digest = text => createHash('sha256').update(text).digest('base64url').slice(0, 12)
