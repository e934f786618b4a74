import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'
import {
  startServer,
  type TestAnswer,
  type TestServer,
  transports,
  usualTransports,
} from '../support/servers/test-server.ts'

/** Addresses of clients behind proxies. Every test connects from 127.0.0.1, which the first tests trust. */

const trustedProxies = ['loopback', '10.0.0.0/8']
const setCookie = ({ headers }: TestAnswer): string => String(headers['set-cookie'])
const from = (address: string, more = {}) => ({ 'x-forwarded-for': address, ...more })

for (const transport of transports) {
  const start = (t: Test, server: object, config: object = {}): Promise<TestServer> =>
    startServer(t, company, { transport, config: { ...config, server } })

  t.test(`quotas count the clients behind trusted proxies on ${transport}`, async t => {
    const server = await start(t, { trustedProxies }, { quota: { requestsPerAddress: 3 } })
    const statuses = async (headers: Record<string, string>, count = 4) => {
      const received: number[] = []
      for (let i = 0; i < count; i++) received.push((await server.get('/City(Paris)', headers)).status)
      return received
    }
    const used = [200, 200, 200, 429]
    t.same(await statuses(from('192.0.2.1')), used)
    t.same(await statuses(from('192.0.2.2, 10.0.0.3')), used, 'another client has a quota of its own')
    t.same(await statuses(from('8.8.8.8, 192.0.2.1'), 1), [429], 'an address that the client adds itself has no effect')
    t.same(await statuses({ forwarded: 'for=192.0.2.1' }, 1), [429], 'Forwarded names the same client')
    t.same(await statuses(from('2001:db8::1')), used)
    t.same(await statuses(from('2001:db8::ffff:1'), 1), [429], 'an address of the same network')
    t.same(await statuses(from('2001:db8:0:1::1'), 1), [200], 'another network')
  })

  t.test(`lines of one header are one list on ${transport}`, async t => {
    const server = await start(t, { trustedProxies }, { quota: { requestsPerAddress: 1 } })
    const lines = (...addresses: string[]) => server.get('/City(Paris)', { 'x-forwarded-for': addresses } as never)
    t.equal((await lines('8.8.8.8', '192.0.2.1')).status, 200)
    t.equal((await lines('8.8.4.4', '192.0.2.1')).status, 429, 'the last line comes from the proxy')
  })

  t.test(`without trusted proxies the headers are ignored on ${transport}`, async t => {
    const server = await start(t, {}, { quota: { requestsPerAddress: 2 } })
    const secure = { 'x-forwarded-proto': 'https' }
    t.notMatch(setCookie(await server.get('/City(Paris)', from('192.0.2.1', secure))), 'Secure')
    t.equal((await server.get('/City(Paris)', { forwarded: 'for=192.0.2.2;proto=https' })).status, 200)
    t.equal((await server.get('/City(Paris)', from('192.0.2.3'))).status, 429)
  })

  t.test(`the cookie is Secure when the proxy speaks TLS on ${transport}`, async t => {
    const server = await start(t, { trustedProxies }, { session: { sameSite: 'none' } })
    const cookie = async (headers: Record<string, string>) => setCookie(await server.get('/City(Paris)', headers))
    t.match(await cookie({ 'x-forwarded-proto': 'https' }), /SameSite=None; Secure$/)
    t.match(await cookie({ forwarded: 'for=192.0.2.1;proto=https' }), /SameSite=None; Secure$/)
    t.match(await cookie(from('192.0.2.1', { 'x-forwarded-proto': 'https, http' })), /SameSite=Lax$/)
    t.match(await cookie({}), /SameSite=Lax$/, 'browsers refuse None without Secure')
  })

  t.test(`headers that contradict each other are refused on ${transport}`, async t => {
    const server = await start(t, { trustedProxies })
    const answer = await server.get('/City(Paris)', from('192.0.2.1', { forwarded: 'for=192.0.2.2' }))
    t.equal(answer.status, 400)
    t.match(answer.json.__ERROR[0], { errCode: 1806, message: /name different clients/ })
  })

  t.test(`requests are accepted with the base path and without it on ${transport}`, async t => {
    // The explorer serves the root.
    const server = await start(t, { basePath: '/data' }, { disablePlugins: ['explorer'] })
    t.match(setCookie(await server.get('/City(Paris)')), /; Path=\/data; HttpOnly/)
    t.match(setCookie(await server.get('//data/rest/City(Paris)')), /; Path=\/data; HttpOnly/)
    for (const path of ['//health', '//data/health']) t.match(await server.get(path), { status: 200 }, path)
    for (const [path, message] of [
      ['//data', /^this is a Tesser server; its data is below \/data\/rest: .*it also serves \/data\/health, /],
      ['//data/', /^this is a Tesser server/],
      ['//data/City', /^nothing is served at \/data\/City; did you mean "\/data\/rest\/City"\?; .* \/data\/rest/],
      ['//helth', /^nothing is served at \/data\/helth; did you mean "\/data\/health"\?/],
      ['//database/rest/City', /^nothing is served at/],
      ['//data/data/rest/City', /^nothing is served at/],
      ['//dat/rest/City', /^nothing is served at/],
    ] as const) {
      t.match(await server.get(path), { status: 404, json: { __ERROR: [{ errCode: 1806, message }] } }, path)
    }
  })

  t.test(`a lock names the client on ${transport}`, async t => {
    const server = await start(t, { trustedProxies })
    const headers = from('192.0.2.1', { 'x-forwarded-host': 'app.example.com' })
    t.same((await server.post('/City(Paris)?$lock=true', undefined, headers)).json.result, true)
    const refused = await server.post('/City(Paris)?$lock=true', undefined, from('192.0.2.2'))
    t.match(refused.json.__STATUS.lockInfo, { host: 'app.example.com', IPAddr: '192.0.2.1' })
  })
}

