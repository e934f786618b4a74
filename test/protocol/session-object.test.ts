import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { visitsPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestAnswer, type TestServer } from '../support/servers/test-server.ts'

/** `Session` in function code, and its locks. Source: protocol notes, 8.5, 8.6 and 8.8. */

const HOUR = 3_600_000

/** A client with a cookie jar. */
class Client {
  cookie = ''

  constructor(public server: TestServer) {}

  async call(name: string, ...args: unknown[]): Promise<TestAnswer> {
    return this.take(await this.server.post(`/${name}`, args, this.headers))
  }

  async result(name: string, ...args: unknown[]): Promise<unknown> {
    return (await this.call(`$catalog/${name}`, ...args)).json.result
  }

  async get(path: string): Promise<TestAnswer> {
    return this.take(await this.server.get(path, this.headers))
  }

  private get headers(): Record<string, string> {
    return this.cookie ? { cookie: this.cookie } : {}
  }

  private take(answer: TestAnswer): TestAnswer {
    const set = answer.headers['set-cookie']
    if (set) this.cookie = String(set).split(';')[0]!
    return answer
  }
}

interface World {
  server: TestServer
  clock: { now: number }
  reopen(): Promise<TestServer>
}

async function open(t: Test): Promise<World> {
  const folder = temporaryFolder(t)
  const clock = { now: Date.parse('2026-06-01T00:00:00Z') }
  const config = { plugins: [visitsPlugin], auth: { guestsAdministrate: true } }
  const reopen = (fixture = { model: company.model, rows: {} }) =>
    startServer(t, fixture, { folder, config, now: () => clock.now })
  return { server: await reopen(company), clock, reopen }
}

