/**
 * Entity sets of a dataclass with restrict events. Guests see the companies 1 and 2, a user 1 to 4.
 * Source: protocol notes, 6 and 8.9.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { idOf } from '../support/servers/entity-set-world.ts'
import { company } from '../support/fixtures/company.ts'
import { hiddenCompaniesPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestAnswer } from '../support/servers/test-server.ts'

/** A client and its sets. */
class Client {
  constructor(
    private readonly t: Test,
    readonly send: (path: string, body?: unknown) => Promise<TestAnswer>,
  ) {}

  async make(path: string): Promise<string> {
    const answer = await this.send(`${path}${path.includes('?') ? '&' : '?'}$method=entityset`)
    this.t.equal(answer.status, 200, answer.text.slice(0, 300))
    return idOf(answer)
  }

  async same(path: string, keys: readonly string[], name: string): Promise<void> {
    const { json } = await this.send(path)
    this.t.same(
      json?.__ENTITIES?.map(({ __KEY }: { __KEY?: string }) => __KEY),
      keys,
      `${name}: ${path}`,
    )
    this.t.equal(json?.__COUNT, keys.length, name)
  }
}

async function world(t: Test) {
  const folder = temporaryFolder(t)
  const key = createKey()
  const directory = { keys: [{ name: 'all', hash: hashKey(key), privileges: ['all'] }] }
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify(directory))
  const clock = { ms: Date.now() }
  const server = await startServer(t, company, {
    folder,
    roles: {
      privileges: [{ privilege: 'all' }],
      permissions: { allowed: [{ applyTo: 'Employee.salary', type: 'attribute', read: ['all'] }] },
    },
    config: { plugins: [hiddenCompaniesPlugin], functions: { threads: 1 } },
    now: () => clock.ms,
  })
  const client = (headers: Record<string, string>) =>
    new Client(t, (path, body) => server.send(body === undefined ? 'GET' : 'POST', path, body, headers))
  const { headers } = await server.get('/Company')
  const cookie = String(headers['set-cookie']).split(';')[0]!
  return {
    guest: client({ cookie }),
    otherGuest: client({}),
    user: client({ authorization: `Bearer ${key}` }),
    pass: (seconds: number) => {
      clock.ms += seconds * 1000
    },
  }
}

t.test('§P6.3 hidden members are in no combination of sets', async t => {
  const { guest, user } = await world(t)
  const all = await user.make('/Company')
  const hidden = await user.make('/Company?$filter="ID > 2"')
  const ordered = await user.make('/Company?$orderby="ID desc"')
  for (const [left, right] of [
    [all, hidden],
    [hidden, all],
    [ordered, hidden],
    [hidden, hidden],
  ]) {
    const combined = (operator: string) =>
      `/Company/$entityset/${left}?$logicOperator=${operator}&$otherCollection=${right}`
    t.equal((await user.send(combined('INTERSECT'))).json, true)
    t.equal((await guest.send(combined('INTERSECT'))).json, false)
    await guest.same(combined('AND'), [], 'AND')
  }
  const or = `/Company/$entityset/${hidden}?$logicOperator=OR&$otherCollection=${all}`
  await guest.same(or, ['1', '2'], 'OR')
  await guest.same(`/Company/$entityset/${await guest.make(or)}`, ['1', '2'], 'what a guest keeps of them')
  await guest.same(`/Company/$entityset/${all}?$logicOperator=EXCEPT&$otherCollection=${hidden}`, ['1', '2'], 'EXCEPT')
  await guest.same(`/Company/$entityset/${ordered}`, ['2', '1'], 'a page')
  await guest.same(`/Company/$entityset/${all}?$clean=true`, ['1', '2'], '$clean')
  t.equal((await guest.send(`/Company/$entityset/${all}?$compute=count`)).json, 2)
  t.same((await guest.send(`/Company/ID/$entityset/${ordered}?$distinct=true`)).json, [1, 2])
  await user.same(`/Company/$entityset/${all}`, ['1', '2', '3', '4'], 'others see all of it')
})

