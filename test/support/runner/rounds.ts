import { wantedSetting } from './setting.ts'

/** True if property, crash and load tests run at their full counts. */
export const isLong = process.env.TESSER_TEST_LONG !== undefined

/** Seed of `TESSER_TEST_SEED`, which repeats a run. */
export const givenSeed = process.env.TESSER_TEST_SEED ? Number(process.env.TESSER_TEST_SEED) : undefined

/** First seed of a long run, where every run sees new worlds. All other runs take the same seeds, for the same verdict. */
const fresh = isLong ? Date.now() % 1_000_000_000 : undefined

const USUAL = 20_200_229

/** Seed of a test that has one world: `usual`, unless the run asks for a given or a fresh one. */
export const seedOf = (usual = USUAL): number => givenSeed ?? fresh ?? usual

/** The seeds of `count` worlds, or the one that TESSER_TEST_SEED names. */
export const seeds = (count: number): number[] =>
  givenSeed !== undefined ? [givenSeed] : Array.from({ length: count }, (_, i) => seedOf() + i)

/** All elements of a list in a long run; otherwise `count` of them that the seed selects, in their order. */
export const inTurn = <T>(all: readonly T[], count = 1): readonly T[] =>
  isLong ? all : all.filter((_, i) => (i + all.length - (seedOf() % all.length)) % all.length < count)

const kind =
  givenSeed !== undefined ? 'the given seed' : fresh !== undefined ? 'fresh seeds from' : 'the usual seeds, as'
/** Description of the seeds of this run. */
export const seedsInUse = `${kind} ${seedOf()}`
if (seedOf() !== USUAL) process.stderr.write(`${seedsInUse}\n`)
process.on('exit', code => {
  if (code !== 0) process.stderr.write(`failed with ${seedsInUse}; TESSER_TEST_SEED={seed} takes another one\n`)
})

/**
 * Full count, for the long run in the usual setting. The two other settings (`setting.ts`) take a third of it, because that run
 * is done three times.
 */
export const longCount = (count: number): number =>
  wantedSetting() === 'memory-minimum' || wantedSetting() === 'pool' ? Math.ceil(count / 3) : count

/** For `t.setTimeout`: a long run takes minutes on a slow machine. */
export const timeoutMs = isLong ? 1_800_000 : 300_000
