import { wantedSetting } from '../setting.ts'

/** Property, crash and load tests at their full counts. */
export const isLong = process.env.TESSER_TEST_LONG !== undefined

/** `TESSER_TEST_SEED` repeats a run. */
export const givenSeed = process.env.TESSER_TEST_SEED ? Number(process.env.TESSER_TEST_SEED) : undefined

/** In continuous integration and in a long run every run sees new worlds; otherwise a failure is there again at once. */
const isFresh = isLong || process.env.TESSER_TEST_FRESH !== undefined || /^(true|1)$/.test(process.env.CI ?? '')

const fresh = Date.now() % 1_000_000_000

const USUAL = 20_200_229

/** Seed of a test that has one world: `usual`, unless the run asks for a given or a fresh one. */
export const seedOf = (usual: number): number => givenSeed ?? (isFresh ? fresh : usual)

/** The seeds of `count` worlds, or the one that TESSER_TEST_SEED names. */
export const seeds = (count: number): number[] =>
  givenSeed !== undefined ? [givenSeed] : Array.from({ length: count }, (_, i) => seedOf(USUAL) + i)

/** All of a list in a long run; otherwise `count` of them that the seed names, in their order. */
export const inTurn = <T>(all: readonly T[], count = 1): readonly T[] =>
  isLong ? all : all.filter((_, i) => (i + all.length - (seedOf(USUAL) % all.length)) % all.length < count)

if (givenSeed !== undefined || isFresh) {
  const text = givenSeed !== undefined ? `seed ${givenSeed}` : `fresh seeds from ${fresh} on`
  process.stderr.write(`${text}\n`)
  process.on('exit', code => {
    if (code !== 0) process.stderr.write(`failed with ${text}; TESSER_TEST_SEED={seed} repeats one of them\n`)
  })
}

/**
 * A full count, of the long run of the usual setting. The two others (../setting.ts) take a third of it: that run is done
 * three times.
 */
export const longCount = (count: number): number =>
  wantedSetting() === 'memory-minimum' || wantedSetting() === 'pool' ? Math.ceil(count / 3) : count

/** For `t.setTimeout`: a long run takes minutes on a slow machine. */
export const timeoutMs = isLong ? 1_800_000 : 300_000
