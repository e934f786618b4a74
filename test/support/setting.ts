/**
 * Setup of the server or engine of a test that does not choose one itself. TESSER_TEST_SETTING names a setting; otherwise
 * the tests of a file take them in turns, or the seed of a random world selects one. `npm run test:long` runs the protocol and
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
const IN_TURNS = SETTINGS.filter(setting => setting !== 'remote')

/** Setting named by TESSER_TEST_SETTING. Read each time, because a test may set it for others. */
export function wantedSetting(): Setting | undefined {
  const name = process.env.TESSER_TEST_SETTING
  if (name === undefined || SETTINGS.includes(name as Setting)) return name as Setting | undefined
  throw new Error(`TESSER_TEST_SETTING is "${name}"; there are ${SETTINGS.join(', ')}`)
}

/** Outermost tests of each file that have a setting, in the order in which they asked for it. */
const tests = new Map<string, string[]>()

/**
 * Setting of a test: that of the outermost test that contains it, below its file and the root of tap. These take the settings in
 * turns.
 */
export function settingOf({ fullname }: { fullname: string }): Setting {
  const [file = '', , outermost = file] = fullname.split(' > ')
  const known = tests.get(file) ?? []
  tests.set(file, known)
  if (!known.includes(outermost)) known.push(outermost)
  return IN_TURNS[known.indexOf(outermost) % IN_TURNS.length]!
}

export const optionsOf = (setting: Setting): SettingOptions => OPTIONS[setting]

/** For tests whose answers differ with dataclasses in PostgreSQL. @param reason why the setting `remote` leaves the test out */
export const unlessRemote = (reason: string): { skip: string | false } => ({
  skip: wantedSetting() === 'remote' && reason,
})
