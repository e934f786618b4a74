import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import type { ConfigError } from '../../../config/config-error.ts'
import { type ConfigSources, loadConfig } from '../../../config/load-config.ts'
import { printConfig } from '../../../config/print-config.ts'

const load = (cwd: string, sources: Partial<ConfigSources> = {}) => loadConfig({ cwd, env: {}, flags: {}, ...sources })
const folderWith = (t: Test, config: unknown): string =>
  t.testdir({ 'tesser.config.json': typeof config === 'string' ? config : JSON.stringify(config) })

t.test('without file, flags and environment the demo is served with the defaults', async t => {
  const cwd = t.testdir({})
  const config = load(cwd)
  t.match(config, {
    demo: true,
    folder: cwd,
    data: resolve(cwd, 'data/demo'),
    model: /config\/demo\/model\.json$/,
    server: { host: '127.0.0.1', port: 8080, headerBytes: 65_536, bodyBytes: 33_554_432, cors: { origins: [] } },
  })
  t.equal(config.server.tls, undefined)
  t.equal(config.plugins[0]?.specifier, 'tesser/plugins/catalog')
  t.match(config.plugins.at(-1)?.specifier, /^file:.*plugins\/examples\/semantic\/index\.ts$/)
})

t.test('flags have precedence over the environment, the environment over the file', async t => {
  const cwd = folderWith(t, { model: 'm.json', server: { port: 1, host: 'file', graceMs: 5, bodyBytes: '1.5 MiB' } })
  const config = load(cwd, {
    env: { TESSER_PORT: '2', TESSER_SERVER_HOST: 'environment', TESSER_SERVER_ACCESS_LOG: 'true' },
    flags: { 'server-port': '3', 'query-max-answer-bytes': '64 MiB', 'server-cors-origins': 'https://a, https://b' },
  })
  t.match(config.server, { port: 3, host: 'environment', graceMs: 5, bodyBytes: 1_572_864, accessLog: true })
  t.equal(config.query.maxAnswerBytes, 67_108_864)
  t.strictSame(config.server.cors.origins, ['https://a', 'https://b'])
})

t.test('an empty variable counts as not set, an empty flag as given', t => {
  const cwd = folderWith(t, { model: 'm.json', server: { port: 1, basePath: '/data' }, disablePlugins: ['health'] })
  const env = {
    TESSER_CONFIG: '',
    TESSER_PORT: '',
    TESSER_SERVER_PORT: '2',
    TESSER_DATA: '',
    TESSER_DISABLE_PLUGINS: '',
  }
  const config = load(cwd, { env, flags: { 'server-base-path': '' } })
  t.match(config, { server: { port: 2, basePath: '' }, disablePlugins: ['health'], data: resolve(cwd, 'data/store') })
  t.end()
})

t.test(
  'relative paths are resolved against the file, those of flags and environment against the working directory',
  async t => {
    const cwd = t.testdir({
      sub: { 'c.json': '{ "model": "m.json", "data": "d", "server": { "tls": { "keyFile": "k" } } }' },
    })
    const config = load(cwd, { file: 'sub/c.json', env: { TESSER_DATA: 'e' }, flags: { 'server-tls-cert-file': 'c' } })
    t.equal(config.model, resolve(cwd, 'sub/m.json'))
    t.equal(config.data, resolve(cwd, 'e'))
    t.strictSame(config.server.tls, { keyFile: resolve(cwd, 'sub/k'), certFile: resolve(cwd, 'c') })
    t.equal(config.demo, false)
    t.equal(
      load(cwd, { env: { TESSER_CONFIG: 'sub/c.json' }, flags: { 'server-tls-cert-file': 'c' } }).folder,
      resolve(cwd, 'sub'),
    )
  },
)

