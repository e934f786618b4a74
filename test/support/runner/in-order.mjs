import fc from 'fast-check'

/** Seed of the order in which the files of a process run: they depend on none. 0 keeps the order of the folder. */
const seed = Number(process.env.TESSER_TEST_ORDER ?? 1)

/**
 * @param {import('tap').TAP} t reports the seed
 * @param {readonly string[]} files
 */
export function inOrder(t, files) {
  t.comment(`order of files: TESSER_TEST_ORDER=${seed}`)
  if (seed === 0) return files
  return fc.sample(fc.shuffledSubarray([...files], { minLength: files.length }), { seed, numRuns: 1 })[0]
}
