import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { loadConfig } from '../../../../config/load-config.ts'
import type { Engine } from '../../../../engine/index.ts'
import { openVisitors } from '../../../../kernel/session/open-visitors.ts'
import { until } from '../../../support/base/until.ts'

const EMPTY = { users: [], keys: [] }

t.test('a directory that a plugin has set stays when the file of users changes', async t => {
  const folder = t.testdir({
    'tesser.config.json': '{"model":"model.json"}',
    'tesser.directory.json': JSON.stringify(EMPTY),
  })
  const records = { get: () => undefined, list: () => [], put: async () => {} }
  const engine = { records } as unknown as Engine
  const config = loadConfig({ cwd: folder, env: {}, flags: {} })
  const open = () => openVisitors(config, engine, pino({ level: 'silent' }), Date.now)
  const [plain, own] = [await open(), await open()]
  t.teardown(() => Promise.all([plain.close(), own.close()]))

  const ofFile = plain.identities.directory
  const ofPlugin = { authenticate: async () => undefined, byKey: () => undefined }
  own.identities.directory = ofPlugin
  writeFileSync(join(folder, 'tesser.directory.json'), `${JSON.stringify(EMPTY)} `)
  await until(() => plain.identities.directory !== ofFile)
  t.not(plain.identities.directory, ofFile)
  t.equal(own.identities.directory, ofPlugin)
})