t.test('§P7.3 functions get the members that their callers may see', async t => {
  const { guest, user } = await world(t)
  for (const [path, keys] of [
    ['/Company', [1, 2]],
    ['/Company?$orderby="ID desc"', [2, 1]],
    ['/Company?$filter="ID > 2"', []],
  ] as const) {
    const selection = { __DATASET: await user.make(path) }
    t.same((await guest.send('/Company/keysOf', [selection])).json, { result: [keys.length, keys, keys.length] }, path)
  }
})

t.test('§P6.2 a saved query is run with the rights of the client that requests the set', async t => {
  const { guest, otherGuest, user, pass } = await world(t)
  const saved = '/Employee?$filter="employer.name = zeta"&$savedfilter=true'
  const made = { guest: await guest.make(saved), user: await user.make(saved) }
  const set = (id: string) => `/Employee/$entityset/${id}`
  await guest.same(set(made.guest), [], 'made by a guest')
  await guest.same(`${set(made.guest)}?$refresh=true`, [], 'made again by $refresh')
  await user.same(set(made.user), ['6'], 'made by a user')
  await guest.same(`${set(made.user)}?$refresh=true`, [], 'made again for another one')
  await user.same(set(made.user), ['6'], 'which does not change it for its creator')
  pass(7_200)
  await guest.same(set(made.guest), [], 'made again after its end')
  for (const client of [guest, otherGuest]) await client.same(set(made.user), [], 'of another one')
  t.same((await guest.send('/Company/keysOf', [{ __DATASET: made.user }])).json, { result: [0, [], 0] })
  const all = await guest.make('/Employee')
  const both = `/Employee/$entityset/${all}?$logicOperator=INTERSECT&$otherCollection=${made.user}`
  t.equal((await guest.send(both)).json, false)
  await user.same(set(made.user), ['6'], 'its creator has it as it was')
})

t.test(
  '§P6.2 a set whose saved query names what a client may not read is unknown to it, wherever it is named',
  async t => {
    const { guest, user, pass } = await world(t)
    const id = await user.make('/Employee?$filter="salary > 50000"&$savedfilter=true')
    const set = `/Employee/$entityset/${id}`
    await guest.same(set, ['1', '4'], 'while it lives')
    const refused = async (path: string, body?: unknown) => {
      const swap = (text: string) => text.replaceAll(id, 'F'.repeat(32))
      const unknown = await guest.send(swap(path), body && JSON.parse(swap(JSON.stringify(body))))
      const { status, text } = await guest.send(path, body)
      t.equal(status, unknown.status, path)
      t.equal(swap(text), unknown.text, 'as if it had never existed')
    }
    await refused(`${set}?$refresh=true`)
    pass(7_200)
    await refused(set)
    await refused(`/Employee/$entityset/${await guest.make('/Employee')}?$logicOperator=AND&$otherCollection=${id}`)
    await refused('/Company/keysOf', [{ __DATASET: id }])
    t.match(
      (await guest.send(`${set}?$savedfilter="nothing = 1"`)).json,
      { __ERROR: [{ message: /"nothing" not found/ }] },
      'a query of its own is answered as any other',
    )
    t.same(
      (await user.send('/Company/keysOf', [{ __DATASET: id }])).json,
      { result: [2, [1, 4], 2] },
      'for its creator',
    )
    await user.same(set, ['1', '4'], 'for its creator')
  },
)

t.test('§4.5 a deleted member that a client cannot tell from a hidden one has no place', async t => {
  const { guest, user } = await world(t)
  const id = await user.make('/Company?$orderby="ID desc"')
  t.same((await user.send('/Company(4)?$method=delete', '')).json, { ok: true })
  await guest.same(`/Company/$entityset/${id}`, ['2', '1'], 'for a restricted client')
  const { json } = await user.send(`/Company/$entityset/${id}`)
  t.match(json.__ENTITIES, [{ __STAMP: 0 }, { __KEY: '3' }, { __KEY: '2' }, { __KEY: '1' }])
})
