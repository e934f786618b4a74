/** Lines of `server.accessLog`. */
import t from 'tap'
import { createKey, hashKey } from '../../kernel/auth/directory.ts'
import { logSink } from '../support/base/log-sink.ts'
import { quickHash } from '../support/base/password.ts'
import { until } from '../support/base/until.ts'
import { startConfigured } from '../support/servers/configured-server.ts'
import { transports } from '../support/servers/test-server.ts'

t.test('the access log has a line for each request, and can be switched off', async t => {
  for (const accessLog of [true, false]) {
    const { lines, logger } = logSink()
    const { server, ask } = await startConfigured(t, { logger: () => logger, config: { server: { accessLog } } })
    await ask('/rest/City?$top=1')
    await ask('/rest/Nobody')
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const params = { name: 'query', arguments: { class: 'City' } }
    await ask('/mcp', { headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }) })
    await server.close()
    const logged = lines
      .filter(({ msg }) => msg === 'request')
      .map(({ path, status, within }) => [path, status, within])
    t.same(
      logged,
      accessLog
        ? [
            ['/rest/City', 200, undefined],
            ['/rest/Nobody', 404, undefined],
            // Dispatched by a plugin inside the server.
            ['/rest/City', 200, '/mcp'],
            ['/mcp', 200, undefined],
          ]
        : [],
    )
  }
})

for (const transport of transports) {
  t.test(`a line of the access log has user, bytes and agent on ${transport}`, async t => {
    const { lines, logger } = logSink()
    const key = createKey()
    const { ask } = await startConfigured(t, {
      logger: () => logger,
      files: {
        'tesser.directory.json': {
          users: [{ name: 'Ada', password: await quickHash('planted horse'), roles: [] }],
          keys: [{ name: 'nightly', hash: hashKey(key), privileges: [] }],
        },
      },
      config: { server: { transport, accessLog: true } },
    })
    const line = async () => {
      await until(() => lines.some(({ msg }) => msg === 'request'))
      return lines.splice(0).find(({ msg }) => msg === 'request')!
    }
    const agent = 'report/1.0'
    const { headers, text } = await ask('/rest/City?$top=1', { headers: { 'user-agent': agent } })
    const first = await line()
    t.match(first, { client: '127.0.0.1', user: undefined, agent, status: 200, bytes: Buffer.byteLength(text) })
    t.match(String(first.ms), /^\d+(\.\d{1,3})?$/)
    t.equal(Number(headers['content-length']), first.bytes)

    const coded = await ask('/rest/$catalog/$all', { headers: { 'accept-encoding': 'gzip' } })
    t.equal((await line()).bytes, Number(coded.headers['content-length']), 'bytes as they are sent')

    const login = { 'username-4D': 'Ada', 'password-4D': 'planted horse' }
    const { headers: answer } = await ask('/rest/$directory/login', { headers: login, body: '[]' })
    t.match(await line(), { user: 'Ada', status: 200 })
    const cookie = String(answer['set-cookie']).split(';')[0]!
    await ask('/rest/$directory/logout', { headers: { cookie }, body: '[]' })
    t.match(await line(), { user: 'Ada', path: '/rest/$directory/logout' })
    await ask('/rest/City?$top=1', { headers: { authorization: `Bearer ${key}` } })
    t.match(await line(), { user: 'nightly', path: '/rest/City' })
    await ask('/rest/City', { headers: { authorization: 'Bearer wrong', 'user-agent': `x${'y'.repeat(500)}` } })
    const refused = await line()
    t.match(refused, { user: undefined, status: 401 })
    t.equal(String(refused.agent).length, 300)
  })
}
