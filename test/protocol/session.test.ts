import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exportJWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import t, { type Test } from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { quickHash } from '../support/base/password.ts'
import { company } from '../support/fixtures/company.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestAnswer, type TestServer, usualTransports } from '../support/servers/test-server.ts'
import { until } from '../support/base/until.ts'

/** Sessions, logins, keys and tokens. Source: protocol notes, 8.1 to 8.3. */

const HOUR = 3_600_000
const COOKIE = /^4DSID_tesser=[0-9A-F]{32}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/
const password = await quickHash('correct horse')
const key = createKey()
const otherPassword = await quickHash('another horse')
const oldKey = createKey()
const pair = generateKeyPairSync('ed25519')

interface World {
  server: TestServer
  folder: string
  clock: { now: number }
  reopen(): Promise<TestServer>
}

async function open(t: Test, config: Record<string, unknown> = {}, transport = usualTransports[0]!): Promise<World> {
  const folder = temporaryFolder(t)
  const clock = { now: Date.parse('2026-06-01T00:00:00Z') }
  const directory = {
    users: [{ name: 'Ada', fullName: 'Ada Lovelace', id: 7, password, groups: ['Staff'], roles: ['hr'] }],
    keys: [
      { name: 'nightly', hash: hashKey(key), privileges: ['read'] },
      { name: 'gone', hash: hashKey(oldKey), expires: '2026-05-31' },
    ],
  }
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify(directory))
  const jwk = { ...(await exportJWK(pair.publicKey)), alg: 'EdDSA' }
  writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: [jwk] }))
  const all = { auth: { jwt: { keyFile: join(folder, 'keys.json'), issuer: 'tests' } }, ...config }
  const reopen = (fixture = { model: company.model, rows: {} }) =>
    startServer(t, fixture, { folder, config: all, now: () => clock.now, transport })
  const server = await reopen(company)
  return { server, folder, clock, reopen }
}

const cookieOf = ({ headers }: TestAnswer): string => String(headers['set-cookie'] ?? '').split(';')[0]!
const login = (server: TestServer, user: string, secret: string, cookie = ''): Promise<TestAnswer> =>
  server.post('/$directory/login', undefined, { 'username-4D': user, 'password-4D': secret, ...(cookie && { cookie }) })
const userOf = async (server: TestServer, headers: Record<string, string>): Promise<unknown> =>
  (await server.get('/$directory/currentUser', headers)).json.result?.userName

