import t from 'tap'
import type { User } from '../../../../kernel/auth/user.ts'
import { OneTimeTokens } from '../../../../kernel/session/one-time-tokens.ts'
import { RequestQuota, type RequestQuotaOptions } from '../../../../kernel/session/request-quota.ts'
import { SessionQuota } from '../../../../kernel/session/session-quota.ts'
import type { SessionOptions } from '../../../../kernel/session/session-options.ts'
import { type OnSessionEnd, Sessions } from '../../../../kernel/session/sessions.ts'
import { NOTHING_GRANTED, type Session } from '../../../../kernel/session/session.ts'
import { Client } from '../../../../kernel/transport/client.ts'
import { MemoryRecords } from '../../../support/base/memory-records.ts'

/** Sessions without a server: their ids, ends, lifetimes and numbers. Source: protocol notes, 8.1 and 8.5. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const OPTIONS: SessionOptions = {
  basePath: '',
  cookieName: 'sid',
  sameSite: 'lax',
  idleMinutes: 60,
  maxIdleMinutes: 600,
  lifetimeHours: 100,
  perUser: 3,
  guestsPerAddress: 3,
  maxGuests: 5,
  keepGuestStorage: false,
  guestStorageBytes: 1000,
}
const HR = { privileges: ['hr'], roles: [] }
const user = (userName: string): User => ({ userName, groups: [], granted: HR })
const peer = (address = '10.0.0.1') => ({ client: new Client(address, false, 'localhost', false) })

async function open(options: Partial<SessionOptions> = {}, records = new MemoryRecords(), now = 1_800_000_000_000) {
  const clock = { now }
  const errors: string[] = []
  const ends: string[] = []
  const sessions = await Sessions.open({ ...OPTIONS, ...options }, records.asServerRecords, {
    now: () => clock.now,
    onInternalError: text => errors.push(text),
  })
  t.teardown(() => sessions.close())
  const onEnd: OnSessionEnd = handle => void ends.push(handle)
  sessions.onEnd(onEnd)
  /** The session behind a cookie; undefined if the id is not valid. */
  const find = (id: string | undefined, address?: string): Session | undefined => {
    const { session, receivedId } = sessions.find(`sid=${id}`, peer(address))
    return receivedId === undefined ? undefined : session
  }
  const userOf = (id: string | undefined): string | undefined => find(id)?.userName
  /** A guest with stored data. */
  const keptGuest = async (address?: string): Promise<Session> => {
    const session = sessions.guest(peer(address))
    session.record.storage = { cart: [address ?? ''] }
    await sessions.keep(session)
    return session
  }
  const login = (name: string, session = sessions.guest(peer())) => sessions.renew(session, user(name), HR, peer())
  const stored = () => records.keys('session/').length
  return { sessions, records, clock, errors, ends, find, userOf, keptGuest, login, stored }
}

t.test('a guest to whom code grants rights gets another id, even without a user name', async t => {
  const { sessions, find, keptGuest } = await open()
  for (const planted of [sessions.guest(peer()), await keptGuest()]) {
    const granted = await sessions.grant(find(planted.id)!, undefined, HR, peer())
    t.not(granted.id, planted.id)
    t.same(find(granted.id)?.granted, HR)
    t.equal(find(planted.id)?.isGuest, true, 'an attacker who planted the id gains no rights')
    t.same(find(planted.id)?.granted, NOTHING_GRANTED)
  }
})

