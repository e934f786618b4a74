import t from 'tap'
import type { ProtocolError } from '../../../../engine/base/errors.ts'
import { FamiliarNetworks } from '../../../../kernel/auth/familiar-networks.ts'
import { type LoginOptions, Logins } from '../../../../kernel/auth/logins.ts'
import type { User } from '../../../../kernel/auth/user.ts'
import { MemoryRecords } from '../../../support/base/memory-records.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const OPTIONS: LoginOptions = {
  maxNameLength: 20,
  maxPasswordBytes: 64,
  failuresPerPair: 3,
  failuresPerNetwork: 6,
  failuresPerName: 9,
  concurrency: 2,
  queueLimit: 100,
}

/** Logins of users whose password is `right`, with a clock that the test moves. */
function open(options: Partial<LoginOptions> = {}, records = new MemoryRecords()) {
  const clock = { now: Date.parse('2026-06-01T00:00:00Z') }
  const checked: string[] = []
  const authenticate = async (name: string, password: string): Promise<User | undefined> => {
    checked.push(name)
    return password === 'right' ? { userName: name, groups: [], granted: { privileges: [], roles: [] } } : undefined
  }
  const now = () => clock.now
  const familiar = new FamiliarNetworks(records.asServerRecords, now, error => t.fail(error))
  const logins = new Logins({ directory: { authenticate } }, familiar, { ...OPTIONS, ...options }, now)
  /** `ok`, `failed`, or the status of a login that is not tried. */
  const login = (name: string, password: string, network: string): Promise<string> =>
    logins.check(name, password, network).then(
      user => (user ? 'ok' : 'failed'),
      error => String(error.httpStatus),
    )
  return { clock, checked, login, logins, familiar, records }
}

t.test('names and passwords that are too long are refused before anything else, and are not counted', async t => {
  const { login, checked, logins } = open()
  t.equal(await login('n'.repeat(21), 'right', '10.0.0.1'), '400')
  t.equal(await login('ada', 'x'.repeat(65), '10.0.0.1'), '400')
  t.equal(await login('ada', 'ü'.repeat(33), '10.0.0.1'), '400', 'bytes, not characters')
  t.same(checked, [])
  for (let i = 0; i < 50; i++) await login('n'.repeat(21), 'wrong', '10.0.0.1')
  t.equal(await login('n'.repeat(20), 'right', '10.0.0.1'), 'ok')
  t.equal(await login('ada', 'ü'.repeat(32), '10.0.0.1'), 'failed')
  await t.rejects(logins.check('n'.repeat(21), '', ''), {
    message: 'the user name has 21 characters; at most 20 are accepted',
  })
})

t.test('after some failures of a name from a network, only this pair waits, longer each time', async t => {
  const { clock, login } = open()
  for (let i = 0; i < 3; i++) t.equal(await login('ada', 'wrong', '10.0.0.1'), 'failed')
  t.equal(await login('ada', 'right', '10.0.0.1'), '429')
  t.equal(await login('ADA', 'right', '10.0.0.1'), '429', 'names are the same in any case')
  t.equal(await login('ada', 'right', '10.0.0.2'), 'ok', 'from elsewhere')
  t.equal(await login('kurt', 'right', '10.0.0.1'), 'ok', 'another user')
  clock.now += 1_000
  t.equal(await login('ada', 'wrong', '10.0.0.1'), 'failed')
  clock.now += 1_000
  t.equal(await login('ada', 'right', '10.0.0.1'), '429')
  clock.now += 1_000
  t.equal(await login('ada', 'right', '10.0.0.1'), 'ok')
  for (let i = 0; i < 3; i++) t.equal(await login('ada', 'wrong', '10.0.0.1'), 'failed', 'a success forgives')
})

t.test('concurrent attempts are counted before they are tried', async t => {
  const { login, checked } = open()
  const results = await Promise.all(Array.from({ length: 20 }, () => login('ada', 'wrong', '10.0.0.1')))
  t.equal(checked.length, 3)
  t.equal(results.filter(result => result === '429').length, 17)
})

