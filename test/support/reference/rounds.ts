import { wantedSetting } from '../setting.ts'

/**
 * Seeds of a run. `TESSER_TEST_SEED` repeats one; a long run (`TESSER_TEST_LONG`) takes new ones each time.
 */
export const isLong = process.env.TESSER_TEST_LONG !== undefined

const base = process.env.TESSER_TEST_SEED
  ? Number(process.env.TESSER_TEST_SEED)
  : isLong
    ? Date.now() % 1_000_000_000
    : 20_200_229

/** The seeds of `count` worlds, or the one that was asked for. */
export const seeds = (count: number): number[] =>
  process.env.TESSER_TEST_SEED ? [base] : Array.from({ length: count }, (_, i) => base + i)

/**
 * A full count, of the long run of the usual setting. The two others (../setting.ts) take a third of it: that run is done
 * three times.
 */
export const longCount = (count: number): number =>
  wantedSetting() === 'memory-minimum' || wantedSetting() === 'pool' ? Math.ceil(count / 3) : count

/** For `t.setTimeout`: a long run takes minutes on a slow machine. */
export const timeoutMs = isLong ? 1_800_000 : 300_000
