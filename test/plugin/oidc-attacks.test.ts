/** Attacks on a login with OpenID Connect: states, codes, addresses, and providers that lie or fail. */
import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { base64url } from 'jose'
import t from 'tap'
import { send } from '../support/services/oidc/provider.ts'
import { type Browser, oidcProvider, PUBLIC, startOidcServer } from '../support/services/oidc/world.ts'
import { ADA, attackEach, type Attack, DIRECTORY, twoProviders, withCallback } from './oidc-victims.ts'

const EVE = { sub: '66', email: 'eve@example.com', email_verified: true }

const { a, b } = await twoProviders()
const lying = await oidcProvider(t, 'lying')
lying.provider.faults = { metadata: { issuer: a.provider.issuer } }
const silent = await oidcProvider(t, 'silent', { timeoutSeconds: 1 })
silent.provider.faults = { instead: { '/.well-known/openid-configuration': () => {} } }
const huge = await oidcProvider(t, 'huge')
huge.provider.faults = { metadata: { filler: 'x'.repeat(600_000) } }
const scripted = await oidcProvider(t, 'scripted')
scripted.provider.faults = { metadata: { authorization_endpoint: 'javascript:alert(1)' } }
const plain = await oidcProvider(t, 'plain')
plain.provider.faults = { metadata: { userinfo_endpoint: 'http://login.example.com/userinfo' } }
const moved = await oidcProvider(t, 'moved')
moved.provider.faults = {
  instead: { '/.well-known/openid-configuration': response => response.writeHead(302, { Location: PUBLIC }).end() },
}
const mute = await oidcProvider(t, 'mute', { timeoutSeconds: 1 })
mute.provider.faults = { instead: { '/token': () => {} } }
const endless = await oidcProvider(t, 'endless', { timeoutSeconds: 1 })
endless.provider.faults = {
  instead: { '/token': response => void response.writeHead(200, { 'Content-Type': 'application/json' }).write('{') },
}
const keyless = await oidcProvider(t, 'keyless', { timeoutSeconds: 1 })
keyless.provider.faults = { instead: { '/jwks': () => {} } }
const foreign = await oidcProvider(t, 'foreign')
foreign.provider.faults = {
  instead: { '/jwks': response => send(response, 200, { keys: [foreign.provider.keys.strangeJwk] }) },
}
for (const { provider } of [keyless, foreign]) provider.user = ADA
const down = await oidcProvider(t, 'down', { issuer: await closedPort() })

