import { createHash } from 'node:crypto'

/**
 * Setup of the server or engine of a test that does not choose one itself. TESSER_TEST_SETTING names a setting; otherwise
 * the name of the test selects one, or the seed of a random world. `npm run test:long` runs the protocol and
 * the property tests on all of them. `remote` is for the tests of `npm run test:remote` alone.
 */
export type Setting = 'normal' | 'memory-minimum' | 'pool' | 'remote'

const OPTIONS = {
  normal: {},
  /** Everything is read from LMDB, one segment at a time. */
  'memory-minimum': { memoryBytes: 0, cacheBytes: 2 ** 20 },
  /** Every query goes to a thread of the pool. */
  pool: { pool: { inlineCostMs: 0, threads: 1 } },
  /** All dataclasses are tables of PostgreSQL. */
  remote: {},
} satisfies Record<Setting, object>

interface SettingOptions {
  memoryBytes?: number
  cacheBytes?: number
  pool?: { inlineCostMs: number; threads: number }
}

const SETTINGS = Object.keys(OPTIONS) as Setting[]
const USUAL = SETTINGS.filter(setting => setting !== 'remote')

/** Setting named by TESSER_TEST_SETTING. Read each time, because a test may set it for others. */
export function wantedSetting(): Setting | undefined {
  const name = process.env.TESSER_TEST_SETTING
  if (name === undefined || SETTINGS.includes(name as Setting)) return name as Setting | undefined
  throw new Error(`TESSER_TEST_SETTING is "${name}"; there are ${SETTINGS.join(', ')}`)
}

/**
 * Setting of a test, by the name of the outermost test that contains it, below its process and the root of tap: it does not depend on
 * the tests that run before.
 */
export function settingOf({ fullname }: { fullname: string }): Setting {
  const [process = '', , outermost = process] = fullname.split(' > ')
  const [byte] = createHash('sha256').update(outermost).digest()
  return USUAL[byte! % USUAL.length]!
}

export const optionsOf = (setting: Setting): SettingOptions => OPTIONS[setting]

/** For tests whose answers differ with dataclasses in PostgreSQL. @param reason why the setting `remote` leaves the test out */
export const unlessRemote = (reason: string): { skip: string | false } => ({
  skip: wantedSetting() === 'remote' && reason,
})
