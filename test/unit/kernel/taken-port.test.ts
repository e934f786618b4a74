/** A port that another process has is an error before anything is loaded. */
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer as createListener } from 'node:net'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import { createServer } from '../../../kernel/main.ts'
import { temporaryFolder } from '../../support/base/temporary-folder.ts'
import { modelWith } from '../../support/fixtures/model-with.ts'

const log = pino({ level: 'silent' })

async function takenPort(t: Test): Promise<string> {
  const listener = createListener().listen(0, '127.0.0.1')
  t.teardown(() => listener.close())
  await once(listener, 'listening')
  return String((listener.address() as AddressInfo).port)
}

function configIn(t: Test, flags: Record<string, string>, folder = temporaryFolder(t)) {
  writeFileSync(join(folder, 'model.json'), JSON.stringify(modelWith({ Note: {} })))
  const usual = { model: 'model.json', data: 'store', port: '0', 'storage-map-size-bytes': '64 MiB' }
  return loadConfig({ cwd: folder, env: {}, flags: { ...usual, 'pool-threads': '1', ...flags } })
}

t.test('a taken port is an error with a remedy, and neither demo nor store are touched', async t => {
  const port = await takenPort(t)
  const next = Number(port) + 1
  const cases = [
    [{ port }, `cannot listen on 127.0.0.1:${port}: another process has port ${port}; end it, .*--port ${next} `],
    [{ 'metrics-port': port }, `another process has port ${port}; .*--metrics-port ${next} \\(metrics\\.port\\)$`],
    [{ host: '192.0.2.1' }, 'is not an address of this machine \\(server.host\\)$'],
  ] as const
  for (const [flags, message] of cases) {
    for (const transport of ['auto', 'node-http']) {
      const config = configIn(t, { ...flags, 'server-transport': transport })
      const prepare = async () => void t.fail('prepared')
      await t.rejects(createServer(config, log, { prepare }), { message: new RegExp(message) })
      t.notOk(existsSync(config.data), message)
    }
  }
  const unused = configIn(t, { 'metrics-port': port, 'metrics-enabled': 'false' })
  await (await createServer(unused, log)).close()
})

t.test(
  'a start after a server of the same store waits for the store, which that server may be about to leave',
  async t => {
    const folder = temporaryFolder(t)
    const first = await createServer(configIn(t, { 'server-transport': 'node-http' }, folder), log)
    const again = () =>
      createServer(configIn(t, { port: String(first.port), 'storage-lock-wait-ms': '1000' }, folder), log, {
        prepare: () => first.close(),
      })
    const second = await again()
    t.teardown(() => second.close())
    t.equal(second.port, first.port)
  },
)
