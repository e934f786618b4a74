import t from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { quickHash } from '../support/base/password.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'
import { startConfigured } from '../support/servers/configured-server.ts'

const PASSWORD = 'planted horse'
const WRONG = 'planted donkey'
const VALUE = 'planted value'

/** Logs headers as received, and errors that contain them, as a careless author would. */
const CARELESS = `
const names = ['Cookie', 'authorization', 'password-4D', 'username-4D']
export default {
  name: 'careless',
  kernel: '^1.0.0',
  register(scope) {
    scope.onRequest(request => {
      const headers = Object.fromEntries(names.map(name => [name, request.header(name.toLowerCase())]))
      scope.log.info({ a: { b: { c: { headers } } } }, 'received')
      if (request.path !== '/rest/fail') return
      throw Object.assign(new Error('failed'), { request: { headers } })
    })
  },
}
`

t.test('no secret is in any line of the log, whatever is logged', async t => {
  const key = createKey()
  let text = ''
  const { server, ask: askConfigured } = await startConfigured(t, {
    onLine: line => {
      text += line
    },
    files: {
      'careless.mjs': CARELESS,
      'tesser.directory.json': {
        users: [{ name: 'Ada', password: await quickHash(PASSWORD), roles: [] }],
        keys: [{ name: 'nightly', hash: hashKey(key), privileges: [] }],
      },
    },
    config: {
      plugins: [staffPlugin, './careless.mjs'],
      server: { accessLog: true, serverTiming: true },
      log: { level: 'trace' },
    },
    // Makes each request a slow one.
    change: loaded => ({ ...loaded, log: { ...loaded.log, slowQueryMs: Number.MIN_VALUE } }),
  })
  const ask = async (path: string, headers: Record<string, string> = {}, body?: unknown) => {
    const given = { headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await askConfigured(`/rest${path}`, given)
    return { ...answer, cookie: String(answer.headers['set-cookie'] ?? '').split(';')[0]! }
  }
  const login = (name: string, password: string) =>
    ask('/$directory/login', { 'username-4D': name, 'password-4D': password }, [])

  const { status, cookie } = await login('Ada', PASSWORD)
  t.equal(status, 200)
  t.equal((await login('Ada', WRONG)).status, 401)
  t.equal((await ask('/$directory/login', {}, ['Ada', PASSWORD, 60])).status, 200)
  await ask('/$directory/login', {}, ['Ada', WRONG])
  t.equal((await ask('/Company(1)', { authorization: `Bearer ${key}` })).status, 200)
  t.equal((await ask('/Company(1)', { authorization: 'Bearer planted.json.token' })).status, 401)
  const set = /"__ENTITYSET":"[^"]*\/([0-9A-F]{32})"/.exec(
    (await ask('/Company?$method=entityset', { cookie })).text,
  )![1]!
  t.equal((await ask(`/Company/$entityset/${set}`, { cookie })).status, 200)
  t.equal((await ask(`/Company/%24entityset/${set}/`, { cookie })).status, 200)
  await ask(`/Company?$filter="name=:1"&$params=["${encodeURIComponent(VALUE)}"]`, { cookie })
  await ask('/fail', { cookie, authorization: `Bearer ${key}`, 'password-4D': PASSWORD })
  await ask(`/Company/$entityset/${set}/fail`, { cookie })
  await server.close()

  for (const line of ['"received"', '"request"', '"slow request"', '"internal error"', '"stopped"'])
    t.ok(text.includes(line), line)
  t.match(text, /"headers":\{"Cookie":"\(hidden\)".*"username-4D":"Ada"/)
  const secrets = { PASSWORD, WRONG, VALUE, key, cookie: cookie.split('=')[1]!, set, token: 'planted.json.token' }
  for (const [name, secret] of Object.entries(secrets)) t.notOk(text.includes(secret), name)
  t.notOk(text.includes('planted'))
})