t.test('clients of one server', async t => {
  const { server } = await open(t)

  t.test('§P8.5 a guest, its privileges, and its new cookie', async t => {
    const ada = new Client(server)
    const guest = (await ada.get('/$catalog/me')).json.result
    t.match(guest, { id: /^[0-9A-F]{32}$/, userName: '', idleTimeout: 60, guest: true, privileges: [] })
    const before = ada.cookie
    t.notOk(before.includes(guest.id), 'the id that code sees is not the value of the cookie')

    t.same(await ada.result('grant', { privileges: 'hr, sales', userName: 'ada' }), [true, false, true])
    t.not(ada.cookie, before, 'a guest who logs in gets another id')
    t.match((await ada.get('/$catalog/me')).json.result, { userName: 'ada', guest: false, privileges: ['hr', 'sales'] })
    t.equal((await ada.get('/$directory/currentUser')).json.result.userName, 'ada')
    const thief = new Client(server)
    thief.cookie = before
    t.match((await thief.get('/$catalog/me')).json.result, { userName: '', guest: true })

    const somebody = ada.cookie
    t.same(await ada.result('grant', ['sales']), [true, false, false], 'they are replaced')
    t.equal(ada.cookie, somebody)
    t.match((await ada.get('/$catalog/me')).json.result, { userName: 'ada', privileges: ['sales'] })
    t.same(await ada.result('promote'), [true, false, false], 'for the call, and not in the list')
    t.same(await ada.result('clear'), [true, true])
    t.match((await ada.get('/$catalog/me')).json.result, { userName: '', guest: true, privileges: [] })
  })

  t.test('§P8.5 what a guest has stored does not survive a login, what the login stores does', async t => {
    const ada = new Client(server)
    await ada.result('keep', 'cart', [1])
    const planted = ada.cookie
    const token = await ada.result('arrive', 'ada')
    t.match((await ada.get('/$catalog/me')).json.result, { userName: 'ada', privileges: ['hr'], idleTimeout: 120 })
    t.same((await ada.get('/$catalog/kept')).json.result, { arrived: 'ada' })
    t.equal((await ada.get('/Company?$method=entityset')).status, 200)
    t.equal((await ada.get('/Company?$method=entityset')).status, 429, 'its quota too')
    const [thief, phone] = [new Client(server), new Client(server)]
    thief.cookie = planted
    t.same((await thief.get('/$catalog/kept')).json.result, {}, 'nor does the client that planted the cookie get it')
    t.equal(await phone.result('restore', token), true)
    t.match((await phone.get('/$catalog/me')).json.result, { userName: 'ada' })

    await ada.result('clear')
    t.same((await ada.get('/$catalog/kept')).json.result, {}, 'and a guest gets nothing of a user')
    await ada.result('arrive', 'ada')
    await ada.result('arrive', 'kurt')
    t.same((await ada.get('/$catalog/kept')).json.result, { arrived: 'kurt' })
    const before = ada.cookie
    await ada.result('grant', 'sales')
    t.same(
      (await ada.get('/$catalog/kept')).json.result,
      { arrived: 'kurt' },
      'other rights of one user change nothing',
    )
    t.equal(ada.cookie, before)
  })

  t.test('§P8.5 a guest clears nothing and loses nothing', async t => {
    const ada = new Client(server)
    await ada.result('keep', 'cart', [1])
    const { cookie } = ada
    t.same(await ada.result('clear'), [true, true])
    t.equal(ada.cookie, cookie)
    t.same((await ada.get('/$catalog/kept')).json.result, { cart: [1] })
  })

  t.test('§P8.5 a guest may store less than a user', async t => {
    const ada = new Client(server)
    const keep = async (bytes: number) => (await ada.call('$catalog/keep', 'text', 'x'.repeat(bytes))).status
    t.same([await keep(16_000), await keep(17_000)], [200, 500])
    t.equal((await ada.call('$catalog/keep', 'text', 'ü'.repeat(9_000))).status, 500, 'bytes, not characters')
    await ada.result('arrive', 'ada')
    t.same([await keep(60_000), await keep(70_000)], [200, 500])
    t.same(await ada.result('clear'), [true, true], 'stored values of a user do not prevent the end')
  })

  t.test('§P8.5 a logout holds, also against a call that is still running', async t => {
    const ada = new Client(server)
    await ada.result('arrive', 'ada')
    const { cookie } = ada
    const lingering = ada.call('$catalog/linger', 1_000)
    await new Promise(resolve => setTimeout(resolve, 200))
    t.equal((await server.post('/$directory/logout', undefined, { cookie })).status, 200)
    t.same((await lingering).json.result, { success: true })
    ada.cookie = cookie
    t.match((await ada.get('/$catalog/me')).json.result, { guest: true, userName: '' })
    ada.cookie = cookie
    t.same((await ada.get('/$catalog/kept')).json.result, {})
    t.same(
      await new Client(server).call('Employee(1)/take').then(({ json }) => json.result),
      { success: true },
      'its lock is free',
    )
  })

  t.test('§P8.6 function code sets the quotas of its session', async t => {
    const ada = new Client(server)
    t.same(await ada.result('quotas', 2, 100, 200), { nbEntitySets: 0 })
    const set = async (parameters = '') => ada.get(`/Company?$method=entityset${parameters}`)
    const [first, second] = [await set(), await set('&$timeout=500')]
    t.equal((await set()).status, 429)
    const listed = (await ada.get('/$info/entitySet')).json.entitySet
    const expiresOf = ({ json }: TestAnswer) =>
      listed.find(({ id }: { id: string }) => json.__ENTITYSET.endsWith(id)).expires
    t.equal(expiresOf(first), '2026-06-01T00:01:40.000Z', 'its own default')
    t.equal(expiresOf(second), '2026-06-01T00:03:20.000Z', 'its own maximum')
    t.same(await ada.result('quotas'), { nbEntitySets: 2 }, 'undefined resets')
    t.equal((await set()).status, 200)
    t.equal((await ada.call('$catalog/quotas', -1)).status, 500)
  })

  t.test('§P8.8 function code locks for its session, and is kept out by others', async t => {
    const [ada, kurt] = [new Client(server), new Client(server)]
    await kurt.get('/Company')
    t.same((await ada.call('Employee(2)/take')).json.result, { success: true })
    const locked = { success: false, status: 3, statusText: 'Already Locked', lockKind: 7 }
    t.match((await kurt.call('Employee(2)/take')).json.result, locked)
    t.match((await kurt.call('Employee(2)/leave')).json.result, locked)
    t.match((await kurt.call('Employee(2)/raise')).json.result, locked)
    t.equal((await kurt.call('Employee(2)/dismiss')).json.result.success, false)
    t.equal((await kurt.get('/Employee(2)?$lock=true')).json.result, false)
    t.match((await ada.call('Employee(2)/raise')).json.result, { success: true })
    t.same((await ada.call('Employee(2)/leave')).json.result, { success: true })
    t.same((await ada.call('Employee(2)/leave')).json.result, { success: true, wasNotLocked: true })
    t.match((await kurt.call('Employee(2)/raise')).json.result, { success: true })
  })

  t.test('§P8.5 sessions of different clients do not mix', async t => {
    const clients = Array.from({ length: 8 }, () => new Client(server))
    await Promise.all(clients.map((client, i) => client.result('keep', 'number', i)))
    const kept = await Promise.all(clients.map(client => client.get('/$catalog/kept')))
    t.same(
      kept.map(({ json }) => json.result.number),
      clients.map((_, i) => i),
    )
  })
})

