import t from 'tap'
import { PagePolicy } from '../../../../kernel/session/page-policy.ts'
import { Client } from '../../../../kernel/transport/client.ts'

type Headers = Record<string, string>
interface Sent {
  method?: string
  headers?: Headers
  host?: string
  isForwarded?: boolean
  hasCookie?: boolean
}
const policy = ({ host = '127.0.0.1', allowedHosts = [] as string[], origins = [] as string[] } = {}) =>
  new PagePolicy({ host, allowedHosts, cors: { origins } })

/** Status of the refusal, or 200. */
function status(pages: PagePolicy, sent: Sent): number {
  const { method = 'POST', headers = {}, host = 'localhost:8080', isForwarded = false, hasCookie = false } = sent
  const client = new Client('127.0.0.1', false, host, isForwarded)
  try {
    pages.admit({ method, host, client, header: name => headers[name] ?? '' }, hasCookie)
    return 200
  } catch (error) {
    return (error as { httpStatus: number }).httpStatus
  }
}

const site = (value: string, origin?: string): Headers => ({ 'sec-fetch-site': value, ...(origin && { origin }) })
const OWN = 'http://localhost:8080'
const OTHER = 'https://evil.example'

const pages: [name: string, headers: Headers, status: number][] = [
  ['a program', {}, 200],
  ['a page of ours', site('same-origin', OWN), 200],
  ['a page of ours behind a proxy of a development server', site('same-origin', 'http://localhost:5173'), 200],
  ['a page of ours that hides its address', site('same-origin', 'null'), 200],
  ['the user', site('none'), 200],
  ['another site', site('cross-site', OTHER), 403],
  ['another site that hides its address', site('cross-site', 'null'), 403],
  ['another site without an origin', site('cross-site'), 403],
  ['another origin of the same site', site('same-site', 'http://localhost:3000'), 403],
  ['something unknown', site('somewhere'), 403],
  ['an older browser, a page of ours', { origin: OWN }, 200],
  ['an older browser, a page of ours over TLS', { origin: 'https://localhost:8080' }, 200],
  ['an older browser, another site', { origin: OTHER }, 403],
  ['an older browser, another port', { origin: 'http://localhost:8081' }, 403],
  ['an older browser, a hidden page', { origin: 'null' }, 403],
  ['an older browser, a file', { origin: 'file://' }, 403],
  ['a value that is not an origin', { origin: 'localhost:8080' }, 403],
]
for (const [name, headers, expected] of pages) {
  t.test(`a write of ${name}`, async t => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) t.equal(status(policy(), { method, headers }), expected)
    t.equal(status(policy(), { headers, hasCookie: true }), expected, 'with a cookie')
  })
  t.test(`a read of ${name}`, async t => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) t.equal(status(policy(), { method, headers }), 200)
  })
}

t.test('the default port may be written or not', async t => {
  t.equal(status(policy(), { headers: { origin: 'https://localhost' }, host: 'localhost:443' }), 200)
  t.equal(status(policy(), { headers: { origin: 'http://localhost' }, host: 'localhost:80' }), 200)
  t.equal(status(policy(), { headers: { origin: 'http://localhost' }, host: 'localhost:443' }), 403)
})

t.test('listed origins may write, with and without cookies', async t => {
  const friends = policy({ origins: ['https://friend.example'] })
  for (const hasCookie of [true, false]) {
    t.equal(status(friends, { headers: site('cross-site', 'https://friend.example'), hasCookie }), 200)
    t.equal(status(friends, { headers: { origin: 'https://friend.example' }, hasCookie }), 200)
    t.equal(status(friends, { headers: site('cross-site', OTHER), hasCookie }), 403)
  }
})

