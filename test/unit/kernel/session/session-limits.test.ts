/** How many sessions a user and all guests may have, and how much they may ask for. */
import t from 'tap'
import { RequestQuota, type RequestQuotaOptions } from '../../../../kernel/session/request-quota.ts'
import { SessionQuota } from '../../../../kernel/session/session-quota.ts'
import { NOTHING_GRANTED, type Session } from '../../../../kernel/session/session.ts'
import { HR, MINUTE, open, peer, user } from './open-sessions.ts'

t.test('sessions of one user are bounded, the oldest end', async t => {
  const { sessions, userOf, login } = await open()
  const ids: string[] = []
  for (const name of ['Ada', 'ada', 'Kurt', 'ADA', 'Ada']) ids.push((await login(name)).id!)
  t.same(ids.map(userOf), [undefined, 'ada', 'Kurt', 'ADA', 'Ada'])
  const anonymous = []
  for (let i = 0; i < 4; i++) anonymous.push((await sessions.grant(sessions.guest(peer()), undefined, HR, peer())).id!)
  const elsewhere = await sessions.grant(sessions.guest(peer('10.0.0.2')), undefined, HR, peer('10.0.0.2'))
  t.same(anonymous.map(userOf), [undefined, '', '', ''], 'privileges without a user count by address')
  t.equal(userOf(elsewhere.id), '')
})

t.test('stored guests are bounded for each network and in total, the oldest end', async t => {
  const { find, keptGuest, ends, stored } = await open()
  const storageOf = ({ id }: Session): unknown => find(id)?.record.storage.cart
  const first = [await keptGuest('10.0.0.1'), await keptGuest('10.0.0.1'), await keptGuest('10.0.0.1')]
  const fourth = await keptGuest('10.0.0.1')
  t.same([...first, fourth].map(storageOf), [undefined, ['10.0.0.1'], ['10.0.0.1'], ['10.0.0.1']])
  t.same(ends, [first[0]!.handle])
  const six = [await keptGuest('2001:db8:1:2::1'), await keptGuest('2001:db8:1:2:ffff::9')]
  t.equal(stored(), 5)
  const more = await keptGuest('2001:db8:1:2:aaaa::9')
  t.equal(stored(), 5, 'all guests together')
  t.same(
    [...first, fourth, ...six, more].map(guest => storageOf(guest) !== undefined),
    [...[false, false, true, true], ...[true, true, true]],
  )
  await keptGuest('2001:db8:1:2:bbbb::9')
  t.equal(storageOf(six[0]!), undefined, 'one IPv6 network of 64 bits is one client')
  t.equal(stored(), 5)
})

t.test('sessions of an earlier run of the server count too, from the first sweep on', async t => {
  const first = await open()
  for (let i = 0; i < 3; i++) await first.keptGuest('10.0.0.1')
  const again = await open({}, first.records, first.clock.now + MINUTE)
  await Reflect.get(again.sessions, 'sweeper').run()
  t.equal(again.stored(), 3)
  await again.keptGuest('10.0.0.1')
  t.equal(again.stored(), 3)
})

t.test('sessions of an earlier run of the server are listed, until they expire', async t => {
  const first = await open()
  const ada = await first.login('Ada')
  await first.sessions.close()
  const again = await open({}, first.records)
  t.same(
    (await again.sessions.list(10)).map(({ handle, record }) => [handle, record.user?.userName]),
    [[ada.handle, 'Ada']],
  )
  again.clock.now = ada.record.expires
  t.same(await again.sessions.list(10), [])
})

t.test('users and guests are bounded by separate limits', async t => {
  const quota = new SessionQuota({ perUser: 1, guestsPerAddress: 2, maxGuests: 3 })
  const record = (address: string, userName?: string) =>
    ({ address, ...(userName && { user: user(userName) }), granted: userName ? HR : NOTHING_GRANTED }) as never
  t.same(quota.add('a1', record('10.0.0.1', 'Ada')), [])
  t.same(quota.add('a2', record('10.0.0.1', 'Ada')), ['a1'])
  quota.remove('a1')
  t.same(quota.add('g1', record('10.0.0.1')), [])
  t.same(quota.add('g2', record('10.0.0.1')), [])
  t.same(quota.add('g3', record('10.0.0.1')), ['g1'])
  quota.remove('g1')
  t.same(quota.add('h1', record('10.0.0.2')), [])
  t.same(quota.add('h2', record('10.0.0.2')), ['g2'], 'all guests together')
  quota.remove('g2')
  quota.remove('h2')
  t.same(quota.add('h3', record('10.0.0.2')), [], 'there is room again')
})

t.test('requests are bounded for each session and each address, by number, concurrency and cost', async t => {
  const none: RequestQuotaOptions = {
    requestsPerSession: 0,
    requestsPerAddress: 0,
    costPerSession: 0,
    costPerAddress: 0,
    concurrentPerAddress: 0,
  }
  const clock = { now: 1_800_000_000_000 }
  const quotaOf = (options: Partial<RequestQuotaOptions>) => new RequestQuota({ ...none, ...options }, () => clock.now)
  const [ada, kurt] = ['a', 'k'].map(handle => ({ handle }) as Session)
  const refused: { name: string; message: RegExp } = { name: 'SESSION.TOO_MANY_REQUESTS', message: /quota of/ }
  t.notOk(quotaOf({}).isLimited)

  const perSession = quotaOf({ requestsPerSession: 2 })
  t.ok(perSession.isLimited)
  perSession.enter(ada!, '1')
  perSession.enter(ada!, '2')
  t.throws(() => perSession.enter(ada!, '3'), refused)
  t.doesNotThrow(() => perSession.enter(kurt!, '3'))
  clock.now += MINUTE
  t.doesNotThrow(() => perSession.enter(ada!, '3'), 'a minute later')

  const perAddress = quotaOf({ requestsPerAddress: 1 })
  perAddress.enter(ada!, '1')
  t.throws(() => perAddress.enter(kurt!, '1'), refused)
  t.doesNotThrow(() => perAddress.enter(kurt!, '2'))

  const atOnce = quotaOf({ concurrentPerAddress: 2 })
  atOnce.enter(ada!, '1')
  atOnce.enter(kurt!, '1')
  t.throws(() => atOnce.enter(ada!, '1'), refused)
  t.doesNotThrow(() => atOnce.enter(ada!, '2'))
  atOnce.leave('1')
  t.doesNotThrow(() => atOnce.enter(ada!, '1'))
  t.throws(() => atOnce.enter(ada!, '1'), refused, 'an answered request makes room for one')

  const cost = quotaOf({ costPerSession: 100, costPerAddress: 150 })
  cost.charge(ada!, '1', 100)
  t.throws(() => cost.enter(ada!, '2'), refused)
  t.doesNotThrow(() => cost.enter(kurt!, '1'))
  cost.charge(kurt!, '1', 50)
  t.throws(() => cost.enter({ handle: 'z' } as Session, '1'), refused)
})
