/** The path of a newcomer from a build to an answer about the demo, by the commands in the documents. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { startDemo } from '../support/servers/demo-server.ts'
import { agentOf } from '../support/clients/mcp-client.ts'
import { isLong } from '../support/runner/rounds.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'

const MINUTES = 3
const MAIN = 'dist/kernel/cli/main.js'

/** Address that `tesser start` prints. */
async function addressOf(server: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: server.stdout! })) {
    const [, url] = /"url":"(http:[^"]+)"/.exec(line) ?? []
    if (url) return url
  }
  throw new Error('the server has ended')
}

/** Builds, starts and loads the demo, as `npm start` does. @returns its address */
async function startByCommand(t: Test): Promise<string> {
  const run = (args: readonly string[]) => spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [code] = await once(run(['config/build.mjs', '--out', 'dist-one']), 'close')
  t.equal(code, 0)
  const data = temporaryFolder(t)
  const server = run([MAIN, 'start', '--port', '0', '--data', data])
  t.teardown(async () => {
    server.kill()
    await once(server, 'close')
  })
  return addressOf(server)
}

t.test('an answer about the demo', async t => {
  const begun = performance.now()
  const url = isLong ? await startByCommand(t) : (await startDemo(t)).url
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [MAIN, 'mcp', '--url', url] }))
  t.teardown(() => client.close())
  const agent = agentOf(client)
  t.match((await agent.call('describe')).text, /\nCountry\(code\): .*cities>>City/)
  const largest = { class: 'Country', orderBy: 'population desc', attributes: ['name', 'region.name'], top: 1 }
  t.match(await agent.call('query', largest), { json: { data: [{ name: 'China', region: { name: 'Eastern Asia' } }] } })
  const sentence = { class: 'Passage', text: 'Where is it always cold and windy?' }
  t.match(await agent.call('search', sentence), { json: { count: 0, hint: 'try by: meaning' } })
  const seconds = (performance.now() - begun) / 1000
  t.comment(`${seconds.toFixed(1)} s`)
  if (isLong) t.ok(seconds < MINUTES * 60, `${MINUTES} minutes`)
})
