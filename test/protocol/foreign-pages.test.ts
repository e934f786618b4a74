import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Dispatcher } from 'undici'
import { quickHash } from '../support/base/password.ts'
import { company } from '../support/fixtures/company.ts'
import { exchangeRaw } from '../support/clients/raw-connection.ts'
import { inTurn } from '../support/runner/rounds.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestAnswer, type TestServer, transports } from '../support/servers/test-server.ts'

/** Every way in which a page of another site can reach a server, with and without a session: none changes anything. */

const EVIL = 'https://evil.example'
const password = await quickHash('correct horse')

/** Headers that a browser adds to requests from pages of other sites. */
const ofBrowser = {
  current: { origin: EVIL, 'sec-fetch-site': 'cross-site' },
  older: { origin: EVIL },
  'of a hidden page': { origin: 'null', 'sec-fetch-site': 'cross-site' },
  'of another port of this machine': { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' },
}
/** Images, links and scripts send no Origin. */
const ofImage = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }

const CITY = '{"name":"Evil","population":1}'
const writes: [way: string, method: Dispatcher.HttpMethod, path: string, body: string, type: string][] = [
  ['a form of plain text', 'POST', '/City?$method=update', CITY, 'text/plain'],
  ['a form', 'POST', '/City', CITY, 'application/x-www-form-urlencoded'],
  ['a form with files', 'POST', '/City', CITY, 'multipart/form-data; boundary=x'],
  ['a fetch without CORS', 'POST', '/City?$method=update&$atomic=true', CITY, 'text/plain;charset=UTF-8'],
  ['a deletion by a form', 'POST', '/City("Paris")?$method=delete', '', 'text/plain'],
  ['a verb that needs a preflight', 'DELETE', '/City("Paris")', '', ''],
  ['a verb that needs a preflight', 'PUT', '/City', CITY, 'application/json'],
  ['a beacon to an upload', 'POST', '/$upload?$binary=true', 'evil', 'text/plain'],
  ['a query in a body', 'POST', '/City("Paris")/$query', '{"$lock":true}', 'text/plain'],
  ['a login', 'POST', '/$directory/login', '["Eve","correct horse"]', 'text/plain'],
  ['a logout', 'POST', '/$directory/logout', '', 'text/plain'],
  ['a lock', 'POST', '/City("Paris")?$lock=true', '', 'text/plain'],
  ['a release of entity sets', 'POST', '/City/$entityset/$release', '["SET"]', 'text/plain'],
  ['a release of entity sets', 'POST', '/City/$entityset/SET?$method=release', '', 'text/plain'],
  ['an end of sessions', 'POST', '/$info/sessionInfo/release', '', 'text/plain'],
]
const changingReads: [way: string, path: string][] = [
  ['a lock', '/City("Paris")?$lock=true'],
  ['a logout', '/$directory/logout'],
  ['a release of an entity set', '/City/$entityset/SET?$method=release'],
]

interface World {
  server: TestServer
  /** Cookie of a session that is logged in, or none. */
  cookie: Record<string, string>
  set: string
}

async function open(t: Test, transport: TestServer['transport'], config: object = {}): Promise<World> {
  const folder = temporaryFolder(t)
  const users = ['Ada', 'Eve'].map(name => ({ name, password }))
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ users, keys: [] }))
  const server = await startServer(t, company, { folder, transport, config: { server: config } })
  const login = await server.post('/$directory/login', ['Ada', 'correct horse'])
  const cookie = { cookie: String(login.headers['set-cookie']).split(';')[0]! }
  const { json } = await server.get('/City?$method=entityset', cookie)
  return { server, cookie, set: json.__ENTITYSET.split('/').at(-1) }
}

async function checkUnchanged(t: Test, { server, cookie, set }: World, before: unknown): Promise<void> {
  t.same((await server.get('/City')).json, before, 'no entity has changed')
  t.equal((await server.get('/$directory/currentUser', cookie)).json.result.userName, 'Ada', 'the session continues')
  t.equal((await server.get(`/City/$entityset/${set}`)).status, 200, 'the entity set exists')
  t.equal((await server.post('/City("Paris")?$lock=true')).json.result, true, 'nothing is locked')
  t.equal((await server.post('/City("Paris")?$lock=false')).status, 200)
}