t.test('all problems of file, environment and flags are reported at once', async t => {
  const cwd = folderWith(t, {
    sever: {},
    server: { prot: 3, port: 70_000, bodyBytes: '3 MB', transport: 'uvs', tls: { keyFile: 'k' } },
    log: null,
    plugins: ['', { plugin: 3, option: {} }, { plugin: 'x', roles: 'clerk', privileges: [''] }],
    disablePlugins: ['healt'],
  })
  const file = resolve(cwd, 'tesser.config.json')
  t.strictSame(
    [...problemsOf(() => load(cwd, { env: { TESSER_QUERY_TIMEOUT_MS: '1s' }, flags: { 'log-pretty': 'yes' } }))].sort(),
    [
      '--log-pretty: expected a boolean, received "yes"',
      'TESSER_QUERY_TIMEOUT_MS: expected an integer, received "1s"',
      `${file}: "model" is missing; it names the file of the data model`,
      `${file}: log: expected an object, received null`,
      `${file}: plugins.0: must not be empty`,
      `${file}: plugins.1.option: there is no such option; did you mean "options"?`,
      `${file}: plugins.1.plugin: expected a string, received 3`,
      `${file}: plugins.2.privileges.0: must not be empty`,
      `${file}: plugins.2.roles: expected an array, received "clerk"`,
      `${file}: server.bodyBytes: expected a value such as "32 MiB", received "3 MB"`,
      `${file}: server.port: expected a number <= 65535, received 70000`,
      `${file}: server.prot: there is no such option; did you mean "port"?`,
      `${file}: server.transport: "uvs" is none of auto, uws, uws-node20, node-http; did you mean "uws"?`,
      `${file}: sever: there is no such option; did you mean "server"?`,
      'disablePlugins: there is no built-in plugin "healt"; did you mean "health"?',
      'server.tls: keyFile and certFile are needed together',
    ].sort(),
  )
})

t.test('a file that is missing or not JSON is named', async t => {
  const cwd = folderWith(t, '{ "model": ')
  t.match(
    problemsOf(() => load(cwd)),
    [/the config file .*tesser\.config\.json is not JSON: /],
  )
  t.match(
    problemsOf(() => load(cwd, { file: 'x.json' })),
    [/^there is no config file .*x\.json$/],
  )
  t.match(
    problemsOf(() => load(folderWith(t, '[]'))),
    [/the file: expected an object, received \[\]/, /model/],
  )
})

t.test('the configuration adds plugins, gives options to built-in ones, and disables them', async t => {
  const cwd = folderWith(t, {
    model: 'm.json',
    plugins: ['./mine.js', { plugin: 'tesser/plugins/explorer', options: { a: 1 } }],
    disablePlugins: ['binary'],
  })
  const { plugins } = load(cwd)
  const explorer = { specifier: 'tesser/plugins/explorer', options: { a: 1 } }
  t.strictSame(plugins.slice(-2), [explorer, { specifier: './mine.js' }])
  t.notOk(plugins.some(({ specifier }) => specifier === 'tesser/plugins/binary'))
})

t.test('the configuration grants roles and privileges to plugins', async t => {
  const cwd = folderWith(t, {
    model: 'm.json',
    plugins: [
      'a',
      { plugin: 'b', roles: ['clerk'] },
      { plugin: 'c', privileges: ['run'], options: {} },
      { plugin: 'd' },
    ],
  })
  const { plugins } = load(cwd)
  t.strictSame(plugins.slice(-4), [
    { specifier: 'a' },
    { specifier: 'b', granted: { roles: ['clerk'], privileges: [] } },
    { specifier: 'c', options: {}, granted: { roles: [], privileges: ['run'] } },
    { specifier: 'd' },
  ])
})

t.test('the configuration is frozen, except for the options of plugins', async t => {
  const cwd = folderWith(t, { model: 'm.json', plugins: [{ plugin: 'x', options: {} }] })
  const config = load(cwd)
  t.throws(() => Object.assign(config.server.cors, { credentials: true }), TypeError)
  t.throws(() => Object.assign(config.plugins, { length: 0 }), TypeError)
  t.doesNotThrow(() => Object.assign(config.plugins.at(-1)!.options!, { filled: 1 }))
})

t.test('the printed configuration can be read again, and hides the passphrase', async t => {
  const tls = { keyFile: 'k', certFile: 'c', passphrase: 'geheim' }
  const plugins = [
    { plugin: 'x', roles: ['clerk'] },
    { plugin: 'y', options: { a: 1 }, privileges: ['run'] },
  ]
  const cwd = folderWith(t, { model: 'm.json', server: { tls }, plugins })
  const config = load(cwd)
  const printed = printConfig(config)
  t.notMatch(printed, /geheim/)
  t.match(printed, /"passphrase": "\(hidden\)"/)
  const again = load(folderWith(t, printed))
  t.strictSame(
    { ...again, folder: '', server: { ...again.server, tls: 0 }, readReference: 0 },
    { ...config, folder: '', server: { ...config.server, tls: 0 }, readReference: 0 },
  )
})