t.test('with * every page may write, without a cookie', async t => {
  const all = policy({ origins: ['*', 'https://friend.example'] })
  t.equal(status(all, { headers: site('cross-site', OTHER) }), 200)
  t.equal(status(all, { headers: site('cross-site', OTHER), hasCookie: true }), 403)
  t.equal(status(all, { headers: site('cross-site', 'https://friend.example'), hasCookie: true }), 200)
  t.equal(status(all, { headers: site('same-origin', OWN), hasCookie: true }), 200)
})

const HOSTS = ['localhost', 'localhost:8080', 'LOCALHOST:1', 'localhost.', 'app.localhost', '127.0.0.1', '127.9.9.9:80']
const ADDRESSES = ['[::1]', '[::1]:8080', '10.0.0.1:8080', '[2001:db8::1]']
const FOREIGN = [
  'evil.example',
  'evil.example:8080',
  'localhost.evil.example',
  'notlocalhost',
  '127.0.0.1.evil.example',
]
const MALFORMED = [
  'evil.example@localhost',
  'localhost/evil',
  'localhost:80:80',
  'localhost:x',
  '[evil]',
  '[',
  ':80',
  'a b',
]

t.test('on a loopback address foreign host names are refused, for reads too', async t => {
  for (const host of ['127.0.0.1', '::1', 'localhost', '127.1.2.3']) {
    const local = policy({ host })
    for (const method of ['GET', 'POST']) {
      for (const each of [...HOSTS, ...ADDRESSES]) t.equal(status(local, { method, host: each }), 200, each)
      for (const each of [...FOREIGN, ...MALFORMED]) t.equal(status(local, { method, host: each }), 403, each)
    }
  }
})

t.test('on other addresses every host name is accepted, unless some are listed', async t => {
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'data.internal']) {
    t.equal(status(policy({ host }), { host: 'any.example' }), 200)
    t.equal(status(policy({ host, allowedHosts: ['*'] }), { host: 'any.example' }), 200)
    const listed = policy({ host, allowedHosts: ['Data.example.com', '.example.org'] })
    for (const each of [
      ...HOSTS,
      ...ADDRESSES,
      'data.example.com:443',
      'DATA.example.com',
      'example.org',
      'a.b.example.org',
    ]) {
      t.equal(status(listed, { host: each }), 200, each)
    }
    for (const each of [...FOREIGN, 'a.data.example.com', 'example.com', 'notexample.org']) {
      t.equal(status(listed, { host: each }), 403, each)
    }
  }
})

t.test('a host name behind a proxy is left to the proxy, unless some are listed', async t => {
  const local = policy()
  t.equal(status(local, { host: 'app.example', isForwarded: true }), 200)
  t.equal(status(local, { host: 'app.example' }), 403, 'what a proxy said is not remembered for others')
  t.equal(status(policy({ allowedHosts: ['data.example'] }), { host: 'app.example', isForwarded: true }), 403)
})

t.test('entries that are not hosts stop the start, all reported at once', async t => {
  t.throws(
    () => policy({ allowedHosts: ['https://a.example', 'a.example:80', '*.a.example', 'ok.example', '::1', ''] }),
    {
      name: 'ConfigError',
      problems: [/"https:\/\/a.example" is not a host/, /"a.example:80"/, /"\*.a.example"/, /""/],
    },
  )
})

t.test('origins must have the form that browsers send', async t => {
  policy({ origins: ['*', 'https://app.example', 'http://localhost:5173', 'capacitor://localhost', 'http://[::1]:80'] })
  for (const [origin, hint] of [
    ['https://app.example/', '; did you mean "https://app.example"?'],
    ['https://App.example:443/start', '; did you mean "https://app.example"?'],
    ['app.example', ''],
    ['app.example:80', ''],
    ['data:text/html,page', ''],
    ['', ''],
  ] as const) {
    const message = `server.cors.origins: ${JSON.stringify(origin)} is not an origin such as "https://app.example.com", nor "*"${hint}`
    const told = t.throws(() => policy({ origins: ['https://ok.example', origin] })) as unknown as Error
    t.equal(told.message, `the configuration cannot be used:\n  - ${message}`)
  }
})
