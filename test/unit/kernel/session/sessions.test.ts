/** Ids of sessions, their data, lifetimes and ends. */
import t from 'tap'
import { NOTHING_GRANTED } from '../../../../kernel/session/session.ts'
import { HR, MINUTE, open, peer, user } from './open-sessions.ts'

const HOUR = 60 * MINUTE

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
