import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * An esbuild plugin that builds all mutants in at once, so that nothing is rebuilt for each. The variable TESSER_MUTANT
 * names the active one when a process or thread starts; without it, none is active. With TESSER_MUTANT_HITS (a folder), a place
 * that runs for the first time in a thread writes its number there, which shows what a test reaches.
 *
 * @param {ReadonlyMap<string, { text: string, mutants: readonly (import('./find-mutants.mjs').Mutant & { number: number })[] }>} files
 * @param {boolean} isTraced includes the writing of numbers; slow in hot code
 */
export const instrument = (files, isTraced) => ({
  name: 'mutants',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/, namespace: 'file' }, ({ path }) => {
      const file = files.get(relative(root, path).split(sep).join('/'))
      if (!file) return undefined
      return {
        contents: PRELUDE + (isTraced ? TRACE : '') + withMutants(file.text, file.mutants, isTraced),
        loader: 'ts',
      }
    })
  },
})

/** The text with a switch at each place. Places may be nested: inner ones are done first. */
export function withMutants(text, mutants, isTraced) {
  const places = [...mutants].sort((a, b) => a.start - b.start || b.end - a.end)
  const write = (from, to, inner) => {
    let written = ''
    let at = from
    for (let i = 0; i < inner.length; ) {
      const place = inner[i]
      let next = i + 1
      while (next < inner.length && inner[next].start < place.end) next++
      const content = write(place.start, place.end, inner.slice(i + 1, next))
      written += text.slice(at, place.start)
      // A line that begins with a bracket would continue the line before.
      if (place.kind === 'call forgotten') written += 'void '
      const unchanged = isTraced ? `($reached(${place.number}), ${content})` : content
      written += `($mutant === ${place.number} ? ${place.mutated} : ${unchanged})`
      at = place.end
      i = next
    }
    return written + text.slice(at, to)
  }
  return write(0, text.length, places)
}

const PRELUDE = `const $mutant = Number(process.env.TESSER_MUTANT ?? -1)
`
const TRACE = `import { appendFileSync as $append } from 'node:fs'
const $folder = process.env.TESSER_MUTANT_HITS
const $known = []
const $reached = number => {
  if ($known[number]) return
  $known[number] = true
  if ($folder) $append($folder + '/hits', number + ' ')
}
`
