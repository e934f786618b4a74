/** Tokens that restore a session, once or again. */
import t from 'tap'
import { OneTimeTokens } from '../../../../kernel/session/one-time-tokens.ts'
import { MINUTE, open, peer } from './open-sessions.ts'

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
