/** Requests to `/mcp` exactly as clients send them: a table of conversations, and the search for a login. */
import { join } from 'node:path'
import { exportSPKI, generateKeyPair } from 'jose'
import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { startServer, type TestAnswer, type TestServer, usualTransports } from '../support/servers/test-server.ts'
import { DISCOVERY, RECORDINGS, type Recording, type Sent } from './mcp-recorded.ts'

const PAGE = 'http://localhost:6274'

/** The message in an answer, which may be an event. */
const messageIn = ({ text, json }: TestAnswer) => json ?? JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? 'null')

async function exchange(t: Test, server: TestServer, { headers }: Recording, sent: Sent): Promise<void> {
  const { verb = 'POST', body, status = 200, has, answered } = sent
  const says = `${verb} ${JSON.stringify(body ?? '').slice(0, 120)}`
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const answer = await server.send(verb, '//mcp', body, { ...headers, ...type, ...sent.headers })
  t.equal(answer.status, status, `${says}: ${answer.text.slice(0, 300)}`)
  if (has) t.match(messageIn(answer), has, says)
  if (status === 202) t.equal(answer.text, '', says)
  if (answered) t.match(answer.headers, answered, says)
  t.equal(answer.headers['mcp-session-id'], undefined)
}

for (const transport of usualTransports) {
  t.test(`recorded requests on ${transport}`, async t => {
    const server = await startServer(t, company, { transport, config: { server: { cors: { origins: [PAGE] } } } })
    for (const recording of RECORDINGS) {
      await t.test(recording.client, async t => {
        t.comment(recording.source)
        for (const sent of recording.sent) await exchange(t, server, recording, sent)
      })
    }
  })
}

t.test('the search for a login', async t => {
  const { publicKey } = await generateKeyPair('ES256')
  const keyFile = join(t.testdir({ 'jwt.pem': await exportSPKI(publicKey) }), 'jwt.pem')
  const withIssuer = { auth: { jwt: { keyFile, issuer: 'https://login.example' } } }
  for (const config of [{}, withIssuer]) {
    const isIssued = config === withIssuer
    await t.test(isIssued ? 'with an issuer' : 'without an issuer', async t => {
      const options = { roles: { forceLogin: true }, config: { ...config, server: { cors: { origins: [PAGE] } } } }
      const server = await startServer(t, company, options)
      const head = { origin: PAGE, 'sec-fetch-site': 'same-site', 'content-type': 'application/json' }
      const refused = await server.post('//mcp', { jsonrpc: '2.0', id: 0, method: 'ping' }, head)
      t.equal(refused.status, 401)
      t.match(refused.headers['access-control-expose-headers'], /WWW-Authenticate/)
      t.equal(/resource_metadata="/.test(String(refused.headers['www-authenticate'])), isIssued)
      for (const { path, status, source } of DISCOVERY) {
        const answer = await server.get(`/${path}`, { 'mcp-protocol-version': '2025-11-25', origin: PAGE })
        t.equal(answer.status, isIssued ? status : 404, `${path}: ${source}`)
        t.match(
          answer.headers,
          { 'content-type': /json/, 'access-control-allow-origin': PAGE },
          'neither a page nor 401',
        )
      }
      const client = { client_name: 'MCP Inspector', redirect_uris: [`${PAGE}/oauth/callback`] }
      t.equal((await server.post('//register', client, head)).status, 404, 'nor does it register clients')
    })
  }
})

t.test('a page that is not allowed learns which option allows it', async t => {
  const server = await startServer(t, company)
  const head = { origin: PAGE, 'sec-fetch-site': 'same-site', 'content-type': 'application/json' }
  const { status, json } = await server.post('//mcp', { jsonrpc: '2.0', id: 0, method: 'ping' }, head)
  t.match([status, json], [403, { __ERROR: [{ message: /server\.cors\.origins names the origins that may/ }] }])
})