for (const transport of usualTransports) {
  t.test(`sessions on ${transport}`, async t => {
    const { server } = await open(t, {}, transport)

    await t.test(
      '§P8.1 the first request brings a cookie that is HttpOnly, a later one with it brings none',
      async t => {
        const first = await server.get('/Company(1)')
        t.match(first.headers['set-cookie'], COOKIE)
        const second = await server.get('/Company(1)', { cookie: cookieOf(first) })
        t.equal(second.headers['set-cookie'], undefined)
      },
    )

    await t.test('§P8.1 the name of the older cookie is understood', async t => {
      const first = await server.get('/Company(1)')
      const answer = await server.get('/Company(1)', { cookie: cookieOf(first).replace('4DSID_tesser', 'WASID4D') })
      t.equal(answer.headers['set-cookie'], undefined)
    })

    await t.test('§P8.1 an id that the server never issued is not accepted', async t => {
      for (const id of ['0'.repeat(32), 'F'.repeat(32), 'x', '', '0123456789ABCDEF0123456789ABCDEF']) {
        const answer = await server.get('/Company(1)', { cookie: `a=b; 4DSID_tesser=${id}` })
        t.match(answer.headers['set-cookie'], COOKIE, id)
        t.not(cookieOf(answer), `4DSID_tesser=${id}`)
      }
    })

    await t.test('§P8.1 NoSession-4D leaves no session behind', async t => {
      const answer = await server.get('/Company(1)', { 'NoSession-4D': 'true' })
      t.equal(answer.headers['set-cookie'], undefined)
    })

    await t.test('§P8.3 login by headers and by body, current user, groups, logout', async t => {
      const guest = { result: null, privileges: [], administrator: false }
      t.same((await server.get('/$directory/currentUser')).json, guest)
      const byHeaders = await login(server, 'ada', 'correct horse')
      t.same([byHeaders.status, byHeaders.json], [200, { result: true }])
      const byBody = await server.post('/$directory/login', ['ADA', 'correct horse', 7200])
      t.same(byBody.json, { result: true })
      for (const answer of [byHeaders, byBody]) {
        const cookie = cookieOf(answer)
        t.same((await server.get('/$directory/currentUser', { cookie })).json, {
          result: { userName: 'Ada', fullName: 'Ada Lovelace', ID: 7 },
          privileges: [],
          administrator: true,
        })
        const belongs = (group: string) => server.post('/$directory/currentUserBelongsTo', [group], { cookie })
        t.same((await belongs('staff')).json, { result: true })
        t.same((await belongs('admins')).json, { result: false })
        const out = await server.post('/$directory/logout', undefined, { cookie })
        t.same(out.json, { result: true })
        t.equal(await userOf(server, { cookie }), undefined)
      }
      t.match(
        String(byBody.headers['set-cookie']),
        'Max-Age=2592000',
        'its life: an idle session is ended by the server',
      )
    })

    await t.test('§P8.3 a wrong name and a wrong password get the same answer', async t => {
      const wrong = [await login(server, 'Ada', 'x'), await login(server, 'nobody', 'correct horse')]
      for (const { status, json } of wrong) t.match([status, json.result, json.__ERROR[0].errCode], [401, false, 1561])
      t.equal(wrong[0]!.text, wrong[1]!.text)
    })

    await t.test('§P8.3 an invalid body of a login is answered with the expected form', async t => {
      t.equal((await server.get('/$directory/login')).status, 405)
      t.equal((await server.post('/$directory/login')).status, 400)
      t.equal((await server.post('/$directory/login', { user: 'Ada' })).status, 400)
      t.equal((await server.post('/$directory/login', '[')).status, 400)
      t.equal((await server.get('/$directory/nothing')).status, 404)
      t.equal((await server.post('/$directory/currentUserBelongsTo', {})).status, 400)
    })

    await t.test('an API key stands for its name, for its request only', async t => {
      const answer = await server.get('/$directory/currentUser', { authorization: `Bearer ${key}` })
      t.same(answer.json.result, { userName: 'nightly', fullName: '', ID: 'nightly' }, 'an ID is never empty')
      t.equal(answer.headers['set-cookie'], undefined)
      for (const wrong of [oldKey, createKey(), 'tesser_', 'nonsense', '']) {
        t.equal((await server.get('/Company(1)', { authorization: `Bearer ${wrong}` })).status, 401, wrong)
      }
    })
  })
}

t.test('a login gets a new id, and an id that was planted before it is worthless', async t => {
  const { server } = await open(t)
  const planted = cookieOf(await server.get('/Company(1)'))
  const cookie = cookieOf(await login(server, 'Ada', 'correct horse', planted))
  t.not(cookie, planted)
  t.equal(await userOf(server, { cookie: planted }), undefined)
  t.equal(await userOf(server, { cookie }), 'Ada')
  const again = cookieOf(await login(server, 'Ada', 'correct horse', cookie))
  t.equal(await userOf(server, { cookie }), undefined, 'the earlier session has ended')
  t.equal(await userOf(server, { cookie: again }), 'Ada')
})

t.test('an id of a guest is no longer valid after a day', async t => {
  const { server, clock } = await open(t)
  const cookie = cookieOf(await server.get('/Company(1)'))
  clock.now += 23 * HOUR
  t.equal((await server.get('/Company(1)', { cookie })).headers['set-cookie'], undefined)
  clock.now += HOUR + 1000
  t.match((await server.get('/Company(1)', { cookie })).headers['set-cookie'], COOKIE)
})