t.test('the id changes with the user and between guests and others, and only then', async t => {
  const { sessions, find, login } = await open()
  const ada = await login('Ada')
  const more = await sessions.grant(ada, user('Ada'), { privileges: ['hr', 'boss'], roles: [] }, peer())
  t.equal(more.id, ada.id, 'other rights of the same user')
  t.same(find(ada.id)?.granted.privileges, ['hr', 'boss'])
  const kurt = await sessions.grant(more, user('Kurt'), HR, peer())
  t.not(kurt.id, ada.id)
  t.equal(find(ada.id), undefined)
  const nobody = await sessions.grant(kurt, undefined, NOTHING_GRANTED, peer())
  t.not(nobody.id, kurt.id)
  t.ok(nobody.isGuest)
  t.equal(find(kurt.id), undefined)
  const still = await sessions.grant(nobody, undefined, NOTHING_GRANTED, peer())
  t.equal(still.id, nobody.id, 'a guest who stays one')

  const anonymous = await sessions.grant(still, undefined, HR, peer())
  const cleared = await sessions.grant(anonymous, undefined, NOTHING_GRANTED, peer())
  t.not(cleared.id, anonymous.id, 'privileges without a name')
  t.equal(find(anonymous.id), undefined)
})

t.test('stored data belong to their caller: a login, another user and a logout begin empty', async t => {
  const { sessions, keptGuest, login } = await open()
  const guest = await keptGuest()
  const ada = await login('Ada', guest)
  t.same(ada.record.storage, {})
  ada.record.storage = { secret: 1 }
  t.same((await sessions.grant(ada, user('Ada'), HR, peer())).record.storage, { secret: 1 }, 'the same user')
  const kurt = await sessions.grant(ada, user('Kurt'), HR, peer())
  t.same(kurt.record.storage, {})
  kurt.record.storage = { secret: 2 }
  t.same((await sessions.grant(kurt, undefined, NOTHING_GRANTED, peer())).record.storage, {})

  const keeping = await open({ keepGuestStorage: true })
  const rich = await keeping.login('Ada', await keeping.keptGuest('10.0.0.9'))
  t.same(rich.record.storage, { cart: ['10.0.0.9'] }, 'by option, as in 4D')
  t.equal(rich.record.address, '10.0.0.1', 'the address is that of the login')
  t.same((await keeping.login('Kurt', rich)).record.storage, {}, 'but never from one user to another')
})

t.test('an id of a guest is valid for a day, however often it is used', async t => {
  const { sessions, clock, find } = await open()
  const { id } = sessions.guest(peer())
  const unused = sessions.guest(peer()).id
  clock.now += 23 * HOUR
  t.ok(find(id))
  clock.now += HOUR - 1000
  t.ok(find(id))
  clock.now += 2000
  t.equal(find(id), undefined, 'used shortly before')
  t.equal(find(unused), undefined, 'never used')
})

t.test('a session ends when it is idle, and at the end of its lifetime', async t => {
  const { sessions, clock, userOf, login, stored } = await open({ lifetimeHours: 3 })
  const { id } = await login('Ada')
  for (let i = 0; i < 3; i++) {
    clock.now += 59 * MINUTE
    t.equal(userOf(id), 'Ada')
  }
  clock.now += 4 * MINUTE
  t.equal(userOf(id), undefined, 'three hours are over')
  const idle = await login('Ada')
  clock.now += 60 * MINUTE
  t.equal(userOf(idle.id), undefined)
  const long = await sessions.renew(sessions.guest(peer()), user('Ada'), HR, peer(), 120)
  clock.now += 119 * MINUTE
  t.equal(userOf(long.id), 'Ada')
  const longest = await sessions.renew(sessions.guest(peer()), user('Ada'), HR, peer(), 1e9)
  t.equal(longest.record.idleMinutes, 600)
  t.equal((await sessions.renew(sessions.guest(peer()), user('Ada'), HR, peer(), -5)).record.idleMinutes, 60)
  sessions.setIdleMinutes(longest.record, 1e9)
  t.equal(longest.record.idleMinutes, 600)
  sessions.setIdleMinutes(longest.record, 5)
  clock.now += 5 * MINUTE
  t.equal(userOf(longest.id), undefined)
  t.ok(stored() > 0)
  clock.now += 100 * HOUR
  await Reflect.get(sessions, 'sweeper').run()
  t.equal(stored(), 0)
})