t.test('failures of many names from one network block it, except for users who have logged in from it', async t => {
  const { clock, login } = open()
  t.equal(await login('ada', 'right', '10.0.0.1'), 'ok')
  for (let i = 0; i < 6; i++) t.equal(await login(`user ${i}`, 'wrong', '10.0.0.1'), 'failed')
  t.equal(await login('another', 'right', '10.0.0.1'), '429')
  t.equal(await login('ada', 'right', '10.0.0.1'), 'ok')
  t.equal(await login('another', 'right', '10.0.0.2'), 'ok')
  clock.now += 10 * MINUTE
  t.equal(await login('kurt', 'right', '10.0.0.1'), 'ok')
})

t.test('successes do not count as failures of their network', async t => {
  const { login } = open()
  for (let i = 0; i < 30; i++) t.equal(await login(`user ${i}`, 'right', '10.0.0.1'), 'ok')
})

t.test('failures of one name from many networks cannot lock its user out of the usual one', async t => {
  const { clock, login } = open()
  t.equal(await login('ada', 'right', '10.0.0.1'), 'ok')
  for (let i = 0; i < 9; i++) t.equal(await login('ada', 'wrong', `192.0.2.${i}`), 'failed')
  t.equal(await login('ada', 'wrong', '192.0.2.100'), '429', 'the cap of a name')
  t.equal(await login('ada', 'right', '198.51.100.1'), '429', 'it applies to networks that are new to the user')
  t.equal(await login('ada', 'right', '10.0.0.1'), 'ok')
  clock.now += 60 * MINUTE
  t.equal(await login('ada', 'right', '198.51.100.1'), 'ok')
})

t.test('familiar networks outlive a restart, are eight at most, and are forgotten after 90 days', async t => {
  const first = open()
  for (let i = 0; i < 9; i++) {
    first.clock.now += 1
    t.equal(await first.login('ada', 'right', `10.0.0.${i}`), 'ok')
  }
  const known = (familiar: FamiliarNetworks) =>
    Array.from({ length: 9 }, (_, i) => familiar.has('ada', `10.0.0.${i}`))
      .map(Number)
      .join('')
  t.equal(known(first.familiar), '011111111', 'the least recently used one is forgotten')
  t.notOk(first.familiar.has('kurt', '10.0.0.1'))
  t.notMatch([...first.records.values.keys()].join(), /ada/, 'names are hashed')

  const again = open({}, first.records)
  t.equal(known(again.familiar), '011111111')
  again.clock.now += 60 * DAY
  t.equal(await again.login('ada', 'right', '10.0.0.1'), 'ok', 'used again')
  again.clock.now += 31 * DAY
  t.equal(known(again.familiar), '010000000')
  const sweep = () => Reflect.get(again.familiar, 'sweeper').run()
  await sweep()
  t.equal(first.records.values.size, 1)
  again.clock.now += 60 * DAY
  await sweep()
  t.equal(first.records.values.size, 0)
})

t.test('concurrent checks of passwords are limited, a limited number waits, and the others get 503', async t => {
  const clock = { now: 0 }
  const running = { now: 0, most: 0 }
  const ends: (() => void)[] = []
  const authenticate = async (): Promise<undefined> => {
    running.most = Math.max(running.most, ++running.now)
    await new Promise<void>(resolve => ends.push(resolve))
    running.now--
  }
  const familiar = { has: () => false, remember: () => {} }
  const options = { ...OPTIONS, failuresPerNetwork: 0, queueLimit: 5 }
  const logins = new Logins({ directory: { authenticate } }, familiar, options, () => clock.now)
  const waiting = Array.from({ length: 7 }, (_, i) => logins.check(`user ${i}`, 'x', '10.0.0.1'))
  const refused = await logins.check('one more', 'x', '10.0.0.1').catch((error: ProtocolError) => error)
  t.match(refused, { httpStatus: 503, retryAfterSeconds: 1 })
  while (ends.length > 0) {
    ends.shift()!()
    await new Promise(resolve => setImmediate(resolve))
  }
  t.same(await Promise.all(waiting), Array.from({ length: 7 }))
  t.equal(running.most, 2)
})