t.test('§P8.5 storage is kept with the session, over calls and a restart', async t => {
  const world = await open(t)
  const ada = new Client(world.server)
  await ada.result('keep', 'cart', [1, { two: 'ü' }])
  await ada.result('keep', '__proto__', { polluted: true })
  await Promise.all([ada.result('keep', 'a', 1), ada.result('keep', 'b', 2)])
  await ada.result('forget', 'a')
  const answer = await ada.call('$catalog/keepAndFail')
  t.same([answer.status, answer.json.__ERROR[0].errCode], [422, 12])
  const kept = { cart: [1, { two: 'ü' }], b: 2, failed: true }
  t.match((await ada.get('/$catalog/kept')).json.result, kept)
  t.equal(({} as { polluted?: boolean }).polluted, undefined)
  await world.server.close()
  ada.server = await world.reopen()
  t.match((await ada.get('/$catalog/kept')).json.result, kept)
  t.same((await new Client(ada.server).get('/$catalog/kept')).json.result, {}, 'no other client has it')
  const large = await ada.call('$catalog/keep', 'large', 'x'.repeat(70_000))
  t.same([large.status, large.json.__ERROR[0].errCode], [500, 1562])
  t.match((await ada.get('/$catalog/kept')).json.result, kept, 'nothing of it was kept')
})

t.test('§P8.5 with an option, a login keeps what the guest has stored', async t => {
  const folder = temporaryFolder(t)
  const config = { plugins: [visitsPlugin], session: { keepGuestStorage: true } }
  const ada = new Client(await startServer(t, company, { folder, config }))
  await ada.result('keep', 'cart', [1])
  await ada.result('arrive', 'ada')
  t.same((await ada.get('/$catalog/kept')).json.result, { cart: [1], arrived: 'ada' })
})

t.test('§P8.5 a one-time token does not outlive the idle time of its session', async t => {
  const { server, clock } = await open(t)
  const ada = new Client(server)
  await ada.result('grant', 'hr')
  const token = await ada.result('token', 7_200)
  clock.now += 61 * 60_000
  t.equal((await new Client(server).call('$catalog/restore', token)).status, 401)
})