t.test('a session outlives a restart; its id is nowhere in the store', async t => {
  const { server, folder, reopen } = await open(t)
  const cookie = cookieOf(await login(server, 'Ada', 'correct horse'))
  const guest = cookieOf(await server.get('/Company(1)'))
  await server.close()
  t.notOk(readFileSync(join(folder, 'store/data.mdb')).includes(cookie.split('=')[1]!))
  const next = await reopen()
  t.equal(await userOf(next, { cookie }), 'Ada')
  t.equal((await next.get('/Company', { cookie: guest })).headers['set-cookie'], undefined)
})

t.test('a session ends when it is idle, and at the end of its life', async t => {
  const { server, clock } = await open(t, { session: { lifetimeHours: 3 } })
  const cookie = cookieOf(await login(server, 'Ada', 'correct horse'))
  for (const minutes of [59, 59, 59]) {
    clock.now += minutes * 60_000
    t.equal(await userOf(server, { cookie }), 'Ada')
  }
  clock.now += 4 * 60_000
  t.equal(await userOf(server, { cookie }), undefined, 'three hours are over')
  const idle = cookieOf(await login(server, 'Ada', 'correct horse'))
  clock.now += HOUR + 1
  t.equal(await userOf(server, { cookie: idle }), undefined)
})

for (const [what, change] of [
  ['is removed', () => []],
  ['gets another password', (ada: object) => [{ ...ada, password: otherPassword }]],
  ['loses a role', (ada: object) => [{ ...ada, roles: [] }]],
] as const)
  t.test(`a user who ${what} is logged out, also when the server was stopped then`, async t => {
    for (const isStopped of what === 'is removed' ? [false, true] : [false]) {
      const { server, folder, reopen } = await open(t)
      const cookie = cookieOf(await login(server, 'Ada', 'correct horse'))
      t.equal(await userOf(server, { cookie }), 'Ada')
      const file = join(folder, 'tesser.directory.json')
      if (isStopped) await server.close()
      const { users, keys } = JSON.parse(readFileSync(file, 'utf8'))
      writeFileSync(file, JSON.stringify({ users: [...change(users[0]), { ...users[0], name: 'Eve' }], keys }))
      const now = isStopped ? await reopen() : server
      await until(async () => (await userOf(now, { cookie })) !== 'Ada')
      t.not(await userOf(now, { cookie }), 'Ada', 'the session has ended')
      t.match((await now.get('/Company(1)', { cookie })).headers['set-cookie'], COOKIE, 'the client is another guest')
      await now.close()
    }
  })

t.test('a change of another user ends no session', async t => {
  const { server, folder, reopen } = await open(t)
  const cookie = cookieOf(await login(server, 'Ada', 'correct horse'))
  const file = join(folder, 'tesser.directory.json')
  const { users, keys } = JSON.parse(readFileSync(file, 'utf8'))
  await server.close()
  writeFileSync(file, JSON.stringify({ users: [{ ...users[0], name: 'Eve' }, ...users], keys }))
  t.equal(await userOf(await reopen(), { cookie }), 'Ada')
})

t.test('guessing is slowed down', async t => {
  const { server, clock } = await open(t, { auth: { login: { failuresPerPair: 3, failuresPerNetwork: 5 } } })
  for (let i = 0; i < 3; i++) t.equal((await login(server, 'Ada', `guess ${i}`)).status, 401)
  const refused = await login(server, 'Ada', 'correct horse')
  t.match(refused, { status: 429, headers: { 'retry-after': '1' }, json: { __ERROR: [{ errCode: 1561 }] } })
  for (let i = 0; i < 2; i++) t.equal((await login(server, `somebody ${i}`, 'x')).status, 401, 'another name')
  t.match(await login(server, 'another', 'x'), { status: 429, headers: { 'retry-after': '600' } }, 'the address')
  clock.now += 600_000
  t.equal((await login(server, 'Ada', 'correct horse')).status, 200)
})

