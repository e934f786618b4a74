import { pino } from 'pino'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { loadConfig } from '../../../config/load-config.ts'
import { announce, samplePaths } from '../../../kernel/cli/announce.ts'
import type { Server } from '../../../kernel/main.ts'
import { openTestServer } from '../../../kernel/open-test-server.ts'
import { logSink } from '../../support/base/log-sink.ts'
import { company } from '../../support/fixtures/company.ts'
import { modelWith } from '../../support/fixtures/model-with.ts'
import { startDemo } from '../../support/servers/demo-server.ts'

const restricted = (applyTo: string) => ({ applyTo, type: 'dataclass', read: ['staff'] })
const roles = (...names: string[]) => ({
  privileges: [{ privilege: 'staff' }],
  permissions: { allowed: names.map(restricted) },
})

async function serve(t: Test, model: object, more: { roles?: object; config?: Record<string, object> } = {}) {
  const { server, removeFolder } = await openTestServer({ model, ...more })
  t.teardown(async () => {
    await server.close()
    removeFolder()
  })
  return server
}

/** Lines for people about a server. */
function announced(server: Server, flags: Record<string, string> = {}): string[] {
  let lines: string[] = []
  const config = loadConfig({ cwd: '/', env: {}, flags: { 'log-pretty': 'true', model: 'model.json', ...flags } })
  announce(config, server, { log: pino({ level: 'silent' }), print: text => (lines = text.split('\n')) })
  return lines
}

t.test('the demo names the explorer and three addresses that a browser opens as they are, all with data', async t => {
  const server = await startDemo(t)
  const lines = announced(server, { port: String(server.port) })
  t.equal(lines[2], `Explorer  ${server.url}/explorer/`)
  const urls = lines.slice(2, 6).map(line => line.slice('Explorer  '.length))
  t.match(urls[1], '/rest/Country?$top=5')
  for (const url of urls) {
    t.equal(url, encodeURI(url))
    const answer = await request(url)
    t.equal(answer.statusCode, 200, url)
    t.ok((await answer.body.text()).length > 500, url)
  }
})

t.test('the dataclass with the most relations is the example, and all its addresses are answered', async t => {
  const server = await serve(t, company.model)
  const paths = samplePaths(server)
  t.equal(paths.length, 3)
  for (const path of paths) {
    const answer = await request(`${server.url}${path}`)
    await answer.body.dump()
    t.equal(answer.statusCode, 200, path)
  }
})

t.test('no address names what clients without a login may not read', async t => {
  const models = modelWith({ Öl: {}, Secret: {}, Note: {} })
  t.same(samplePaths(await serve(t, models, { roles: roles('Secret') })), ['/rest/Note?$top=5', '/rest/$catalog/Note'])
  const server = await serve(t, modelWith({ Secret: {} }), { roles: roles('Secret') })
  t.same(samplePaths(server), [])
  t.same(announced(server).slice(2), [`Explorer  ${server.url}/explorer/`, ''])
  t.same(samplePaths(await serve(t, modelWith({ Note: {} }), { roles: { forceLogin: true } })), [])
})

t.test('what is disabled is not offered', async t => {
  const disablePlugins = ['explorer', 'expand', 'paging']
  const server = await serve(t, company.model, { config: { disablePlugins } })
  t.equal(samplePaths(server).length, 1)
  t.match(announced(server)[2], /^Data {6}http:\S+\/rest\/\$catalog\/\w+$/)
  const locked = await serve(t, modelWith({ Secret: {} }), { roles: roles('Secret'), config: { disablePlugins } })
  t.equal(announced(locked)[2], `Data      ${locked.url}/rest/$catalog`)
})

t.test('a server on all addresses names one that a browser opens', async t => {
  const host = '0.0.0.0'
  const server = await serve(t, modelWith({ Note: {} }), { config: { server: { host, basePath: '/data' } } })
  const lines = announced(server, { host, 'server-base-path': '/data' })
  t.match(lines[2], /^Explorer {2}http:\/\/localhost:\d+\/data\/explorer\/$/)
  for (const line of lines.slice(2, 4)) {
    const answer = await request(line.slice('Explorer  '.length))
    await answer.body.dump()
    t.equal(answer.statusCode, 200, line)
  }
})

t.test('without a terminal one line of the log has the addresses', async t => {
  const { logger: log, lines } = logSink()
  const server = { url: 'http://127.0.0.1:9', transport: 'node-http', plugins: ['explorer'] } as unknown as Server
  const config = loadConfig({ cwd: '/', env: {}, flags: { 'log-pretty': 'false' } })
  announce(config, server, { log, print: () => t.fail('printed') })
  t.match(lines, [
    { msg: 'listening', url: 'http://127.0.0.1:9', explorer: 'http://127.0.0.1:9/explorer/', host: '127.0.0.1' },
  ])
})
