/**
 * Locks of entities in a database, on two servers. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { KEY, RoundRobin, startPair, startShared } from '../support/servers/node-pair.ts'
import { until } from '../support/base/until.ts'

const SLOW = `
CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NEW; END $$;
CREATE TRIGGER slow BEFORE UPDATE ON actor FOR EACH ROW WHEN (NEW.last_name LIKE 'Slow%') EXECUTE FUNCTION slow();
`

const shared = await startShared(t)
if (typeof shared === 'string') t.comment(`skipped: ${shared}`)
else {
  await shared.run(SLOW)
  const nodes = await startPair(t, shared)
  const loggedIn = async (user: string) => {
    const client = new RoundRobin(nodes)
    await client.login(user)
    return client
  }
  const lock = async (client: RoundRobin, entity: string, wanted = true) =>
    (await client.post(`/${entity}?$lock=${wanted}`)).json
  const stampOf = async (client: RoundRobin, key: number) => (await client.get(`/Actor(${key})`)).json.__STAMP
  const rename = async (client: RoundRobin, key: number, lastName: string) =>
    client.post('/Actor?$method=update', { __KEY: String(key), __STAMP: await stampOf(client, key), lastName })
  const [ada, kurt] = [await loggedIn('Ada'), await loggedIn('Kurt')]

  t.test('an entity is locked for one session on all servers', async t => {
    t.match(await lock(ada, 'Film(1)'), { result: true, __STATUS: { success: true } })
    for (let i = 0; i < 2; i++) {
      t.match(await lock(ada, 'Film(1)'), { result: true }, 'again')
      const held = { result: false, __STATUS: { success: false, status: 3, statusText: 'Already Locked', lockKind: 7 } }
      t.match(await lock(kurt, 'Film(1)'), held)
      t.match(await lock(kurt, 'Film(1)', false), held)
    }
    t.same(await lock(ada, 'Film(1)', false), { result: true, __STATUS: { success: true } })
    t.same(await lock(ada, 'Film(1)', false), { result: true, __STATUS: { success: true, wasNotLocked: true } })
    t.match(await lock(kurt, 'Film(1)'), { result: true })
    await lock(kurt, 'Film(1)', false)
  })

  t.test('a key of several columns can be locked, too', async t => {
    t.match(await lock(ada, 'Part(1~1)'), { result: true })
    for (let i = 0; i < 2; i++) t.match(await lock(kurt, 'Part(1~1)'), { result: false })
    t.equal((await lock(ada, 'Part(9~9)')).__ERROR[0].errCode, 1543)
  })

  t.test('saves and deletions respect locks of other servers', async t => {
    await lock(ada, 'Actor(1)')
    for (let i = 0; i < 2; i++) {
      const answer = await rename(kurt, 1, 'X')
      t.equal(answer.status, 409)
      t.match(answer.json, { __STATUS: { status: 3, success: false }, __ERROR: [{ errCode: 1066 }, {}] })
      const deletion = await kurt.post('/Actor(1)?$method=delete')
      t.match([deletion.status, deletion.json], [409, { __ERROR: [{ errCode: 1066 }, {}] }])
    }
    for (const name of ['Y', 'Z']) t.equal((await rename(ada, 1, name)).status, 200, 'not those of the session')
    await lock(ada, 'Actor(1)', false)
    t.equal((await rename(kurt, 1, 'Weaver')).status, 200)
  })

  t.test('a batch saves what is not locked, or nothing', async t => {
    await lock(ada, 'Actor(2)')
    const batch = async (lastName: string) => [
      { __KEY: '2', __STAMP: await stampOf(kurt, 2), lastName },
      { __KEY: '3', __STAMP: await stampOf(kurt, 3), lastName },
      { lastName },
    ]
    const count = async (lastName: string) => (await kurt.get(`/Actor?$filter="lastName = ${lastName}"`)).json.__COUNT
    t.equal((await kurt.post('/Actor?$method=update&$atomic=true', await batch('Atomic'))).status, 409)
    t.equal(await count('Atomic'), 0)
    const { json } = await kurt.post('/Actor?$method=update', await batch('Each'))
    t.match(json.__ENTITIES, [{ __STATUS: { status: 3 } }, { lastName: 'Each' }, { lastName: 'Each' }])
    t.equal(await count('Each'), 2)
    const deletion = await kurt.post('/Actor?$filter="ID = 2 or lastName = Each"&$method=delete')
    t.equal(deletion.status, 409)
    t.equal(await count('Each'), 1, 'one has a reference')
    await lock(ada, 'Actor(2)', false)
  })

  t.test('of many that lock an entity at a time one succeeds', async t => {
    for (let round = 0; round < 5; round++) {
      const clients = await Promise.all(Array.from({ length: 6 }, (_, i) => loggedIn(i % 2 ? 'Ada' : 'Kurt')))
      const results = await Promise.all(clients.map(each => lock(each, 'Film(2)')))
      t.equal(results.filter(({ result }) => result === true).length, 1)
      t.equal(results.filter(({ result }) => result === false).length, 5)
      await Promise.all(clients.map(each => each.post('/$directory/logout')))
      t.ok(await until(async () => (await lock(ada, 'Film(2)')).result), 'a logout frees it')
      await lock(ada, 'Film(2)', false)
    }
  })

  t.test('once a lock is taken, no save of another that was under way changes the entity', async t => {
    for (let round = 0; round < 4; round++) {
      const saving = rename(kurt, 3, `Slow ${round}`)
      await new Promise(resolve => setTimeout(resolve, 50 * round))
      t.match(await lock(ada, 'Actor(3)'), { result: true })
      const stamp = await stampOf(ada, 3)
      t.ok([200, 409].includes((await saving).status))
      t.equal(await stampOf(ada, 3), stamp)
      await lock(ada, 'Actor(3)', false)
    }
  })

  t.test('locks are listed on all servers', async t => {
    await lock(ada, 'Film(3)')
    const handle = (await ada.get('/$info/sessionInfo')).json.currentSession
    for (const { json } of await ada.each('/$info/locks')) {
      const found = json.locks.find((each: { __KEY: string; dataClass: string }) => each.dataClass === 'Film')
      t.match(found, { __KEY: '3', sessionID: handle, lockInfo: { IPAddr: String } })
      t.notOk(found.expires)
    }
  })

  t.test('a lock by a key ends by itself', async t => {
    const headers = { authorization: `Bearer ${KEY}` }
    t.match((await nodes[0]!.post('/Film(4)?$lock=true', undefined, headers)).json, { result: true })
    t.match((await nodes[1]!.post('/Film(4)?$lock=true', undefined, headers)).json, { result: true }, 'the same owner')
    t.match(await lock(ada, 'Film(4)'), { result: false })
    await shared.run(`UPDATE tesser.entity_lock SET expires = now() - interval '1 s' WHERE key = '4'`)
    t.match(await lock(ada, 'Film(4)'), { result: true })
  })

  t.test('a sweep removes what a server has left behind', async t => {
    await shared.run(`INSERT INTO tesser.entity_lock (class, key, owner, info, expires, made_at)
      VALUES ('Film', '99', 'gone', '{}', 'infinity', now() - interval '1 hour')`)
    const hasLeft = async (): Promise<boolean> => {
      await nodes[0]!.engine.sharedSessions!.sweep(Date.now(), 1_000)
      const check = `DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM tesser.entity_lock WHERE key = '99'); END $$`
      return shared.run(check).then(
        () => true,
        () => false,
      )
    }
    t.ok(await until(hasLeft))
    t.match(await lock(kurt, 'Film(3)'), { result: false }, 'those of living sessions stay')
  })

  t.test('a database that is away', async t => {
    await shared.goAway()
    const headers = { authorization: `Bearer ${KEY}` }
    t.equal((await nodes[0]!.post('/Film(1)?$lock=true', undefined, headers)).status, 503)
    t.match((await nodes[0]!.post('/Company(1)?$lock=true', undefined, headers)).json, { result: true }, 'of the store')
    await shared.comeBack()
    t.ok(await until(async () => (await lock(ada, 'Film(1)')).result === true))
  })

  t.test('without the tables they are made again', async t => {
    await shared.run('DROP SCHEMA tesser CASCADE')
    const again = new RoundRobin(nodes)
    t.ok(await until(async () => (await again.login('Ada')).status === 200))
    t.ok(await until(async () => (await lock(again, 'Film(1)')).result === true))
    t.ok(await until(async () => (await rename(again, 1, 'Weaver again')).status === 200))
  })
}