t.test('many logins at once are counted before they are checked; beyond a queue they get 503', async t => {
  const { server } = await open(t, { auth: { login: { failuresPerPair: 3, queueLimit: 4, concurrency: 1 } } })
  const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => login(server, 'Ada', `guess ${i}`)))
  t.equal(answers.filter(({ status }) => status === 401).length, 3)
  t.equal(answers.filter(({ status }) => status === 429).length, 27)
  const flood = await Promise.all(Array.from({ length: 30 }, (_, i) => login(server, `user ${i}`, 'guess')))
  const busy = flood.filter(({ status }) => status === 503)
  t.ok(busy.length >= 20, `${busy.length} of 30`)
  t.match(busy[0]!.headers, { 'retry-after': '1' })
})

t.test('the data of a login is bounded before it is checked', async t => {
  const { server } = await open(t)
  const marks = `a${'\u0300\u0323'.repeat(80_000)}`
  const wrong: [string, unknown, number][] = [
    ['a password of marks', ['Ada', marks], 400],
    ['a name of marks', [marks, 'x'], 400],
    ['a long name', ['x'.repeat(201), 'x'], 400],
    ['a long password', ['Ada', 'x'.repeat(1025)], 400],
    ['more than a command accepts', ['Ada', 'x'.repeat(2 ** 20)], 413],
    ['deep nesting', '['.repeat(5_000), 400],
  ]
  for (const [name, body, status] of wrong) {
    t.equal((await server.post('/$directory/login', body)).status, status, name)
  }
  t.equal((await login(server, 'x'.repeat(201), 'x')).status, 400, 'headers')
  t.equal((await login(server, 'Ada', 'x'.repeat(1025))).status, 400, 'headers')
  t.equal((await login(server, 'Ada', 'x'.repeat(1024))).status, 401)
  for (const minutes of ['-5', 'NaN', '1e999', 'Infinity', 'x'.repeat(1000)]) {
    const answer = await server.post('/$directory/login', undefined, {
      'username-4D': 'Ada',
      'password-4D': 'correct horse',
      'session-4D-length': minutes,
    })
    t.equal(answer.status, 200, minutes)
  }
  const bearer = (token: string) => server.get('/Company(1)', { authorization: `Bearer ${token}` })
  t.equal((await bearer(`tesser_${'x'.repeat(30_000)}`)).status, 401)
  t.equal((await bearer(`${'x'.repeat(30_000)}.x.x`)).status, 401)
})

t.test('a page of another origin cannot write with the cookie of a session', async t => {
  const { server } = await open(t, { server: { cors: { origins: ['https://friend.example'], credentials: true } } })
  const cookie = cookieOf(await login(server, 'Ada', 'correct horse'))
  const write = (headers: Record<string, string>) =>
    server.post('/Company?$method=update', { name: 'Initech 2' }, { cookie, ...headers })
  t.equal((await write({ origin: 'https://evil.example' })).status, 403)
  t.equal((await write({ origin: 'null' })).status, 403)
  t.equal((await write({ origin: `http://127.0.0.1:${server.port}` })).status, 200)
  t.not((await write({ origin: 'https://friend.example' })).status, 403)
  t.not((await write({})).status, 403)
})

