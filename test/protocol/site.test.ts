import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { isBehindNginx } from '../support/servers/nginx.ts'
import { exchangeRaw } from '../support/clients/raw-connection.ts'
import { startServer, type TestServer, transports } from '../support/servers/test-server.ts'

/** A folder with an app, surrounded by secrets. */
function appFolder(t: Test): string {
  const folder = t.testdir({
    'secret.txt': 'SECRET',
    outside: { 'secret.txt': 'SECRET' },
    app: {
      'index.html': '<title>the app</title>',
      'logo@2x.png': 'png',
      'ä b.txt': 'text',
      '.env': 'SECRET',
      '.git': { config: 'SECRET' },
      assets: { 'main-5XHGJ4TM.js': `run('${'x'.repeat(3_000)}')` },
    },
  })
  symlinkSync(join(folder, 'secret.txt'), join(folder, 'app/link.txt'))
  symlinkSync(join(folder, 'outside'), join(folder, 'app/linked'))
  return folder
}

const PAGE = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const APP = { status: 200, text: '<title>the app</title>' }

for (const transport of transports) {
  const start = (t: Test, options: object, config: object = {}): Promise<TestServer> =>
    startServer(t, company, {
      transport,
      config: { plugins: [{ plugin: 'tesser/plugins/site', options }], ...config },
    })

  t.test(`an app below a path on ${transport}`, async t => {
    const server = await start(t, { folder: join(appFolder(t), 'app') })
    const page = await server.get('//app/', PAGE)
    t.match(page, { ...APP, headers: { 'content-type': 'text/html; charset=UTF-8', 'cache-control': 'no-cache' } })
    t.match(page.headers['content-security-policy'], /^default-src 'none'; script-src 'self'/)
    t.match(await server.get('//app'), { status: 308, headers: { location: 'app/' } })
    const script = await server.get('//app/assets/main-5XHGJ4TM.js', { 'accept-encoding': 'gzip' })
    t.match(script, { status: 200, headers: { 'content-encoding': 'gzip', 'cache-control': /immutable/ } })
    t.match(await server.get('//app/assets/main-5XHGJ4TM.js', { range: 'bytes=0-2' }), { status: 206, text: 'run' })
    const etag = String(page.headers.etag)
    t.match(await server.get('//app/', { 'if-none-match': etag }), { status: 304, text: '' })

    const deep = await server.get('//app/orders/17?tab=lines', PAGE)
    t.match(deep, { ...APP, headers: { etag, vary: 'Accept' } })
    t.equal((await server.get('//app/orders/17', { ...PAGE, 'if-none-match': etag })).status, 304)
    const head = await server.send('HEAD', '//app/orders/17', undefined, PAGE)
    t.match(head, { status: 200, text: '' })
    t.equal((await server.get('//app/gone.js', { accept: '*/*' })).status, 404, 'a script is missing')
    t.equal((await server.get('//app/orders/17')).status, 404, 'no page is opened')
    const program = { accept: 'application/json, text/html;q=0.5' }
    t.equal((await server.get('//app/orders/17', program)).status, 404, 'JSON is preferred')
    t.equal((await server.send('POST', '//app/orders/17', '{}', PAGE)).status, 404)
    t.equal((await server.get('//apple', PAGE)).status, 404, 'not below its path')
  })

  t.test(`names in every encoding on ${transport}`, async t => {
    const server = await start(t, { folder: join(appFolder(t), 'app') })
    for (const path of ['logo@2x.png', 'logo%402x.png', '%6cogo@2x.png']) {
      t.match(await server.get(`//app/${path}`), { status: 200, text: 'png' }, path)
    }
    for (const path of ['%C3%A4%20b.txt', '%c3%a4%20b.txt', 'ä%20b.txt']) {
      t.match(await server.get(`//app/${path}`), { status: 200, text: 'text' }, path)
    }
    for (const path of ['assets%2Fmain-5XHGJ4TM.js', '%E4', '%ff%fe']) {
      t.equal((await server.get(`//app/${path}`)).status, 404, path)
    }
    // nginx refuses a percent sign that encodes nothing.
    t.equal((await server.get('//app/assets/%')).status, isBehindNginx() ? 400 : 404)
  })

  t.test(`no path leads out of the folder on ${transport}`, async t => {
    const server = await start(t, { folder: join(appFolder(t), 'app'), path: '/' })
    for (const path of [
      '/../secret.txt',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '/%2e%2e%2fsecret.txt',
      '/%252e%252e/secret.txt',
      '/assets/../../secret.txt',
      '/..\\secret.txt',
      '/..%5csecret.txt',
      '/assets/..;/..;/secret.txt',
      '/secret.txt%00.png',
      '/index.html%00',
      '/link.txt',
      '/linked/secret.txt',
      '/.env',
      '/%2eenv',
      '/.git/config',
      '/.%67it/config',
      '//etc/passwd',
      '///etc/passwd',
      '/file:///etc/passwd',
      '/C:%5Cwindows',
      '/C:/windows/win.ini',
      '/index.html::$DATA',
      '/INDEX.HTML',
      '/index.html.',
      '/index.html%20',
      '/index.html/',
      '/con',
      '/assets/',
      '/assets',
    ]) {
      for (const [accept, expected] of [
        ['*/*', '404'],
        [PAGE.accept, '200 the app'],
      ] as const) {
        const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`
        const { received } = await exchangeRaw(server.port, [request], 'server')
        t.notMatch(received, 'SECRET', path)
        const found = /^HTTP\/1\.1 (\d+)/.exec(received)?.[1]
        // A parser may refuse the path earlier.
        t.ok(
          found === '400' || (expected === '404' ? found === '404' : received.includes('the app')),
          `${path}: ${received}`,
        )
      }
    }
  })

  t.test(`an app for the whole server does not take the addresses of others on ${transport}`, async t => {
    const options = { folder: join(appFolder(t), 'app'), path: '/', policy: "default-src 'self'" }
    const server = await start(t, options)
    t.match(await server.get('//', PAGE), { ...APP, headers: { 'content-security-policy': "default-src 'self'" } })
    t.match(await server.get('//orders/17', PAGE), APP)
    t.match(await server.get('/City(Paris)', PAGE), { status: 200, json: { __KEY: 'Paris' } })
    t.equal((await server.get('//rest/Nothing', PAGE)).status, 404)
    t.match(await server.get('//health', PAGE), { status: 200, json: { status: 'ready' } })
    for (const path of ['//health/redy', '//health/', '//docs/nothing', '//explorer/nothing', '//REST/City']) {
      t.match(await server.get(path, PAGE), { status: 404, json: { __ERROR: [{ errCode: 1806 }] } }, path)
    }
    t.equal((await server.get('//docs/', PAGE)).status, 200)
    t.match(await server.get('//explorer/', PAGE), { status: 200, text: '<title>Tesser</title>' })
    t.match(await server.get('//explorer', PAGE), { status: 308, headers: { location: 'explorer/' } })
  })

  t.test(`without a page of its own an app leaves the root to the explorer on ${transport}`, async t => {
    const server = await start(t, { folder: join(appFolder(t), 'app/assets'), path: '/', fallback: false })
    t.match(await server.get('//', PAGE), { status: 302, headers: { location: '/explorer/' } })
    t.equal((await server.get('//main-5XHGJ4TM.js')).status, 200)
  })

  t.test(`behind a base path on ${transport}`, async t => {
    const server = await start(t, { folder: join(appFolder(t), 'app') }, { server: { basePath: '/data' } })
    for (const path of ['//data/app/', '//app/', '//data/app/orders/17', '//app/orders/17']) {
      t.match(await server.get(path, PAGE), APP, path)
    }
  })
}

t.test('without a fallback unknown paths are not found', async t => {
  const folder = join(appFolder(t), 'app')
  const plugins = [{ plugin: 'tesser/plugins/site', options: { folder, fallback: false } }]
  const server = await startServer(t, company, { config: { plugins } })
  t.equal((await server.get('//app/orders/17', PAGE)).status, 404)
  t.match(await server.get('//app/', PAGE), APP)
})

t.test('options that cannot be served stop the start', async t => {
  const folder = appFolder(t)
  const start = (options: object) =>
    startServer(t, company, { config: { plugins: [{ plugin: 'tesser/plugins/site', options }] } })
  await t.rejects(start({}), { message: /plugin site.*folder/ })
  await t.rejects(start({ folder: join(folder, 'none') }), { message: /plugin site.*ENOENT/ })
  await t.rejects(start({ folder: join(folder, 'outside') }), { message: /has no index\.html/ })
  for (const path of ['app', '/app', '/rest/', '/rest/app/', '/../', '/a/./', '/a b/', '/a//', '//']) {
    await t.rejects(start({ folder: join(folder, 'app'), path }), { message: /plugin site.*path/ }, path)
  }
  await t.rejects(start({ folder: join(folder, 'app'), policy: 'a\r\nSet-Cookie: b' }), { message: /policy/ })
  const ofTwo = (path: string, plugin: string) => ({
    message: new RegExp(`plugin site registers ${path}, which plugin ${plugin} has registered already`),
  })
  writeFileSync(join(folder, 'app/health'), '')
  await t.rejects(start({ folder: join(folder, 'app'), path: '/' }), ofTwo('/health', 'health'))
})
