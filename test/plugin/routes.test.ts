/** `scope.route`: parameters in paths, verbs, bodies, heads and replies, on every transport. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createTestServer } from '../../kernel/testing.ts'
import { loadableTransports } from '../support/servers/transports.ts'

const PLUGIN = `import { definePlugin, json } from 'tesser'

let gone
const left = new Promise(resolve => (gone = resolve))

export default definePlugin({
  name: 'acme-hooks',
  kernel: '^1.0.0',
  register(scope) {
    const names = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
    scope.route('/hooks/:source', { verbs: names, bodyBytes: 1000 }, async request => {
      await 1
      const body = await request.body()
      const { source } = request.pathParameters
      const [header, cookie] = [request.header('X-Signature'), request.cookie('b')]
      return json({ source, verb: request.verb, size: body.byteLength, header, cookie, q: request.query.getAll('q') })
    })
    scope.route('/hooks/exact', { verbs: ['GET'] }, () => json('exact'))
    scope.route('/hooks/:source/:event', { verbs: ['GET'] }, ({ pathParameters }) => json(pathParameters))
    scope.route('/files/*path', { verbs: ['GET'] }, ({ pathParameters }) => json(pathParameters))
    scope.route('/mount/in/:id', { verbs: ['GET'] }, ({ pathParameters }) => json(pathParameters))
    scope.route('/any/:x', { verbs: ['POST'] }, async request => json((await request.body()).byteLength))
    scope.route('/json', { verbs: ['POST'], bodyBytes: 1000 }, async request => json(await request.json()))
    scope.route('/unread/:x', { verbs: ['POST'] }, async () => json('unread'))
    scope.route('/cookies', { verbs: ['GET'] }, () => ({
      status: 201,
      headers: { 'Set-Cookie': ['a=1; Path=/', 'b=2; Path=/'], 'X-More': 'yes', 'Content-Type': 'application/octet-stream' },
      body: Uint8Array.of(0, 255, 10),
    }))
    scope.route('/stream/:count', { verbs: ['GET'] }, async ({ pathParameters }) => ({
      status: 200,
      headers: { 'Content-Type': 'text/plain' },
      body: (async function* () { for (let i = 0; i < Number(pathParameters.count); i++) yield i + ' ' })(),
    }))
    scope.route('/wait', { verbs: ['POST'] }, async request => {
      await request.body()
      const { signal } = request
      await new Promise(resolve => signal.addEventListener('abort', resolve))
      gone(signal.aborted)
      return json('late')
    })
    scope.route('/left', { verbs: ['GET'] }, async () => json(await left))
  },
})
`
const model = { name: 'none', dataClasses: {} }

interface Sent {
  readonly headers?: Record<string, string | string[]>
  readonly body?: string | readonly string[]
}

async function start(t: Test, options: object, index = PLUGIN) {
  const file = join(t.testdir({ 'index.mjs': index }), 'index.mjs')
  const server = await createTestServer({ model, plugins: [file], config: { server: options } })
  t.teardown(() => server.close())
  /** Sends a path as it is, and the pieces of a list in chunks. */
  const send = async (method: string, path: string, { headers = {}, body }: Sent = {}) => {
    const given = Array.isArray(body)
      ? []
      : body === undefined
        ? {}
        : { 'content-length': Buffer.byteLength(body as string) }
    const sent = request({
      port: server.port,
      host: '127.0.0.1',
      method,
      path,
      headers: { ...given, ...headers },
      agent: false,
    })
    for (const piece of Array.isArray(body) ? body : []) sent.write(piece)
    sent.end(typeof body === 'string' ? body : undefined)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    const bytes = Buffer.concat(chunks)
    let json: unknown
    try {
      json = JSON.parse(bytes.toString())
    } catch {
      // Not every answer is JSON.
    }
    return { status: answer.statusCode, headers: answer.headers, bytes, text: bytes.toString(), json }
  }
  return { server, send }
}

