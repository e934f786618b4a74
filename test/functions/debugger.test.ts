import inspector from 'node:inspector'
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { openGate } from '../support/services/gate.ts'
import { streamingPlugin, waitingPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'

t.test('while a debugger may attach, clients that go fire signals, and deadlines do not', async t => {
  inspector.open(0, '127.0.0.1')
  t.teardown(() => inspector.close())
  const cases = [
    // Its deadline is 0.2 s.
    { plugin: waitingPlugin, call: 'tellsDeadline' },
    { plugin: streamingPlugin, call: 'listens' },
  ]
  for (const { plugin, call } of cases) {
    await t.test(call, async t => {
      const gate = await openGate(t)
      const config = { plugins: [plugin], functions: { threads: 1 } }
      const { url } = await startServer(t, company, { config })
      const client = new AbortController()
      const body = JSON.stringify([gate.url])
      const init = { method: 'POST', body, signal: client.signal }
      const answer = fetch(`${url}/rest/$catalog/${call}`, init).then(answer => answer.text())
      await gate.arrived()
      await new Promise(resolve => setTimeout(resolve, 500))
      t.notOk(gate.asked.some(each => each.startsWith('ended')))
      client.abort()
      await t.rejects(answer)
      t.equal(await gate.query('ended'), 'ended=AbortError')
      gate.open('x', true)
    })
  }
})