t.test('§P8.5 the idle timeout can be changed', async t => {
  const { server, clock } = await open(t)
  const ada = new Client(server)
  await ada.result('grant', 'hr')
  await ada.result('wait', 5)
  t.match((await ada.get('/$catalog/me')).json.result, { idleTimeout: 5, expirationDate: '2026-06-01T00:05:00.000Z' })
  clock.now += 4 * 60_000
  t.equal((await ada.get('/$catalog/me')).json.result.guest, false)
  clock.now += 6 * 60_000
  t.equal((await ada.get('/$catalog/me')).json.result.guest, true)
  t.equal((await ada.call('$catalog/wait', -1)).status, 500)
})

t.test('§P8.5 a one-time token takes a session over, once', async t => {
  const world = await open(t)
  const [ada, phone] = [new Client(world.server), new Client(world.server)]
  await ada.result('grant', { privileges: ['hr'], userName: 'ada' })
  const token = (await ada.result('token')) as string
  t.match(token, /^[0-9A-F]{32}$/)

  const others = Array.from({ length: 5 }, () => new Client(world.server))
  const restored = await Promise.all([phone, ...others].map(client => client.call('$catalog/restore', token)))
  t.equal(restored.filter(({ json }) => json.result === true).length, 1, 'one of several at once succeeds')
  const winner = [phone, ...others][restored.findIndex(({ json }) => json.result === true)]!
  t.match((await winner.get('/$catalog/me')).json.result, { userName: 'ada', privileges: ['hr'] })
  t.not(winner.cookie, ada.cookie)
  t.equal((await winner.call('$catalog/restore', token)).json.result, false, 'a second time')
  t.match((await winner.get('/$catalog/me')).json.result, { userName: 'ada' })

  await ada.result('keep', 'shared', 1)
  t.same((await winner.get('/$catalog/kept')).json.result, { shared: 1 }, 'it is one session')
  await world.server.close()
  winner.server = ada.server = await world.reopen()
  t.match((await winner.get('/$catalog/me')).json.result, { userName: 'ada' }, 'after a restart')
  await ada.call('$directory/logout')
  t.match((await winner.get('/$catalog/me')).json.result, { guest: true }, 'and ends for both')
})

t.test('§P8.5 a one-time token expires, and ends with its session', async t => {
  const { server, clock } = await open(t)
  const ada = new Client(server)
  await ada.result('grant', 'hr')
  const [short, long] = [await ada.result('token', 10), await ada.result('token', 7_200)]
  clock.now += 11_000
  t.equal((await new Client(server).call('$catalog/restore', short)).status, 401)
  await ada.call('$directory/logout')
  const thief = new Client(server)
  t.equal((await thief.call('$catalog/restore', long)).json.result, false, 'it ended with its session')
  t.match((await thief.get('/$catalog/me')).json.result, { guest: true, userName: '' })
  t.equal((await new Client(server).call('$catalog/restore', 'nonsense')).json.result, false)
  t.equal((await ada.call('$catalog/token', 0)).status, 500)
})

t.test('§P8.6 rows that queries of function code examine count against its quota', async t => {
  const folder = temporaryFolder(t)
  const config = { plugins: [visitsPlugin], quota: { costPerAddress: 20 } }
  const ada = new Client(await startServer(t, company, { folder, config }))
  const statuses: number[] = []
  while (statuses.at(-1) !== 429 && statuses.length < 30) statuses.push((await ada.call('$catalog/search')).status)
  t.ok(statuses.length > 2 && statuses.length <= 21, `${statuses.length}`)
})

t.test('§P8.8 a lock that function code takes for a guest ends with its session', async t => {
  const { server, clock } = await open(t)
  const [ada, kurt] = [new Client(server), new Client(server)]
  await kurt.get('/Company')
  t.same((await ada.call('Employee(1)/take')).json.result, { success: true })
  t.equal((await kurt.get('/$info/sessionInfo')).json.sessionInfo.length, 1, 'the guest is kept from now on')
  clock.now += 2 * HOUR
  await ada.get('/Company')
  t.same((await kurt.call('Employee(1)/take')).json.result, { success: true })
})
