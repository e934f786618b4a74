/** `tesser mcp`: the official client over the standard input and output of the command, and its message when no server answers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { createKey, hashKey } from '../../../kernel/auth/directory.ts'
import { bridge } from '../../../kernel/cli/mcp.ts'
import { company } from '../../support/fixtures/company.ts'
import { type Agent, agentOf, ERAS, type Era } from '../../support/clients/mcp-client.ts'
import { temporaryFolder } from '../../support/base/temporary-folder.ts'
import { startServer } from '../../support/servers/test-server.ts'
import { until } from '../../support/base/until.ts'

const MAIN = 'dist/kernel/cli/main.js'

async function overStdio(t: Test, args: readonly string[], era: Era, env: Record<string, string> = {}): Promise<Agent> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : 'auto' } },
  )
  const command = { command: process.execPath, args: [MAIN, 'mcp', ...args], env }
  await client.connect(new StdioClientTransport(command))
  t.teardown(() => client.close())
  return agentOf(client)
}

/** Answers to lines of the input, each as JSON. */
async function answersTo(url: string, lines: readonly string[]): Promise<{ error?: { message: string } }[]> {
  const input = new PassThrough()
  const written: string[] = []
  const done = bridge(url, undefined, input, line => written.push(line))
  input.end(lines.map(line => `${line}\n`).join(''))
  await done
  return written.map(line => JSON.parse(line))
}

t.test('lines end at line feeds, not at the separators of Unicode, which JSON contains as they are', async t => {
  const server = await startServer(t, company)
  const text = 'a\u2028b\u2029c\u0085d'
  const list = { jsonrpc: '2.0', id: text, method: 'tools/list' }
  const initialize = {
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: text, version: '1' } },
  }
  const found = await answersTo(`${server.url}/mcp`, [JSON.stringify(initialize), `${JSON.stringify(list)}\r`])
  t.match(
    found.sort((a, b) => String(Object(a).id).localeCompare(String(Object(b).id))),
    [
      { id: 1, result: {} },
      { id: text, result: { tools: [] } },
    ],
  )
})

t.test('over the standard input and output', async t => {
  const roles = {
    privileges: [{ privilege: 'staff' }],
    permissions: { allowed: [{ applyTo: 'Employee', type: 'dataclass', read: ['staff'] }] },
  }
  const folder = temporaryFolder(t)
  const key = createKey()
  const keys = [{ name: 'ada', hash: hashKey(key), privileges: ['staff'] }]
  writeFileSync(join(folder, 'tesser.directory.json'), JSON.stringify({ keys }))
  const server = await startServer(t, company, { folder, roles })

  for (const era of ERAS) {
    await t.test(era, async t => {
      const guest = await overStdio(t, ['--url', server.url], era)
      t.equal(guest.client.getProtocolEra(), era)
      t.match(await guest.call('aggregate', { class: 'City', function: 'count' }), { json: { data: 4 } })
      t.match(await guest.call('query', { class: 'Employee' }), { isError: true, json: { status: 404 } })
      const ada = await overStdio(t, ['--url', `${server.url}/rest/`], era, { TESSER_KEY: key })
      t.match(await ada.call('aggregate', { class: 'Employee', function: 'count' }), { json: { data: 6 } })
      const calls = Array.from({ length: 20 }, (_, i) => ada.call('query', { class: 'Employee', filter: `ID = ${i}` }))
      t.equal(
        (await Promise.all(calls)).reduce((sum, { json }) => sum + json.count, 0),
        6,
        'several concurrent calls',
      )
      await t.rejects(ada.call('nothing'), /there is no tool/)
    })
  }

  t.test('the key as a flag, and a wrong one', async t => {
    const ada = await overStdio(t, ['--url', `${server.url}/mcp`, '--key', key], 'legacy')
    t.match(await ada.call('aggregate', { class: 'Employee', function: 'count' }), { json: { data: 6 } })
    await t.rejects(
      overStdio(t, ['--url', server.url, '--key', 'tesser_wrong'], 'legacy'),
      /answered 401.*--key or TESSER_KEY/,
    )
  })

  t.test('lines that are not messages', async t => {
    const answers = await answersTo(`${server.url}/mcp`, [
      '{',
      '7',
      '',
      '[]',
      '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    ])
    const codes = answers.map(({ error }) => (error as { code?: number } | undefined)?.code)
    t.strictSame(codes, [-32_700, -32_700, -32_700, undefined], 'each is answered')
  })
})

t.test('no server', async t => {
  const [answer] = await answersTo('http://127.0.0.1:9/mcp', ['{"jsonrpc":"2.0","id":7,"method":"ping"}'])
  t.match(answer, { id: 7, error: { message: /no server answers at .*9\/mcp.*tesser start.*--url/ } })
  t.strictSame(
    await answersTo('http://127.0.0.1:9/mcp', ['{"jsonrpc":"2.0","method":"notifications/initialized"}']),
    [],
  )
})

t.test('a cancelled request is aborted', async t => {
  let isGone = false
  const silent = createServer(request => request.socket.on('close', () => (isGone = true))).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const input = new PassThrough()
  const written: string[] = []
  const done = bridge(`http://127.0.0.1:${port}/mcp`, undefined, input, line => written.push(line))
  input.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query"}}\n')
  await once(silent, 'request')
  input.end('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
  await done
  t.strictSame(written, [], 'without an answer')
  t.ok(await until(() => isGone), 'its connection to the server is closed')
})

t.test('a wrong address ends the command', async t => {
  const child = spawn(process.execPath, [MAIN, 'mcp', '--url', 'nowhere'])
  let text = ''
  child.stderr.on('data', chunk => (text += chunk))
  const [code] = await once(child, 'close')
  t.equal(code, 2)
  t.match(text, /--url: "nowhere" is not an address/)
})