t.test('the printed configuration hides secrets in the options of plugins', async t => {
  const secrets = {
    password: 'geheim',
    dbPassword: 'geheim',
    passphrase: 'geheim',
    clientSecret: 'geheim',
    secrets: ['geheim'],
    inboundSecrets: [{ file: 'a' }, 'geheim'],
    apiKey: 'geheim',
    api_key: 'geheim',
    accessToken: 'geheim',
    credentials: { user: 'geheim' },
    nested: [{ privateKey: 'geheim' }],
    url: 'postgres://ada:geheim@db.example.com/x',
  }
  const others = { maxTokens: 5, keyFile: 'k.pem', bypass: false, mail: 'ada@example.com', link: 'http://h/a@b' }
  const options = { ...secrets, ...others }
  const cwd = folderWith(t, { model: 'm.json', plugins: [{ plugin: 'acme', options }] })
  const config = load(cwd)
  const printed = printConfig(config)
  t.notMatch(printed, /geheim/)
  t.match(printed, /postgres:\/\/\(hidden\)@db\.example\.com\/x/)
  t.match(JSON.parse(printed).plugins.at(-1).options, others)
  t.equal(config.plugins.at(-1)!.options!.password, 'geheim', 'plugins receive the real value')
})

t.test('the printed configuration shows references, and not what they lead to', async t => {
  const options = {
    apiKey: { env: 'KEY' },
    smtp: { password: { file: 'secrets/smtp' }, hosts: [{ env: 'HOST' }] },
    inboundSecrets: [{ file: 'secrets/new' }, { env: 'KEY' }],
  }
  const cwd = folderWith(t, { model: 'm.json', plugins: [{ plugin: 'acme', options }] })
  const config = load(cwd, { env: { KEY: 'geheim', HOST: 'geheim' } })
  const printed = printConfig(config)
  t.notMatch(printed, /geheim/)
  t.strictSame(JSON.parse(printed).plugins.at(-1), { plugin: 'acme', options })
  t.strictSame(config.readReference({ env: 'KEY' }), { text: 'geheim' })
  t.match(config.readReference({ file: 'secrets/smtp' }), { problem: resolve(cwd, 'secrets/smtp') })
  const elsewhere = load('/', { file: resolve(cwd, 'tesser.config.json'), pathsFrom: '/elsewhere' })
  t.match(elsewhere.readReference({ file: 'a' }), { problem: '/elsewhere/a' })
})

t.test('a cookie that browsers accept over TLS only needs TLS, or a trusted proxy', async t => {
  const session = { sameSite: 'none' }
  const problems = [/^session\.sameSite: browsers take "none" over TLS only/]
  t.match(
    problemsOf(() => load(folderWith(t, { model: 'm.json', session }))),
    problems,
  )
  t.match(
    problemsOf(() => load(folderWith(t, { model: 'm.json', session, server: { trustedProxies: [] } }))),
    problems,
  )
  for (const server of [{ trustedProxies: ['loopback'] }, { tls: { keyFile: 'k', certFile: 'c' } }]) {
    t.equal(load(folderWith(t, { model: 'm.json', session, server })).session.sameSite, 'none')
  }
})

t.test('a base path is a plain path that nothing else is served at', async t => {
  const basePath = (basePath: string, more: object = {}) =>
    load(folderWith(t, { model: 'm.json', server: { basePath }, ...more })).server.basePath
  for (const path of ['', '/data', '/a/b-c_d.e~1', '/.well-known', '/restful']) t.equal(basePath(path), path)
  t.equal(
    load(folderWith(t, { model: 'm.json' }), { env: { TESSER_SERVER_BASE_PATH: '/data' } }).server.basePath,
    '/data',
  )
  for (const path of [
    '/',
    'data',
    '/data/',
    '//data',
    '/a//b',
    '/a/../b',
    '/.',
    '/a?b',
    '/a#b',
    '/a b',
    '/ä',
    '/a;b',
    '/a%20b',
  ])
    t.match(
      problemsOf(() => basePath(path)),
      [/: server\.basePath: expected a value such as "\/data", received "/],
      path,
    )
  for (const path of ['/rest', '/rest/data'])
    t.match(
      problemsOf(() => basePath(path)),
      [/^server\.basePath: "\/rest(\/data)?" begins as the addresses of data do; name another one$/],
    )
  const session = { cookieName: '__Host-sid' }
  t.match(
    problemsOf(() => basePath('/data', { session })),
    [/^session\.cookieName: browsers take the prefix "__Host-" without server\.basePath only$/],
  )
  t.equal(basePath('', { session }), '')
})

function problemsOf(work: () => unknown): readonly string[] {
  try {
    work()
    return []
  } catch (error) {
    return (error as ConfigError).problems
  }
}