t.test('a session that has ended is not revived, whatever is still pending for it', async t => {
  const { sessions, records, find, userOf, login, ends, keptGuest } = await open()
  const ada = await login('Ada')
  let written: (() => void) | undefined
  records.beforePut = () => new Promise(resolve => (written = resolve))
  const ending = sessions.end(ada)
  t.equal(userOf(ada.id), undefined, 'before the end is durable')
  t.ok(records.get(`session/${ada.handle}`), 'it is still in the store')
  written!()
  await ending
  records.beforePut = async () => {}
  t.equal(userOf(ada.id), undefined)

  ends.length = 0
  ada.record.storage = { late: true }
  sessions.setIdleMinutes(ada.record, 500)
  await sessions.keep(ada)
  t.equal(userOf(ada.id), undefined, 'a call that ends after the logout does not bring it back')
  t.same(ends, [ada.handle], 'and locks that it has taken since then are freed')
  await sessions.update(ada, () => {}, [{ hash: 'x', seconds: 100 }])
  t.same(records.keys('token/'), [])

  const guest = await keptGuest()
  const kept = find(guest.id)!
  await sessions.end(guest)
  await sessions.keep(kept)
  t.same(find(guest.id)?.record.storage, {}, 'a guest whose cookie is still valid is a new one')
})

t.test('an end that could not be stored is stored by the next sweep', async t => {
  const { sessions, records, userOf, login, stored } = await open()
  const ada = await login('Ada')
  records.beforePut = async () => {
    throw new Error('the disk is full')
  }
  await t.rejects(sessions.end(ada), /disk is full/)
  records.beforePut = async () => {}
  t.equal(stored(), 1)
  t.equal(userOf(ada.id), undefined, 'it has ended nevertheless')
  await Reflect.get(sessions, 'sweeper').run()
  t.equal(stored(), 0)
})

t.test('a one-time token is invalid when its session is idle, has ended, or is too old', async t => {
  const { sessions, clock, login, records } = await open()
  const restore = (hash: string) =>
    sessions.restore(sessions.guest(peer()), hash).then(
      session => session.userName,
      error => error.httpStatus,
    )
  const ada = await login('Ada')
  await sessions.update(ada, () => {}, [
    { hash: 'a', seconds: 10 },
    { hash: 'b', seconds: 1e9 },
    { hash: 'c', seconds: 1e9 },
  ])
  t.equal(await restore('nonsense'), 401)
  clock.now += 10_000
  t.equal(await restore('a'), 401)
  t.equal(await restore('b'), 'Ada')
  t.equal(await restore('b'), 401, 'once')
  clock.now += 61 * MINUTE
  t.equal(await restore('c'), 401, 'the session was idle for too long, even before a sweep')
  t.equal(records.keys('session/').length, 1)

  const kurt = await login('Kurt')
  await sessions.update(kurt, () => {}, [{ hash: 'd', seconds: 1e9 }])
  t.equal((records.get('token/d') as { expires: number }).expires, kurt.record.endsAt, 'no longer than the session')
  await sessions.end(kurt)
  t.notOk(records.values.has('token/d'), 'tokens end with their session')
  t.equal(await restore('d'), 401)
})

t.test('a session that restores itself by a token continues', async t => {
  const { sessions, userOf, login } = await open()
  const ada = await login('Ada')
  await sessions.update(ada, () => {}, [{ hash: 'a', seconds: 100 }])
  t.equal((await sessions.restore(ada, 'a')).id, ada.id)
  t.equal(userOf(ada.id), 'Ada')
})

t.test('a session that restores another one ends', async t => {
  const { sessions, userOf, find, login, keptGuest, ends } = await open()
  const ada = await login('Ada')
  const hashes = ['a', 'b']
  await sessions.update(
    ada,
    () => {},
    hashes.map(hash => ({ hash, seconds: 100 })),
  )
  for (const before of [await login('Kurt'), await keptGuest()]) {
    const restored = await sessions.restore(before, hashes.pop()!)
    t.equal(userOf(restored.id), 'Ada')
    t.not(restored.id, before.id)
    t.notOk(find(before.id)?.user, 'its id is invalid')
    t.equal(ends.at(-1), before.handle, 'its locks are freed')
    t.ok(before.record.expires <= 0)
  }
})

