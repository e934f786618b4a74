import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { hashPassword } from '../../kernel/auth/password.ts'
import { company } from '../support/fixtures/company.ts'
import { startServer, temporaryFolder, type TestServer } from '../support/test-server.ts'

/** `$info` and the quotas of entity sets. Source: protocol notes, 8.6 and 8.7. */

const NOW = Date.parse('2026-06-01T00:00:00Z')
const password = await hashPassword('correct horse')

async function open(t: Test, config: Record<string, unknown> = {}): Promise<TestServer> {
  const folder = temporaryFolder(t)
  const users = [{ name: 'Ada', password, privileges: ['hr'] }]
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ users }))
  return startServer(t, company, { folder, config, now: () => NOW })
}

async function login(server: TestServer): Promise<Record<string, string>> {
  const { headers } = await server.post('/$directory/login', ['Ada', 'correct horse'])
  return { cookie: String(headers['set-cookie']).split(';')[0]! }
}

t.test('§P8.7 $info tells of memory, entity sets, sessions and privileges', async t => {
  const server = await open(t)
  const ada = await login(server)
  const made = await server.get('/Company?$method=entityset&$timeout=100', ada)
  const ordered = await server.get('/Company?$method=entityset&$orderby="name desc"', ada)
  const idOf = ({ json }: typeof made): string => json.__ENTITYSET.split('/').at(-1)

  const { json } = await server.get('/$info', ada)
  t.equal(json.entitySetCount, 2)
  t.same(
    json.entitySet.find((set: { id: string }) => set.id === idOf(made)),
    {
      id: idOf(made),
      dataClass: 'Company',
      selectionSize: 4,
      sorted: false,
      refreshed: '2026-06-01T00:00:00.000Z',
      expires: '2026-06-01T00:01:40.000Z',
    },
  )
  t.equal(json.entitySet.find((set: { id: string }) => set.id === idOf(ordered)).sorted, true)
  t.match(json, { cacheSize: Number, usedCache: Number, ProgressInfo: [] })
  t.same(json.privileges, { privileges: [{ privilege: 'hr' }] })
  t.match(json.sessionInfo, [
    { userName: 'Ada', lifeTime: 3600, expiration: '2026-06-01T01:00:00.000Z', sessionID: /^[0-9A-F]+$/i },
  ])
  t.notOk(JSON.stringify(json).includes(ada.cookie!.split('=')[1]!), 'what the cookie holds is nowhere')

  t.same(Object.keys((await server.get('/$info/cacheInfo', ada)).json), ['cacheSize', 'usedCache'])
  t.same(Object.keys((await server.get('/$info/entitySet', ada)).json), ['entitySetCount', 'entitySet'])
  t.same((await server.get('/$info/progressInfo', ada)).json, { ProgressInfo: [] })
  t.equal((await server.get('/$info/sessionInfo', ada)).json.sessionInfo.length, 1)
  for (const path of ['/$info/nothing', '/$info/__proto__', '/$info/cacheInfo/more']) {
    t.equal((await server.get(path, ada)).status, 404, path)
  }
})

t.test('§P8.7 $info/sessionInfo/release ends the sessions it names, or all', async t => {
  const server = await open(t)
  const [first, second] = [await login(server), await login(server)]
  const userOf = async (headers: Record<string, string>) =>
    (await server.get('/$directory/currentUser', headers)).json.result?.userName
  const { sessionInfo } = (await server.get('/$info/sessionInfo', first)).json
  t.equal(sessionInfo.length, 2)
  t.equal((await server.get('/$info/sessionInfo/release', first)).status, 405)
  await server.post(`/$info/sessionInfo/release/${sessionInfo[0].sessionID},nobody`, undefined, first)
  t.same([await userOf(first), await userOf(second)].filter(Boolean), ['Ada'])
  await server.post('/$info/sessionInfo/release', undefined, second)
  t.same([await userOf(first), await userOf(second)], [undefined, undefined])
})

t.test('§P8.6 a session has only so many entity sets at a time', async t => {
  const server = await open(t, { quota: { entitySetsPerSession: 2 } })
  const ada = await login(server)
  const make = (headers: Record<string, string>) => server.get('/Company?$method=entityset', headers)
  const first = await make(ada)
  t.equal((await make(ada)).status, 200)
  const third = await make(ada)
  t.same([third.status, third.json.__ERROR[0].errCode], [429, 1200])
  t.equal((await make(await login(server))).status, 200, 'another session')
  t.equal((await make({})).status, 200, 'a guest')
  const released = first.json.__ENTITYSET.replace('/rest', '')
  await server.post(`${released}?$method=release`, undefined, ada)
  t.equal((await make(ada)).status, 200)
})