const isRefused = (t: Test, { status, json }: TestAnswer, way: string): void => {
  t.equal(status, 403, way)
  t.match(json, { __ERROR: [{ errCode: 1561, message: /server\.cors\.origins|server\.allowedHosts/ }] })
}

for (const transport of inTurn(transports)) {
  t.test(`pages of other sites on ${transport}`, async t => {
    const world = await open(t, transport)
    const { server, set } = world
    const before = (await server.get('/City')).json
    for (const [who, cookie] of Object.entries({ 'a guest': {}, 'a user': world.cookie })) {
      for (const [browser, page] of Object.entries(ofBrowser)) {
        for (const [way, method, path, body, type] of writes) {
          const headers = { ...page, ...cookie, ...(type && { 'content-type': type }) }
          const answer = await server.send(method, path.replace('SET', set), body.replace('SET', set), headers)
          isRefused(t, answer, `${way} of ${who}, ${method}, browser ${browser}`)
        }
      }
      for (const [way, path] of changingReads) {
        for (const page of [ofImage, ...Object.values(ofBrowser)]) {
          for (const method of ['GET', 'HEAD'] as const) {
            const answer = await server.send(method, path.replace('SET', set), undefined, { ...page, ...cookie })
            t.equal(answer.status, 403, `${way} of ${who} by ${method}`)
          }
        }
      }
    }
    await checkUnchanged(t, world, before)
    t.equal((await server.get('/City("Paris")', ofImage)).status, 200, 'reads are open to all who may read')
  })

  t.test(`"*" among the origins is for requests without a cookie on ${transport}`, async t => {
    const { server, cookie } = await open(t, transport, { cors: { origins: ['*'] } })
    const page = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const lock = (headers: Record<string, string>) => server.get('/City("Paris")?$lock=true', headers)
    const query = (headers: Record<string, string>) => server.post('/City("Paris")/$query', {}, headers)
    t.equal((await query(page)).status, 200)
    isRefused(t, await query({ ...page, ...cookie }), 'a POST with the cookie of a user')
    isRefused(t, await lock({ ...page, ...cookie }), 'a GET that changes something')
  })

  t.test(`host names of others that resolve to this server on ${transport}`, async t => {
    const world = await open(t, transport)
    const { port } = world.server
    const before = (await world.server.get('/City')).json
    const raw = (head: string, body = '') =>
      exchangeRaw(port, [`${head}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`], 'server')
    const rebound = 'Host: evil.example\r\nOrigin: http://evil.example\r\nSec-Fetch-Site: same-origin'
    for (const path of ['/rest/City', '/rest/$catalog', '/health/live', '/'])
      t.same((await raw(`GET ${path} HTTP/1.1\r\n${rebound}`)).statuses, [403], path)
    t.same((await raw(`POST /rest/City HTTP/1.1\r\n${rebound}`, CITY)).statuses, [403])
    t.same((await raw(`GET /rest/City HTTP/1.1\r\nHost: LocalHost:${port}`)).statuses, [200])
    await checkUnchanged(t, world, before)
  })

  t.test(`requests that are not from pages of other sites still work on ${transport}`, async t => {
    const { server, cookie, set } = await open(t, transport, { cors: { origins: ['https://friend.example'] } })
    let saved = 0
    const ours = { origin: server.url, 'sec-fetch-site': 'same-origin' }
    const friend = { origin: 'https://friend.example', 'sec-fetch-site': 'cross-site' }
    for (const headers of [{}, ours, friend]) {
      t.equal((await server.post('/City?$method=update', { name: `city ${saved++}` }, headers)).status, 200)
      t.equal((await server.get('/City("Paris")?$lock=true', { ...cookie, ...headers })).json.result, true)
      t.equal((await server.post('/City("Paris")/$query', { $lock: false }, { ...cookie, ...headers })).status, 200)
    }
    t.equal((await server.get(`/City/$entityset/${set}?$method=release`, friend)).status, 200)
    t.equal((await server.get('/$directory/logout', { ...cookie, 'sec-fetch-site': 'none' })).status, 200)
    t.equal((await server.get('/$directory/currentUser', cookie)).json.result, null)
  })
}
