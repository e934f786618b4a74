import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { quickHash } from '../support/base/password.ts'
import { company } from '../support/fixtures/company.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer } from '../support/servers/test-server.ts'

/** `$info` and the quotas of entity sets. Source: protocol notes, 8.6 and 8.7. */

const NOW = Date.parse('2026-06-01T00:00:00Z')
const password = await quickHash('correct horse')
const key = createKey()

async function open(t: Test, config: Record<string, unknown> = {}, roles?: object): Promise<TestServer> {
  const folder = temporaryFolder(t)
  const users = [{ name: 'Ada', password, privileges: ['hr'] }]
  const keys = [{ name: 'admin', hash: hashKey(key), privileges: ['boss'] }]
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ users, keys }))
  return startServer(t, company, { folder, config, roles, now: () => NOW })
}

async function login(server: TestServer): Promise<Record<string, string>> {
  const { headers } = await server.post('/$directory/login', ['Ada', 'correct horse'])
  return { cookie: String(headers['set-cookie']).split(';')[0]! }
}

t.test('§P8.7 $info describes memory, entity sets, sessions and privileges', async t => {
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
  t.notOk(JSON.stringify(json).includes(ada.cookie!.split('=')[1]!), 'the value of the cookie is nowhere')

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
  const { sessionInfo, currentSession } = (await server.get('/$info/sessionInfo', first)).json
  t.equal(sessionInfo.length, 2)
  t.ok(sessionInfo.some((each: { sessionID: string }) => each.sessionID === currentSession))
  t.not((await server.get('/$info/sessionInfo', second)).json.currentSession, currentSession)
  t.equal((await server.get('/$info/sessionInfo/release', first)).status, 405)
  await server.post(`/$info/sessionInfo/release/${sessionInfo[0].sessionID},nobody`, undefined, first)
  t.same([await userOf(first), await userOf(second)].filter(Boolean), ['Ada'])
  const left = (await userOf(first)) ? first : second
  t.equal((await server.post('/$info/sessionInfo/release', undefined, left)).status, 200)
  t.same([await userOf(first), await userOf(second)], [undefined, undefined])
})

t.test('§P8.7 without roles $info requires a login, or an option', async t => {
  const server = await open(t)
  const ada = await login(server)
  const guest = { cookie: String((await server.get('/Company')).headers['set-cookie']).split(';')[0]! }
  const newcomer: Record<string, string> = {}
  for (const headers of [newcomer, guest]) {
    for (const path of ['/$info', '/$info/cacheInfo', '/$info/entitySet', '/$info/sessionInfo', '/$info/nothing']) {
      const { status, json } = await server.get(path, headers)
      t.match([status, json.__ERROR], [401, [{ errCode: 1611, message: /log in, or send a key or a token/ }]], path)
    }
    t.equal((await server.post('/$info/sessionInfo/release', undefined, headers)).status, 401)
  }
  t.equal((await server.get('/$info', ada)).status, 200)
  t.equal((await server.get('/$info', { authorization: `Bearer ${key}` })).status, 200)
  const opened = await open(t, { auth: { guestsAdministrate: true } })
  t.equal((await opened.get('/$info')).status, 200)
})

t.test('§P8.7 with roles $info requires WebAdmin, whatever the option says', async t => {
  const roles = { privileges: [{ privilege: 'hr' }, { privilege: 'boss', includes: ['WebAdmin'] }] }
  const server = await open(t, { auth: { guestsAdministrate: true } }, roles)
  const ada = await login(server)
  const admin = { authorization: `Bearer ${key}` }
  t.equal((await server.get('/$info')).status, 401)
  t.match((await server.get('/$info', ada)).json.__ERROR, [{ errCode: 1611, message: /lacks the privilege WebAdmin/ }])
  t.equal((await server.get('/$info', admin)).status, 200)
  const rightsOf = async (headers: Record<string, string>) => {
    const { privileges, administrator } = (await server.get('/$directory/currentUser', headers)).json
    return [privileges, administrator]
  }
  t.same(await rightsOf({}), [[], false])
  t.same(await rightsOf(ada), [['hr'], false])
  t.same(await rightsOf(admin), [['boss', 'WebAdmin'], true], 'currentUser says who may ask')
})

t.test('$info/locks lists the locks and their holders', async t => {
  const server = await open(t)
  const ada = await login(server)
  t.same((await server.get('/$info/locks', ada)).json, { lockCount: 0, locks: [] })
  await server.post('/Employee(1)?$lock=true', undefined, { ...ada, 'user-agent': 'tests' })
  await server.post('/Company(2)?$lock=true', undefined, { authorization: `Bearer ${key}`, 'user-agent': 'tests' })
  const { json } = await server.get('/$info/locks', ada)
  const lockInfo = { host: new URL(server.url).host, IPAddr: '127.0.0.1', userAgent: 'tests' }
  const { sessionInfo } = (await server.get('/$info/sessionInfo', ada)).json
  t.same(
    json,
    {
      lockCount: 2,
      locks: [
        { dataClass: 'Employee', __KEY: '1', sessionID: sessionInfo[0].sessionID, lockInfo },
        {
          dataClass: 'Company',
          __KEY: '2',
          sessionID: json.locks[1].sessionID,
          lockInfo,
          expires: json.locks[1].expires,
        },
      ],
    },
    'a lock of a key expires',
  )
  t.match(json.locks[1].expires, /^2026-06-01T00:10:0/)
  t.notOk(JSON.stringify(json).includes(key))
  await server.post(`/$info/sessionInfo/release/${sessionInfo[0].sessionID}`, undefined, ada)
  const admin = { authorization: `Bearer ${key}` }
  t.equal((await server.get('/$info/locks', admin)).json.lockCount, 1, 'a session that ends releases its locks')
})

