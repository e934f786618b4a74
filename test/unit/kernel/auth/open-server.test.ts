import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadConfig } from '../../../../config/load-config.ts'
import { openServerWarning } from '../../../../kernel/auth/open-server.ts'
import { createServer } from '../../../../kernel/main.ts'
import { temporaryFolder } from '../../../support/base/temporary-folder.ts'
import { modelWith } from '../../../support/fixtures/model-with.ts'

const MODEL = modelWith({ Person: {} })

function configOf(t: Test, values: Record<string, object>, roles?: object) {
  const folder = temporaryFolder(t)
  const file = join(folder, 'tesser.config.json')
  writeFileSync(join(folder, 'model.json'), JSON.stringify(MODEL))
  writeFileSync(file, JSON.stringify({ model: 'model.json', data: 'store', ...values }))
  if (roles) writeFileSync(join(folder, 'roles.json'), JSON.stringify(roles))
  return loadConfig({ file, env: {}, flags: {} })
}

t.test('a server that others can reach and that restricts nothing causes a warning', async t => {
  const warning = (server: object, hasRoles = false) => openServerWarning(configOf(t, { server }), hasRoles)
  for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost', 'data.localhost']) {
    t.equal(warning({ host }), undefined, host)
  }
  for (const host of [
    '0.0.0.0',
    '::',
    '10.0.0.1',
    'data.example.com',
    '127.0.0.1.example.com',
    'localhost.example.com',
  ]) {
    t.match(
      warning({ host }),
      /is not a loopback address, and there is no roles file: every client may read, change/,
      host,
    )
    t.equal(warning({ host }, true), undefined, host)
  }
  t.match(warning({ trustedProxies: ['loopback'] }), /trustedProxies forward requests of others/)
  const open = configOf(t, { server: { host: '0.0.0.0' }, auth: { guestsAdministrate: true } })
  t.match(openServerWarning(open, false), /end all sessions/)
})

t.test('the warning is logged at the start, and not with roles', async t => {
  const warnings = async (roles?: object): Promise<string[]> => {
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
    const storage = { memoryBytes: 0, mapSizeBytes: '64 MiB' }
    const server = { port: 0, trustedProxies: ['loopback'], transport: 'node-http' }
    await (await createServer(configOf(t, { server, storage }, roles), log)).close()
    return lines.filter(line => line.includes('roles'))
  }
  t.match(await warnings(), [/there is no roles file/])
  t.same(await warnings({}), [])
})
