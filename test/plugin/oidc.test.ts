import { readFileSync } from 'node:fs'
import t from 'tap'
import { request } from 'undici'
import { OPTIONS, type ProviderOptions } from '../../plugins/oidc/options.ts'
import { userOf } from '../../plugins/oidc/user.ts'
import { oidcProvider, leaksIn, PUBLIC, startOidcServer } from '../support/services/oidc/world.ts'
import { transports } from '../support/servers/test-server.ts'

const ADA = { sub: '17', email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace' }
const GROUPS = { claim: 'realm.groups', map: { editors: ['editor'] }, default: ['reader'] }

for (const transport of transports) {
  t.test(`a user logs in, has the roles of the claims, and logs out at both ends on ${transport}`, async t => {
    const { provider, options } = await oidcProvider(
      t,
      'sso',
      { label: 'Our login', roles: GROUPS, logout: true },
      '/data',
    )
    const { browser: open, lines } = await startOidcServer(t, {
      providers: { sso: options },
      basePath: '/data',
      transport,
    })
    provider.user = { ...ADA, realm: { groups: ['editors', 'others'] } }
    const browser = open()
    t.match((await browser.open('/data/auth/providers')).json, {
      providers: [{ name: 'sso', label: 'Our login', login: '/data/auth/sso/login' }],
    })
    const { status, json, address } = await browser.logIn('sso')
    t.equal(status, 200)
    t.equal(address, `${PUBLIC}/data/rest/$directory/currentUser`, 'returnTo')
    t.strictSame(json, {
      result: { userName: 'ada@example.com', fullName: 'Ada Lovelace', ID: `${provider.issuer}#17` },
      privileges: ['view', 'change'],
      administrator: false,
    })
    t.equal((await browser.open('/data/rest/Employee')).status, 200, 'the role reads')
    t.equal((await open().open('/data/rest/Employee')).status, 401, 'guests do not')
    t.match(
      lines.find(({ msg }) => msg === 'a user has logged in'),
      { level: 30, provider: 'sso', user: 'ada@example.com', roles: ['reader', 'editor'] },
    )
    for (const [verb, path] of [
      ['GET', 'sso/login'],
      ['POST', 'logout'],
    ] as const)
      t.match(await browser.open(`/data/auth/${path}?returnTo=/explorer/`, undefined, verb), {
        status: 400,
        text: /such as \/data\/explorer\//,
      })
    t.equal(await browser.userName(), 'ada@example.com', 'a logout that is refused')

    const after = await browser.open('/data/auth/logout', `${provider.issuer}/end`, 'POST')
    const { searchParams } = new URL(after.address)
    t.equal(searchParams.get('client_id'), 'tesser')
    t.equal(searchParams.get('post_logout_redirect_uri'), `${PUBLIC}/data/`)
    t.equal(await browser.userName(), undefined)
    t.strictSame(leaksIn(lines, [provider]), [])
  })
}

t.test('cookies of a login', async t => {
  const { provider, options } = await oidcProvider(t, 'sso')
  const { browser: open } = await startOidcServer(t, { providers: { sso: options }, roles: null })
  provider.user = ADA
  const browser = open()
  const begun = await browser.open('/auth/sso/login', provider.issuer)
  t.match(
    begun.headers['set-cookie'],
    /^__Host-tesser-login=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  )
  t.equal(begun.headers['referrer-policy'], 'no-referrer')
  const callback = await browser.toCallback('sso')
  const other = await browser.toCallback('sso')
  const done = await browser.open(callback, `${PUBLIC}/`)
  t.match(done.headers['set-cookie'], /^4DSID_tesser=[0-9A-F]{32}; .*HttpOnly; SameSite=Lax; Secure$/)
  t.equal(await browser.userName(), 'ada@example.com')
  t.equal((await browser.open(other, `${PUBLIC}/`)).status, 303, 'a login in another tab ends too')
  t.equal(await browser.userName(), 'ada@example.com')
})

t.test('on one machine the cookie works without TLS', async t => {
  const { options } = await oidcProvider(t, 'sso')
  const publicUrl = 'http://localhost:8080'
  const { url } = await startOidcServer(t, { providers: { sso: options }, publicUrl, roles: null })
  const { statusCode, headers, body } = await request(`${url}/auth/sso/login`)
  await body.dump()
  t.equal(statusCode, 303)
  t.match(headers['set-cookie'], /^tesser-login=[\w-]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)
  t.equal(new URL(String(headers.location)).searchParams.get('redirect_uri'), `${publicUrl}/auth/sso/callback`)
})

t.test('the id of a session that was planted before a login is worthless after it', async t => {
  const { provider, options } = await oidcProvider(t, 'sso')
  const { browser: open } = await startOidcServer(t, { providers: { sso: options }, roles: null })
  provider.user = ADA
  const attacker = open()
  await attacker.userName()
  const [[name, id]] = [...attacker.cookies] as [[string, string]]
  const victim = open()
  victim.cookies.set(name, id)
  await victim.logIn('sso')
  t.equal(await victim.userName(), 'ada@example.com')
  t.not(victim.cookies.get(name), id)
  t.equal(await attacker.userName(), undefined)
})

const NAMES: { name: string; options?: object; user?: object; userName: string }[] = [
  { name: 'a confirmed address', userName: 'ada@example.com' },
  { name: 'the subject, with the name of its provider', options: { userName: 'sub' }, userName: 'sso:17' },
  { name: 'another claim', options: { userName: 'login.name' }, user: { login: { name: 'ada' } }, userName: 'sso:ada' },
  {
    name: 'a claim of the only provider as it is',
    options: { userName: 'preferred_username', namePrefix: '' },
    user: { preferred_username: 'ada' },
    userName: 'ada',
  },
  {
    name: 'a claim with dots',
    options: { userName: 'https://x.org/n' },
    user: { 'https://x.org/n': 'a.b' },
    userName: 'sso:a.b',
  },
  {
    name: 'an address in one spelling, whatever its case and its domain',
    user: { email: "Ada.O'Neil@EXÀMPLE.com" },
    userName: 'ada.o%27neil@xn--exmple-jta.com',
  },
  {
    name: 'a subject with capitals and other signs',
    options: { userName: 'sub' },
    user: { sub: 'Ab|c%41 d' },
    userName: 'sso:%41b%7cc%2541%20d',
  },
  {
    name: 'letters with accents',
    options: { userName: 'preferred_username', namePrefix: '' },
    user: { preferred_username: 'adà' },
    userName: 'ad%c3%a0',
  },
]
for (const { name, options: given, user, userName } of NAMES) {
  t.test(`user name: ${name}`, async t => {
    const { provider, options } = await oidcProvider(t, 'sso', given)
    const { browser } = await startOidcServer(t, { providers: { sso: options }, roles: null })
    provider.user = { ...ADA, ...user }
    t.match((await browser().logIn('sso')).json, { result: { userName } })
  })
}

const SECRETS: {
  name: string
  methods?: string[]
  clientAuthentication?: 'basic' | 'post'
  secretIn: 'head' | 'body'
}[] = [
  { name: 'usually in the head', secretIn: 'head' },
  { name: 'in the body, where the provider knows nothing else', methods: ['client_secret_post'], secretIn: 'body' },
  { name: 'in the body, as configured', clientAuthentication: 'post', secretIn: 'body' },
  {
    name: 'in the head, as configured',
    methods: ['client_secret_post'],
    clientAuthentication: 'basic',
    secretIn: 'head',
  },
]
for (const { name, methods, clientAuthentication, secretIn } of SECRETS) {
  t.test(`the secret of the client is sent ${name}`, async t => {
    const { provider, options } = await oidcProvider(t, 'sso', { clientAuthentication })
    const { browser } = await startOidcServer(t, { providers: { sso: options }, roles: null })
    const faults = methods ? { metadata: { token_endpoint_auth_methods_supported: methods } } : {}
    Object.assign(provider, { user: ADA, secretIn, faults })
    t.equal((await browser().logIn('sso')).status, 200)
  })
}

t.test('a provider that sends booleans as texts', async t => {
  const { provider, options } = await oidcProvider(t, 'sso')
  const { browser } = await startOidcServer(t, { providers: { sso: options }, roles: null })
  Object.assign(provider, { user: { ...ADA, email_verified: 'true' } })
  t.equal((await browser().logIn('sso')).status, 200)
})

t.test('programs get JSON instead of pages', async t => {
  const { options } = await oidcProvider(t, 'sso')
  const { browser } = await startOidcServer(t, { providers: { sso: options }, roles: null })
  const json = { accept: 'application/json' }
  const wrong = await browser().open('/auth/sso/callback?code=x&state=y', undefined, 'GET', json)
  t.match(wrong, { status: 400, json: { __ERROR: [{ errCode: 1806 }] } })
  const weighing = { accept: 'text/html;q=0.1, application/json' }
  const same = await browser().open('/auth/sso/callback?code=x&state=y', undefined, 'GET', weighing)
  t.match(same, { status: 400, json: { __ERROR: [{ errCode: 1806 }] } })
  t.match((await browser().open('/auth/logout', undefined, 'POST', json)).json, { result: true, providerLogout: null })
  t.equal((await browser().open('/auth/logout')).status, 405)
  t.equal((await browser().open('/auth/logout', undefined, 'POST', { 'sec-fetch-site': 'cross-site' })).status, 403)
})

const base = { issuer: 'https://login.example.com', clientId: 'x' }
const STARTS: { name: string; options?: object; providers?: object; roles?: null; message: RegExp }[] = [
  {
    name: 'a role that roles.json lacks',
    providers: { a: { ...base, roles: { claim: 'groups', map: { staff: ['readers'] } } } },
    message: /providers\.a\.roles: roles\.json has no role "readers"; it has reader, editor/,
  },
  {
    name: 'a privilege that roles.json lacks',
    providers: { a: { ...base, privileges: { default: ['edit'] } } },
    message: /providers\.a\.privileges: roles\.json has no privilege "edit"; it has view, change/,
  },
  {
    name: 'roles without roles.json',
    roles: null,
    providers: { a: { ...base, roles: { default: ['reader'] } } },
    message: /there is no roles\.json that declares "reader"/,
  },
  {
    name: 'a map without a claim',
    providers: { a: { ...base, roles: { map: { x: ['reader'] } } } },
    message: /roles\.claim/,
  },
  {
    name: 'an issuer without TLS',
    providers: { a: { ...base, issuer: 'http://login.example.com' } },
    message: /providers\.a\.issuer: .* without TLS.*"allowHttp": true/,
  },
  {
    name: 'an issuer that is the address of the metadata',
    providers: { a: { ...base, issuer: 'https://x.org/.well-known/openid-configuration' } },
    message: /the part before \/\.well-known\//,
  },
  {
    name: 'a public address with a path',
    options: { publicUrl: `${PUBLIC}/` },
    message: /publicUrl: write "https:\/\/data\.example\.com"/,
  },
  { name: 'a public address without TLS', options: { publicUrl: 'http://data.example.com' }, message: /without TLS/ },
  {
    name: 'two providers with the same names',
    providers: { a: base, b: { ...base, userName: 'preferred_username', namePrefix: '' } },
    message: /providers\.b\.namePrefix: users of b and a could get the same names; .*"b:"/,
  },
  {
    name: 'two prefixes that are the same',
    providers: { a: { ...base, userName: 'sub' }, b: { ...base, userName: 'nick', namePrefix: 'a:' } },
    message: /users of b and a could get the same names/,
  },
  {
    name: 'a reserved parameter',
    providers: { a: { ...base, parameters: { state: 'x' } } },
    message: /^plugin oidc: option providers\.a\.parameters has no "state"; names match \S+$/,
  },
  { name: 'scopes without openid', providers: { a: { ...base, scopes: 'email' } }, message: /providers\.a\.scopes/ },
  ...['common', 'organizations', 'consumers', '{tenantid}'].map(tenant => ({
    name: `Entra ID with ${tenant}`,
    providers: { a: { ...base, issuer: `https://login.microsoftonline.com/${tenant}/v2.0` } },
    message: new RegExp(`providers\\.a\\.issuer: .* is not one tenant.* in place of ${tenant}(?: |$)`),
  })),
  {
    name: 'prefixes that differ in their case',
    providers: { a: { ...base, userName: 'sub', namePrefix: 'X:' }, b: { ...base, userName: 'sub', namePrefix: 'x:' } },
    message: /users of b and a could get the same names/,
  },
  {
    name: 'a name of a provider with other letters',
    providers: { A_b: base },
    message: /^plugin oidc: option providers has no "A_b"; names match \^\[a-z\]\S+$/,
  },
  { name: 'no provider', providers: {}, message: /providers must NOT have fewer than 1/ },
]
for (const { name, options = {}, providers = { a: base }, message, ...rest } of STARTS) {
  t.test(`the start is refused: ${name}`, t =>
    t.rejects(startOidcServer(t, { providers: providers as Record<string, object>, ...options, ...rest }), { message }),
  )
}

t.test('a provider that is down does not stop the start, and the log names providers that admit everyone', async t => {
  const down = { ...base, issuer: 'http://127.0.0.1:9', timeoutSeconds: 1 }
  const { browser, lines } = await startOidcServer(t, {
    providers: { down, closed: { ...down, allow: {} } },
    roles: null,
  })
  t.match(await browser().open('/auth/down/login'), { status: 503, headers: { 'retry-after': '5' } })
  t.strictSame(
    lines.map(({ msg }) => msg).filter(msg => msg.includes('may log in')),
    ['every account of http://127.0.0.1:9 may log in: providers.down.allow says who may, {} everyone'],
  )
})

const manual = readFileSync('plugins/docs/pages/guide/single-sign-on.md', 'utf8')

t.test('the manual has all options of a provider', async t => {
  const [provider] = Object.values(OPTIONS.properties.providers.patternProperties) as { properties: object }[]
  const documented = [...manual.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  t.strictSame(documented.sort(), Object.keys(provider!.properties).sort())
})

t.test('the manual says which names claims become', async t => {
  const rows = [...manual.matchAll(/^\| `([^`]+)` \| `([^`]+)` \| `(email|sub|preferred_username)`/gm)]
  t.equal(rows.length, 4)
  for (const [, expected, value, userName] of rows) {
    const provider = { userName, ...(userName === 'preferred_username' && { namePrefix: '' }) } as ProviderOptions
    const claims = { iss: 'https://x.org', sub: '1', email_verified: true, [userName!]: value }
    t.equal(userOf('google', provider, claims).userName, expected)
  }
})

const EXAMPLES = [...manual.matchAll(/^```json\n(.*?)^```/gms)].map(([, text]) =>
  text!.replaceAll(/\{ "env": "\w+" \}/g, '"x"'),
)
t.equal(EXAMPLES.length, 4)
for (const text of EXAMPLES) {
  const { publicUrl, providers } = JSON.parse(text).plugins[0].options
  const [name] = Object.keys(providers)
  t.test(`a server starts with the example ${name} of the manual`, async t => {
    const roles = { roles: ['reader', 'admin'].map(role => ({ role })) }
    const { browser, lines } = await startOidcServer(t, { publicUrl, providers, roles })
    t.match((await browser().open('/auth/providers')).json, { providers: [{ name }] })
    t.strictSame(
      lines.filter(({ plugin, msg }) => plugin === 'oidc' && msg !== 'slow request'),
      [],
    )
  })
}