t.test('a JSON Web Token counts only when signature, algorithm, issuer and time are right', async t => {
  const { server, clock } = await open(t)
  const sign = (payload: JWTPayload, signer: typeof pair.privateKey = pair.privateKey, seconds = 600) =>
    new SignJWT(payload)
      .setProtectedHeader({ alg: 'EdDSA' })
      .setIssuer('tests')
      .setExpirationTime(Math.floor(clock.now / 1000) + seconds)
      .sign(signer)
  const right = await sign({ sub: 'robot', privileges: ['read'] })
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  t.equal(await userOf(server, bearer(right)), 'robot')
  t.equal(await userOf(server, bearer(right)), 'robot', 'remembered')
  const [head, body, signature] = right.split('.')
  const wrong = {
    'without a signature': new UnsecuredJWT({ sub: 'robot' }).setIssuer('tests').setExpirationTime('2h').encode(),
    'another key': await sign({ sub: 'robot' }, generateKeyPairSync('ed25519').privateKey),
    expired: await sign({ sub: 'robot' }, pair.privateKey, -1),
    'another issuer': await new SignJWT({ sub: 'robot' })
      .setProtectedHeader({ alg: 'EdDSA' })
      .setIssuer('others')
      .setExpirationTime(Math.floor(clock.now / 1000) + 600)
      .sign(pair.privateKey),
    'the public key as a secret': await new SignJWT({ sub: 'robot' })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer('tests')
      .setExpirationTime(Math.floor(clock.now / 1000) + 600)
      .sign(Buffer.from(pair.publicKey.export({ format: 'pem', type: 'spki' }))),
    'nobody in it': await sign({}),
    'an object for its user': await sign({ sub: { name: 'robot' } as unknown as string }),
    'a list for its user': await sign({ sub: ['robot'] as unknown as string }),
    'a number for its user': await sign({ sub: 7 as unknown as string }),
    'an empty user': await sign({ sub: '' }),
    'a text for its privileges': await sign({ sub: 'robot', privileges: 'read' }),
    'a number among its privileges': await sign({ sub: 'robot', privileges: ['read', 7] }),
    'an object for its roles': await sign({ sub: 'robot', roles: { hr: true } }),
    'null for its groups': await sign({ sub: 'robot', groups: null }),
    'an object for its audience': await sign({ sub: 'robot', aud: {} as unknown as string }),
    'a number for its id': await sign({ sub: 'robot', jti: 7 as unknown as string }),
    'a text for its time': await sign({ sub: 'robot', nbf: '0' as unknown as number }),
    'more than 16 KiB': await sign({ sub: 'robot', more: 'x'.repeat(16_384) }),
    'a changed body': [head, Buffer.from('{"sub":"admin"}').toString('base64url'), signature].join('.'),
    'a cut signature': [head, body, signature!.slice(1)].join('.'),
  }
  for (const [name, token] of Object.entries(wrong)) {
    t.equal((await server.get('/Company(1)', bearer(token))).status, 401, name)
  }
  clock.now += 601_000
  t.equal((await server.get('/Company(1)', bearer(right))).status, 401, 'cached no longer than it is valid')
})

t.test('a body sent with a token that is seen for the first time arrives', async t => {
  const { server, clock } = await open(t)
  const token = await new SignJWT({ sub: 'robot' })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setIssuer('tests')
    .setExpirationTime(Math.floor(clock.now / 1000) + 600)
    .sign(pair.privateKey)
  const answer = await server.post('/$directory/currentUserBelongsTo', ['x'], { authorization: `Bearer ${token}` })
  t.same(answer.json, { result: false })
})

t.test('quotas answer 429 with Retry-After, and end with their minute', async t => {
  const { server, clock } = await open(t, { quota: { requestsPerAddress: 5 } })
  for (let i = 0; i < 5; i++) t.equal((await server.get('/Company(1)')).status, 200)
  const refused = await server.get('/Company(1)')
  t.equal(refused.status, 429)
  t.match(refused.headers['retry-after'], /^\d+$/)
  clock.now += 61_000
  t.equal((await server.get('/Company(1)')).status, 200)
})

for (const inlineCostMs of [0.2, 0]) {
  t.test(
    `the rows that queries examine are counted, ${inlineCostMs ? 'in the kernel thread' : 'in the pool'}`,
    async t => {
      const { server, clock } = await open(t, { quota: { costPerSession: 20 }, pool: { inlineCostMs } })
      const cookie = cookieOf(await server.get('/Company(1)'))
      const ask = async () => (await server.get('/Employee?$filter="notes = nothing"', { cookie })).status
      const statuses: number[] = []
      while (statuses.at(-1) !== 429 && statuses.length < 30) statuses.push(await ask())
      t.ok(statuses.length > 2 && statuses.length <= 21, `${statuses.length}`)
      t.equal((await server.get('/Employee')).status, 200, 'another session')
      clock.now += 61_000
      t.equal(await ask(), 200)
    },
  )
}