t.test('tokens and aliases are bounded for each session, and end with it', async t => {
  const { sessions, records, find, userOf, login } = await open()
  const ada = await login('Ada')
  for (let i = 0; i < 20; i++) await sessions.update(ada, () => {}, [{ hash: `token ${i}`, seconds: 1000 }])
  t.equal(records.keys('token/').length, 16)
  t.notOk(records.values.has('token/token 3'))
  t.ok(records.values.has('token/token 4'))
  const ids: string[] = []
  for (let i = 0; i < 35; i++) {
    await sessions.update(ada, () => {}, [{ hash: `again ${i}`, seconds: 1000 }])
    ids.push((await sessions.restore(sessions.guest(peer()), `again ${i}`)).id!)
  }
  t.equal(records.keys('alias/').length, 32)
  t.same(
    [0, 2, 3, 34].map(i => userOf(ids[i])),
    [undefined, undefined, 'Ada', 'Ada'],
  )
  t.equal(userOf(ada.id), 'Ada')
  t.ok(records.keys('token/').length <= 16)
  await sessions.end(find(ids[34])!)
  t.same([userOf(ids[34]), userOf(ids[20]), userOf(ada.id)], [undefined, undefined, undefined])
  t.same([...records.keys('token/'), ...records.keys('alias/')], [])
})

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

t.test('a cookie lasts as long as its session can, and is Secure if the client uses TLS', async t => {
  const { sessions, clock, login } = await open({ cookieName: 'sid' })
  const ada = await login('Ada')
  clock.now += HOUR
  const header = sessions.setCookie(ada, false)
  t.equal(header, `sid=${ada.id}; Max-Age=${99 * 3600}; Path=/; HttpOnly; SameSite=Lax`)
  t.equal(sessions.setCookie(ada, true), `${header}; Secure`)
  t.match(sessions.setCookie(sessions.guest(peer()), false), /^sid=[0-9A-F]{32}; Max-Age=86400; /)
})

t.test('all sessions that match are ended', async t => {
  const { sessions, userOf, login } = await open()
  const ids = [(await login('Ada')).id, (await login('Kurt')).id, (await login('Ada')).id]
  t.equal(await sessions.endAll(({ user }) => user?.userName === 'Ada'), 2)
  t.same(ids.map(userOf), [undefined, 'Kurt', undefined])
})

t.test('§P8.5 a token is valid once within its lifetime, and is removed by a sweep or with its session', async t => {
  const { sessions, clock, login, records } = await open()
  const ada = await login('Ada')
  const tokens = new OneTimeTokens(records.asServerRecords, () => clock.now)
  await sessions.update(ada, () => {}, [
    { hash: 'used', seconds: 10 },
    { hash: 'late', seconds: 10 },
    { hash: 'long', seconds: 1_000_000 },
  ])
  const startedAt = clock.now
  clock.now = startedAt + 9_999
  t.equal(await tokens.redeem('used'), ada.handle)
  t.equal(await tokens.redeem('used'), undefined, 'once')
  t.equal(await tokens.redeem('none'), undefined)
  clock.now = startedAt + 10_000
  t.equal(await tokens.redeem('late'), undefined, 'it has expired')
  await Reflect.get(sessions, 'sweeper').run()
  t.same(records.keys('token/'), ['token/long'])
  const { id, changes } = tokens.createAlias(ada)
  await records.put(changes)
  const [hash] = ada.record.aliases!
  t.ok(id)
  clock.now = ada.record.endsAt - 1
  t.equal(tokens.sessionOf(hash!), ada.handle)
  clock.now = ada.record.endsAt
  t.equal(tokens.sessionOf(hash!), undefined, 'an alias ends with the session')
  t.equal(await tokens.redeem('long'), undefined, 'so does a token')
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