for (const transport of usualTransports) {
  t.test(`links begin with the base path and resolve on ${transport}`, async t => {
    const server = await startServer(t, company, {
      transport,
      config: { plugins: [staffPlugin], server: { basePath: '/data' } },
    })
    const followed = new Set<string>()
    const check = async ({ status, text, json, headers }: TestAnswer, what: string): Promise<void> => {
      t.equal(status, 200, `${what}: ${text.slice(0, 300)}`)
      t.notMatch(text, /"\/rest|\/data\/data/, what)
      const links = [...linksIn(json), headers['content-location']].filter(link => typeof link === 'string')
      for (const link of links.filter(link => !followed.has(link))) {
        followed.add(link)
        t.match(link, /^\/data\/rest\//, what)
        const answer = await server.get(`/${encodeURI(link).replaceAll('%25', '%')}`)
        const stripped = await server.get(`/${encodeURI(link).replaceAll('%25', '%').slice('/data'.length)}`)
        t.strictSame(stripped.bytes, answer.bytes, `${link} where the proxy strips the base path`)
        if (answer.json) await check(answer, link)
        else t.equal(answer.status, 200, link)
      }
    }
    for (const path of [
      '/$catalog',
      '/$catalog/$all',
      '/Employee?$expand=employer,directReports,photo',
      '/Employee?$attributes=lastName,employer.contract,directReports.lastName&$asArray=true',
      '/Employee?$filter="ID<4"&$method=entityset',
      '/Company(1)/staff?$expand=staff&$method=subentityset',
      '/Company(1)/staff',
      '/Employee/wellPaid?$params=[50000]',
      '/Employee/wellPaid?$params=[50000]&$method=entityset',
      '/Employee/women?$method=entityset',
      '/Employee/names?$method=entityset',
      '/Tag',
    ]) {
      await check(await server.get(path), path)
    }
    const saved = await server.post('/Employee?$method=update', [{ lastName: 'New', employer: { __KEY: '1' } }])
    await check(saved, 'a save')
    t.equal(saved.json.__ENTITIES[0].uri, '/data/rest/Employee(7)')
    const [image, page] = ['/data/rest/Employee(1)/photo', '/data/rest/Company(1)/staff?$expand=staff']
    t.ok([...followed].some(link => link.startsWith(image)) && followed.has(page), 'images and related entities')
  })
}

/** Texts that look like addresses of data. */
function linksIn(json: unknown): string[] {
  if (typeof json === 'string') return /^\S*\/rest\//.test(json) ? [json] : []
  return typeof json === 'object' && json !== null ? Object.values(json).flatMap(linksIn) : []
}
