/**
 * Sessions of two servers that share a database. Skipped where PostgreSQL is not installed.
 */
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { KEY, RoundRobin, startPair, startShared } from '../support/servers/node-pair.ts'
import { startServer } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'

const HOUR = 3_600_000
const shared = await startShared(t)
if (typeof shared === 'string') t.comment(`skipped: ${shared}`)
else {
  const clock = { now: Date.parse('2026-06-01T00:00:00Z') }
  const nodes = await startPair(t, shared, { now: () => clock.now, config: { session: { perUser: 3 } } })
  const client = (cookie?: string) => new RoundRobin(nodes, cookie)
  const userOf = async (client: RoundRobin) => (await client.get('/$directory/currentUser')).json.result?.userName
  const usersOf = async (client: RoundRobin) => [await userOf(client), await userOf(client)]

  t.test('a login on one server is one on the other', async t => {
    const ada = client()
    t.same((await ada.login('Ada')).json, { result: true })
    t.same(await usersOf(ada), ['Ada', 'Ada'])
    const [a, b] = await ada.each('/$info/sessionInfo')
    t.equal(a!.json.currentSession, b!.json.currentSession)
    t.match(b!.json.sessionInfo, [{ sessionID: a!.json.currentSession, userName: 'Ada' }])
  })

  t.test('a logout on one server is one on the other, also with the cookie', async t => {
    const ada = client()
    await ada.login('Ada')
    const copy = client(ada.cookie)
    await usersOf(copy)
    await ada.post('/$directory/logout')
    t.same(await usersOf(client(copy.cookie)), [undefined, undefined])
  })

  t.test('an administrator ends sessions everywhere', async t => {
    const [ada, kurt] = [client(), client()]
    await ada.login('Ada')
    await kurt.login('Kurt')
    await usersOf(kurt)
    const { currentSession } = (await kurt.get('/$info/sessionInfo')).json
    t.same((await ada.post(`/$info/sessionInfo/release/${currentSession}`)).json, { ok: true })
    t.same(await usersOf(client(kurt.cookie)), [undefined, undefined])
    t.same(await usersOf(ada), ['Ada', 'Ada'])
  })

  t.test('a guest keeps the cookie, and what is stored', async t => {
    const guest = client()
    await guest.get('/Company')
    const { cookie } = guest
    await guest.result('keep', 'cart', [1])
    for (const { json } of await guest.each('/$catalog/kept')) t.same(json.result, { cart: [1] })
    t.equal(guest.cookie, cookie)
  })

  t.test('changes on both servers at a time are all kept', async t => {
    const ada = client()
    await ada.login('Ada')
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    await Promise.all(names.map(name => ada.result('keep', name, 1)))
    const all = Object.fromEntries(names.map(name => [name, 1]))
    for (const { json } of await ada.each('/$catalog/kept')) t.same(json.result, all)
    await ada.result('forget', 'a')
    for (const { json } of await ada.each('/$catalog/kept')) t.notOk('a' in json.result)
  })

  t.test('so are those of a guest, for whom nothing was stored before', async t => {
    const guest = client()
    await guest.get('/Company')
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    await Promise.all(names.map(name => guest.result('keep', name, 1)))
    for (const { json } of await guest.each('/$catalog/kept')) t.same(Object.keys(json.result).sort(), names)
  })

  t.test('rights that one server gives are those on the other', async t => {
    const guest = client()
    await guest.result('grant', { privileges: 'hr', userName: 'eve' })
    for (const { json } of await guest.each('/$catalog/me'))
      t.match(json.result, { userName: 'eve', privileges: ['hr'] })
    await guest.result('grant', { privileges: 'sales', userName: 'eve' })
    for (const { json } of await guest.each('/$catalog/me')) t.same(json.result.privileges, ['sales'])
    await guest.result('clear')
    for (const { json } of await guest.each('/$catalog/me')) t.match(json.result, { guest: true, privileges: [] })
  })

  t.test('a one-time token of one server is used up on the other, once', async t => {
    const ada = client()
    await ada.login('Ada')
    const token = await ada.result('token')
    const [phone, thief] = [client(), client()]
    t.equal(await phone.result('restore', token), true)
    t.same(await usersOf(phone), ['Ada', 'Ada'])
    t.not(phone.cookie, ada.cookie)
    t.equal((await thief.post('/$catalog/restore', [token])).status, 401)
    t.same(await usersOf(thief), [undefined, undefined])
    await ada.post('/$directory/logout')
    t.same(await usersOf(phone), [undefined, undefined], 'the further id ends with the session')
  })

  t.test('the idle time starts with the last use on any server', async t => {
    const ada = client()
    await ada.login('Ada')
    clock.now += 50 * 60_000
    t.equal(await userOf(ada), 'Ada')
    // The use is stored in the background.
    const isStored = `EXISTS (SELECT FROM tesser.session WHERE expires >= ${clock.now + HOUR})`
    const look = () => shared.run(`DO $$ BEGIN ASSERT ${isStored}; END $$`)
    t.ok(
      await until(() =>
        look().then(
          () => true,
          () => false,
        ),
      ),
    )
    clock.now += 50 * 60_000
    t.same(await usersOf(ada), ['Ada', 'Ada'])
    clock.now += 2 * HOUR
    t.same(await usersOf(ada), [undefined, undefined])
  })

  t.test('the sessions of a user are bounded on all servers together', async t => {
    const all = [client(), client(), client(), client()]
    for (const [i, each] of all.entries()) {
      if (i % 2) await each.get('/Company')
      await each.login('Kurt')
    }
    const users = await Promise.all(all.map(userOf))
    t.same(users, [undefined, 'Kurt', 'Kurt', 'Kurt'])
  })

  t.test('the database has no id of a session', async t => {
    const ada = client()
    await ada.login('Ada')
    await ada.result('keep', 'a', 1)
    const id = ada.cookie.split('=')[1]!
    await shared.run(`DO $$ BEGIN
      ASSERT EXISTS (SELECT FROM tesser.session);
      ASSERT NOT EXISTS (SELECT FROM tesser.session s WHERE strpos(s::text, '${id}') > 0);
      ASSERT NOT EXISTS (SELECT FROM tesser.session_secret s WHERE strpos(s::text, '${id}') > 0); END $$`)
    t.pass()
  })

  t.test('a database that is away stops sessions and nothing else', async t => {
    const [ada, guest] = [client(), client()]
    await ada.login('Ada')
    await guest.get('/Company')
    await shared.goAway()
    for (const { status, headers } of await ada.each('/Company'))
      t.match({ status, ...headers }, { status: 503, 'retry-after': '1' })
    for (const { status } of await guest.each('/Company')) t.equal(status, 200, 'a guest')
    for (const { status } of await client().each('/Company')) t.equal(status, 200, 'a new guest')
    for (const node of nodes)
      t.equal((await node.get('/Company', { authorization: `Bearer ${KEY}` })).status, 200, 'a key')
    t.equal((await client().login('Kurt')).status, 503)
    await shared.comeBack()
    // Each server asks the database again after a pause of its own, and never takes Ada for a guest meanwhile.
    const seen = new Set<string>()
    const areBack = await until(async () => {
      const answers = await ada.each('/$directory/currentUser')
      for (const { status, json } of answers) seen.add(status === 503 ? '503' : `${status} ${json.result?.userName}`)
      return answers.every(({ status }) => status === 200)
    })
    t.ok(areBack)
    seen.delete('503')
    t.same([...seen], ['200 Ada'])
    t.same(await usersOf(ada), ['Ada', 'Ada'])
  })

  t.test('with copies, a logout holds on the other server soon', async t => {
    const pair = await startPair(t, shared, { sessionSeconds: 1 })
    const ada = new RoundRobin(pair)
    await ada.login('Ada')
    t.same(await usersOf(ada), ['Ada', 'Ada'])
    const { cookie } = ada
    await ada.post('/$directory/logout')
    t.ok(await until(async () => (await usersOf(new RoundRobin(pair, cookie))).every(user => user === undefined)))
  })

  t.test('a server that starts while the database is away serves what needs none', async t => {
    await shared.goAway()
    const [node] = await startPair(t, shared)
    const guest = new RoundRobin([node!])
    t.equal((await guest.get('/Company')).status, 200)
    t.equal((await guest.login('Ada')).status, 503)
    await shared.comeBack()
    t.ok(await until(async () => (await guest.login('Ada')).status === 200))
    t.equal(await userOf(guest), 'Ada')
  })
}

t.test('the connection must be one of the config file', async t => {
  const config = { connections: { main: { url: 'postgres://localhost/shop' } }, nodes: { connection: 'mian' } }
  const message = /nodes\.connection: there is no connection "mian" in the config file.*main/
  await t.rejects(startServer(t, company, { config }), { message })
})