for (const transport of loadableTransports) {
  t.test(`routes on ${transport}`, async t => {
    const { server, send } = await start(t, { transport })

    const paths: [path: string, status: number, expected: unknown][] = [
      ['/hooks/exact', 200, 'exact'],
      ['/hooks/a%20b/%C3%BC', 200, { source: 'a b', event: 'ü' }],
      ['/files/a/b%20c', 200, { path: 'a/b c' }],
      [`/hooks/${'x'.repeat(10_000)}/y`, 200, { source: 'x'.repeat(10_000), event: 'y' }],
      ['/hooks/a/..', 400, { __ERROR: [{ errCode: 1806, message: /"\.\." cannot stand in this path/ }] }],
      ['/hooks/%2e%2e/b', 400, { __ERROR: [{ errCode: 1806 }] }],
      ['/hooks/a%2Fb/c', 400, { __ERROR: [{ errCode: 1806 }] }],
      ['/hooks/a%00/c', 400, { __ERROR: [{ errCode: 1806 }] }],
      ['/hooks/%FF/c', 400, { __ERROR: [{ errCode: 1806, message: /cannot decode "%FF"/ }] }],
      ['/files/..%2F..%2Fetc%2Fpasswd', 400, { __ERROR: [{ errCode: 1806 }] }],
      ['/files//etc/passwd', 404, { __ERROR: [{ errCode: 1806 }] }],
      ['//hooks/a/b', 404, { __ERROR: [{ errCode: 1806 }] }],
      ['/hooks//b', 404, { __ERROR: [{ errCode: 1806 }] }],
      ['/hooks/a/b/c', 404, { __ERROR: [{ errCode: 1806 }] }],
      ['/rest', 400, { __ERROR: [{ errCode: 1806 }] }],
    ]
    for (const [path, status, expected] of paths) {
      const answer = await send('GET', path)
      t.equal(answer.status, status, path.slice(0, 50))
      t.match(answer.json, expected, path.slice(0, 50))
    }

    const verbs: [method: string, path: string, status: number, allow?: string][] = [
      ['POST', '/hooks/x', 200],
      ['PUT', '/hooks/x', 200],
      ['PATCH', '/hooks/x', 200],
      ['DELETE', '/hooks/x', 200],
      ['OPTIONS', '/hooks/x', 200],
      ['GET', '/hooks/x', 405, 'POST, PUT, PATCH, DELETE, OPTIONS'],
      ['HEAD', '/hooks/x', 405, 'POST, PUT, PATCH, DELETE, OPTIONS'],
      ['HEAD', '/hooks/x/y', 200],
      ['HEAD', '/stream/3', 200],
      ['POST', '/hooks/exact', 405, 'GET'],
      ['OPTIONS', '/hooks/x/y', 405, 'GET'],
    ]
    for (const [method, path, status, allow] of verbs) {
      const answer = await send(method, path)
      t.equal(answer.status, status, `${method} ${path}`)
      t.equal(answer.headers.allow, allow, `${method} ${path}: Allow`)
      if (method === 'HEAD') t.equal(answer.text, '')
      else if (status === 200) t.match(answer.json, { source: 'x', verb: method })
    }
    t.match((await send('GET', '/hooks/secret')).json, {
      __ERROR: [{ message: /^\/hooks\/:source does not work with GET/ }],
    })

    const x = (count: number): string => 'x'.repeat(count)
    const bodies: [path: string, body: Sent['body'], status: number, expected: unknown][] = [
      ['/hooks/x', undefined, 200, { size: 0 }],
      ['/hooks/x', x(1000), 200, { size: 1000 }],
      ['/hooks/x', x(1001), 413, { __ERROR: [{ message: /1000/ }] }],
      ['/hooks/x', [x(500), x(500)], 200, { size: 1000 }],
      ['/hooks/x', [x(500), x(501)], 413, { __ERROR: [{ message: /1000/ }] }],
      ['/any/x', x(100_000), 200, 100_000],
      ['/json', `"${x(998)}"`, 200, x(998)],
      ['/json', `"${x(999)}"`, 413, { __ERROR: [{ message: /1000/ }] }],
      ['/unread/x', x(100_000), 200, 'unread'],
      ['/unread/x', [x(50_000), x(50_000)], 200, 'unread'],
    ]
    for (const [path, body, status, expected] of bodies) {
      const answer = await send('POST', path, { body })
      t.equal(answer.status, status, `${path} ${body?.length}`)
      t.match(answer.json, expected)
    }

    const headers = {
      'x-signature': ['one', 'two'],
      cookie: 'a=1; b=first; b=second; xb=no',
      'content-encoding': 'identity',
    }
    t.match((await send('POST', '/hooks/x?q=1&q=a+b%21&r=2', { headers, body: 'x' })).json, {
      ...{ header: 'one', cookie: 'first', q: ['1', 'a b!'], size: 1 },
    })
    t.strictSame((await send('POST', '/hooks/x')).json, { source: 'x', verb: 'POST', size: 0, header: '', q: [] })
    t.equal((await send('POST', '/hooks/x', { headers: { 'content-encoding': 'gzip' }, body: 'x' })).status, 415)

    const cookies = await send('GET', '/cookies')
    t.match(cookies, { status: 201, headers: { 'set-cookie': ['a=1; Path=/', 'b=2; Path=/'], 'x-more': 'yes' } })
    t.strictSame([...cookies.bytes], [0, 255, 10])
    t.match(await send('GET', '/stream/3'), { status: 200, text: '0 1 2 ' })

    // A page of another site cannot make a browser send writes; servers, which name no page, can.
    const page = { origin: 'https://other.example', 'sec-fetch-site': 'cross-site' }
    t.equal((await send('POST', '/hooks/x', { headers: page })).status, 403)
    t.equal((await send('GET', '/hooks/x/y', { headers: page })).status, 200)

    const waiting = request({ port: server.port, host: '127.0.0.1', method: 'POST', path: '/wait', agent: false })
    waiting.on('error', () => {})
    waiting.write('x', () => waiting.end(() => setImmediate(() => waiting.destroy())))
    t.equal((await send('GET', '/left')).json, true, 'the signal has fired')
  })
}