/** Address at which no server listens. */
async function closedPort(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

const all: Record<string, Awaited<ReturnType<typeof oidcProvider>>> = { a, b, lying, silent, huge }
Object.assign(all, { scripted, plain, moved, mute, endless, keyless, foreign, down })
let later = 0
const { browser, lines } = await startOidcServer(t, {
  providers: Object.fromEntries(Object.entries(all).map(([name, { options }]) => [name, options])),
  directory: DIRECTORY,
  now: () => Date.now() + later,
})

const ofState: Attack[] = [
  { name: 'no state', status: 400, run: withCallback(query => query.delete('state')) },
  { name: 'an invented state', status: 400, run: withCallback(query => query.set('state', 'x'.repeat(300))) },
  {
    name: 'a changed state',
    status: 400,
    // Not the last letter, of which some bits count for nothing.
    run: withCallback(query =>
      query.set(
        'state',
        query.get('state')!.replace(/[\w-](?=.{40}$)/, each => (each === 'A' ? 'B' : 'A')),
      ),
    ),
  },
  { name: 'two states', status: 400, run: withCallback(query => query.append('state', query.get('state')!)) },
  {
    name: 'an unsigned state',
    status: 400,
    run: withCallback(query =>
      query.set('state', `${base64url.encode('{"alg":"none"}')}.${base64url.encode('{"provider":"a"}')}.`),
    ),
  },
  {
    name: 'a state of another browser, as of an attacker who logs a victim in as himself',
    status: 400,
    run: async victim => {
      await victim.toCallback('a')
      return victim.open(await browser().toCallback('a'))
    },
  },
  { name: 'no cookie', status: 400, run: async victim => victim.open(await browser().toCallback('a')) },
  {
    name: 'a cookie of the wrong form',
    status: 400,
    run: async victim => {
      const address = await victim.toCallback('a')
      victim.cookies.set('__Host-tesser-login', 'x')
      return victim.open(address)
    },
  },
  {
    name: 'a cookie without the prefix that keeps other hosts from setting it',
    status: 400,
    run: async victim => {
      const attacker = browser()
      const address = await attacker.toCallback('a')
      victim.cookies.set('tesser-login', attacker.cookies.get('__Host-tesser-login')!)
      return victim.open(address)
    },
  },
  {
    name: 'a state that is used again',
    status: 400,
    run: async victim => {
      const address = await victim.toCallback('a')
      await victim.open(address, PUBLIC)
      t.equal(await victim.userName(), 'ada@example.com')
      await victim.open('/auth/logout', PUBLIC, 'POST')
      return victim.open(address)
    },
  },
  {
    name: 'a state that is too old',
    status: 400,
    run: async victim => {
      const address = await victim.toCallback('a')
      later += 601_000
      return victim.open(address)
    },
  },
  {
    name: 'the answer of one provider at the callback of another',
    status: 400,
    run: withCallback((_, url) => {
      url.pathname = '/auth/b/callback'
    }),
  },
  {
    name: 'the issuer of another provider in the answer',
    status: 401,
    run: withCallback(query => query.set('iss', b.provider.issuer)),
  },
  {
    name: 'no issuer in the answer of a provider that announces it',
    status: 401,
    run: withCallback(query => query.delete('iss')),
  },
  { name: 'a query that is too long', status: 400, run: withCallback(query => query.set('code', 'x'.repeat(8_000))) },
]

const ofCode: Attack[] = [
  { name: 'no code', status: 401, run: withCallback(query => query.delete('code')) },
  { name: 'a long invented code', status: 401, run: withCallback(query => query.set('code', 'x'.repeat(5_000))) },
  { name: 'two codes', status: 401, run: withCallback(query => query.append('code', 'x')) },
  {
    name: 'a code that is used again, with a state of its own',
    status: 401,
    run: async victim => {
      const code = new URL(await victim.toCallback('a')).searchParams.get('code')!
      const attacker = browser()
      a.provider.faults = { callback: query => query.set('code', code) }
      await attacker.open(await attacker.toCallback('a'))
      return victim.open(await victim.toCallback('a'))
    },
  },
  {
    name: 'the code of an attacker in the login of a victim: PKCE',
    status: 401,
    run: async victim => {
      a.provider.user = EVE
      const code = new URL(await browser().toCallback('a')).searchParams.get('code')!
      return withCallback(query => query.set('code', code))(victim)
    },
  },
  {
    name: 'a request for authorization with the challenge of an attacker: PKCE',
    status: 401,
    run: async victim => {
      const begun = new URL((await victim.open('/auth/a/login', a.provider.issuer)).address)
      begun.searchParams.set('code_challenge', 'x'.repeat(43))
      return victim.open(begun.href)
    },
  },
  {
    name: 'HTML in the error of a provider',
    status: 401,
    run: withCallback(query => {
      query.set('error', '<script>alert(1)</script>')
      query.set('error_description', '<script>alert(2)</script>')
    }),
  },
  { name: 'an error without a login', status: 400, run: victim => victim.open('/auth/a/callback?error=<script>') },
]

const RETURNS: [string, string][] = [
  ['another host', '//evil.example'],
  ['another host, for browsers', '/\\evil.example'],
  ['two of these', '\\/evil.example'],
  ['an address', 'https://evil.example/'],
  ['an address without slashes', 'https:evil.example'],
  ['a script', 'javascript:alert(1)'],
  ['a tab that browsers drop', '/\t/evil.example'],
  ['a line break that browsers drop', '/\n/evil.example'],
  ['a header', '/\r\nLocation: https://evil.example'],
  ['a host that begins with ours', `.evil.example`],
  ['a blank before', ' //evil.example'],
  ['a fullwidth slash', '/\uff0fevil.example'],
  ['a long path', `/${'x'.repeat(500)}`],
]

const ATTACKS: Attack[] = [
  ...ofState,
  ...ofCode,
  ...RETURNS.map(([name, to]) => ({
    name: `returnTo: ${name}`,
    status: 400,
    run: (victim: Browser) => victim.open(`/auth/a/login?returnTo=${encodeURIComponent(to)}`),
  })),
  {
    name: 'returnTo twice',
    status: 400,
    run: victim => victim.open('/auth/a/login?returnTo=/&returnTo=//evil.example'),
  },
  {
    name: 'returnTo of a logout',
    status: 400,
    run: victim => victim.open('/auth/logout?returnTo=//evil.example', undefined, 'POST'),
  },
  ...['lying', 'huge', 'scripted', 'plain', 'moved'].map(name => ({
    name: `metadata of a provider that is ${name}`,
    status: 503,
    run: async (victim: Browser) => {
      const answer = await victim.logIn(name)
      t.notMatch(answer.text, /try again/)
      const address = `${all[name]!.provider.issuer}/.well-known/openid-configuration`
      t.match(
        lines.find(line => line.provider === name),
        { address, msg: 'the discovery of a provider failed' },
      )
      return answer
    },
  })),
  ...['silent', 'down'].map(name => ({
    name: `metadata of a provider that is ${name}`,
    status: 503,
    run: async (victim: Browser) => {
      const answer = await victim.logIn(name)
      t.match(answer.text, /try again in a moment/)
      return answer
    },
  })),
  { name: 'tokens that do not arrive', status: 503, run: victim => victim.logIn('mute') },
  { name: 'tokens that do not end', status: 503, run: victim => victim.logIn('endless') },
  { name: 'keys that do not arrive', status: 503, run: victim => victim.logIn('keyless') },
  { name: 'the keys of another provider', status: 401, run: victim => victim.logIn('foreign') },
  {
    name: 'a foreign host in the request',
    status: 403,
    run: victim => victim.open('/auth/a/login', undefined, 'GET', { host: 'other.example' }),
  },
  {
    name: 'a foreign forwarded host in the request',
    status: 403,
    run: victim => victim.open('/auth/a/login', undefined, 'GET', { 'x-forwarded-host': 'other.example' }),
  },
]

attackEach({ a, b, browser, lines }, ATTACKS)

t.test('the usual login still works, and rights come from claims alone', async t => {
  Object.assign(a.provider, { user: { ...ADA, groups: ['__proto__', 'constructor', 'Editors'] }, faults: {} })
  const victim = browser()
  t.match((await victim.logIn('a')).json, { result: { userName: 'ada@example.com' }, privileges: [] })
})

t.test('a provider that does not answer holds a bounded number of logins', async t => {
  const held: ServerResponse[] = []
  Object.assign(a.provider, {
    user: ADA,
    faults: { instead: { '/token': (response: ServerResponse) => held.push(response) } },
  })
  const callbacks: [Browser, string][] = []
  for (let i = 0; i < 65; i++) {
    const victim = browser()
    callbacks.push([victim, await victim.toCallback('a')])
  }
  const answers = callbacks.map(([victim, address]) => victim.open(address))
  const first = await Promise.race(answers)
  t.match(first, { status: 503, text: /64 logins wait for a, which is the limit/ })
  b.provider.user = ADA
  t.equal((await browser().logIn('b')).status, 200, 'logins at another provider pass')
  a.provider.faults = { instead: { '/token': response => send(response, 500, {}) } }
  for (const response of held) send(response, 500, {})
  t.ok((await Promise.all(answers)).every(({ status }) => status === 503))
})

t.test('the address of the callback does not follow the host of a request', async t => {
  const victim = browser()
  const begun = await victim.open('/auth/a/login', a.provider.issuer, 'GET', { host: 'localhost:1' })
  t.equal(new URL(begun.address).searchParams.get('redirect_uri'), `${PUBLIC}/auth/a/callback`)
})