t.test('$info/quotas has the limits and their use in this minute', async t => {
  const limits = {
    requestsPerSession: 100,
    requestsPerAddress: 0,
    costPerSession: 1000,
    costPerAddress: 0,
    concurrentPerAddress: 5,
  }
  const server = await open(t, { quota: limits })
  const ada = await login(server)
  for (let i = 0; i < 3; i++) await server.get('/Company?$filter="name=A@"', ada)
  const { json } = await server.get('/$info/quotas', ada)
  t.match(json.limits, limits)
  const { sessionID } = (await server.get('/$info/sessionInfo', ada)).json.sessionInfo[0]
  const own = json.sessions.find((each: { sessionID: string }) => each.sessionID === sessionID)
  t.equal(own.requests, 4)
  t.ok(own.cost > 0)
  t.same((await (await open(t)).get('/$info/quotas', ada)).status, 401)
})

t.test('$info/roles and $info/rights say what is allowed, and why', async t => {
  const roles = {
    privileges: [{ privilege: 'read' }, { privilege: 'hr', includes: ['read'] }, { privilege: 'WebAdmin' }],
    roles: [{ role: 'clerk', privileges: ['hr'] }],
    permissions: {
      allowed: [
        { applyTo: 'ds', type: 'datastore', create: ['nobody'], drop: ['hr'] },
        { applyTo: 'Employee', type: 'dataclass', create: ['hr'] },
        { applyTo: 'Employee.salary', type: 'attribute', read: ['read'] },
        { applyTo: 'Company', type: 'dataclass', read: ['hr'] },
      ],
    },
  }
  roles.privileges.push({ privilege: 'nobody' })
  const folder = temporaryFolder(t)
  const keys = [{ name: 'admin', hash: hashKey(key), privileges: ['WebAdmin'] }]
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ users: [], keys }))
  const config = { plugins: [staffPlugin] }
  const server = await startServer(t, company, { folder, config, roles, now: () => NOW })
  const get = async (path: string) => (await server.get(path, { authorization: `Bearer ${key}` })).json
  t.same(await get('/$info/roles'), {
    hasRoles: true,
    restrictedByDefault: false,
    forceLogin: false,
    roles: roles.roles,
    privileges: roles.privileges,
  })

  const find = (json: { rights: { name: string }[] }, name: string) => json.rights.find(each => each.name === name)
  const guest = await get('/$info/rights')
  t.same(guest.privileges, [])
  t.match(find(guest, 'Employee'), {
    type: 'dataclass',
    create: { allowed: false, setting: 'Employee', needed: ['hr'] },
    read: { allowed: true, setting: undefined },
    drop: { allowed: false, setting: 'ds', needed: ['hr'] },
  })
  t.same(find(guest, 'Employee.salary'), {
    type: 'attribute',
    name: 'Employee.salary',
    read: { allowed: false, setting: 'Employee.salary', needed: ['read'] },
  })
  t.match(
    find(guest, 'Employee.employer'),
    { read: { allowed: false, setting: 'Company', needed: ['hr'] } },
    'a relation is hidden with its target',
  )
  t.equal(find(guest, 'Employee.name'), undefined, 'others follow their dataclass')
  t.equal(find(guest, 'Company.name'), undefined, 'those of a hidden dataclass too')
  t.match(find(guest, 'Counter.increment'), { type: 'singletonMethod', execute: { allowed: true } }, 'of a singleton')
  t.match(find(guest, 'Employee.raise'), { type: 'method', execute: { allowed: true } })
  t.equal(find(guest, 'Employee.hidden'), undefined, 'a function that is not exposed')
  t.equal(guest.rightCount, guest.rights.length)

  const clerk = await get('/$info/rights/role/clerk')
  t.same(clerk.privileges, [
    { privilege: 'hr', by: 'clerk' },
    { privilege: 'read', by: 'hr' },
  ])
  t.match(find(clerk, 'Employee'), { create: { allowed: true, by: 'hr' } })
  t.match(find(clerk, 'Employee.salary'), { read: { allowed: true, setting: 'Employee.salary', by: 'read' } })
  t.equal(find(clerk, 'Employee.employer'), undefined)
  t.match(find(await get('/$info/rights/privilege/read'), 'Company'), { read: { allowed: false } })
  for (const path of ['/role/boss', '/role', '/privilege/clerk', '/role/clerk/more', '/x/clerk']) {
    t.equal((await server.get(`/$info/rights${path}`, { authorization: `Bearer ${key}` })).status, 404, path)
  }
  for (const part of ['locks', 'quotas', 'roles', 'rights', 'rights/role/clerk', 'rights/role/none']) {
    t.equal((await server.get(`/$info/${part}`)).status, 401, part)
  }
  const open1 = await open(t)
  const ada = await login(open1)
  for (const part of ['roles', 'rights']) {
    t.same((await open1.get(`/$info/${part}`, ada)).json, { hasRoles: false }, `${part} without a file`)
  }
})

t.test('§P8.6 the number of entity sets of a session is limited', async t => {
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