t.test('a base path is removed from addresses of routes with parameters too', async t => {
  const { send } = await start(t, { basePath: '/mount' })
  const cases: [string, unknown][] = [
    ['/mount/hooks/a/b', { source: 'a', event: 'b' }],
    ['/hooks/a/b', { source: 'a', event: 'b' }],
    ['/mount/mount/in/7', { id: '7' }],
    ['/mount/in/7', { id: '7' }],
    ['/mount/hooks/exact', 'exact'],
  ]
  for (const [path, expected] of cases) t.match((await send('GET', path)).json, expected, path)
  t.equal((await send('GET', '/mount/in/%FF')).status, 400)
})

t.test('routes that match the same addresses prevent the start', async t => {
  const plugin = (name: string, path: string, options = ''): string => `import { definePlugin, json } from 'tesser'
export default definePlugin({ name: '${name}', kernel: '^1.0.0',
  register: scope => scope.route('${path}', { verbs: ['GET']${options} }, () => json('${name}')) })`
  const cases: [name: string, a: string, b: string, expected: RegExp | undefined, options?: string][] = [
    [
      'other names',
      '/x/:a',
      '/x/:b',
      /plugin two registers \/x\/:b, which plugin one has registered already as \/x\/:a/,
    ],
    ['the same', '/x/:a', '/x/:a', /plugin two registers \/x\/:a, which plugin one has registered already \(/],
    ['rests', '/x/*a', '/x/*b', /registered already as \/x\/\*a/],
    ['exact and parameter', '/x/a', '/x/:a', undefined],
    ['parameter and rest', '/x/:a', '/x/*a', undefined],
    [
      'bodyBytes',
      '/x',
      '/y',
      /the route \/y\.bodyBytes: expected an integer, received "1 KiB"/,
      `, bodyBytes: '1 KiB'`,
    ],
    [
      'no name',
      '/x',
      '/x/:',
      /plugin two .*failed to register: the route \/x\/: has a parameter without a usable name/,
    ],
  ]
  // Modules are loaded once for each file name.
  const yielding = [plugin('one', '/x/:a', ', yields: true'), plugin('two', '/x/:b')]
  const files = cases.flatMap(([, a, b, , options], i) => [
    [`${i}one.mjs`, plugin('one', a)],
    [`${i}two.mjs`, plugin('two', b, options)],
  ])
  const folder = t.testdir({ ...Object.fromEntries(files), 'one.mjs': yielding[0]!, 'two.mjs': yielding[1]! })
  const start = (...names: string[]) =>
    createTestServer({ model, plugins: names.map(name => join(folder, `${name}.mjs`)) })
  for (const [i, [name, , , expected]] of cases.entries()) {
    const starting = start(`${i}one`, `${i}two`)
    if (expected) await t.rejects(starting, { message: expected }, name)
    else await (await starting).close()
  }
  for (const order of [
    ['one', 'two'],
    ['two', 'one'],
  ]) {
    const server = await start(...order)
    t.equal((await server.get('/x/1')).json, 'two', `yields, ${order}`)
    await server.close()
  }
})

t.test('pages for unknown addresses leave those of other plugins alone', async t => {
  const PAGE = `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'app', kernel: '^1.0.0',
  register: scope => scope.assets('/', new URL('./page/', import.meta.url), { fallback: true }) })`
  const folder = t.testdir({ 'app.mjs': PAGE, 'index.mjs': PLUGIN, page: { 'index.html': '<p>app' } })
  const server = await createTestServer({ model, plugins: [join(folder, 'app.mjs'), join(folder, 'index.mjs')] })
  t.teardown(() => server.close())
  const open = (path: string) => server.get(path, { accept: 'text/html' })
  t.match(await open('/some/page'), { status: 200, text: '<p>app' })
  t.match((await open('/files/a')).json, { path: 'a' })
  t.equal((await open('/hooks/a/b/c')).status, 404)
})
