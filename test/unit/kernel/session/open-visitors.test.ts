import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t from 'tap'
import { loadConfig } from '../../../../config/load-config.ts'
import type { Engine } from '../../../../engine/index.ts'
import { missingDirectory } from '../../../../kernel/auth/directory.ts'
import { openVisitors } from '../../../../kernel/session/open-visitors.ts'
import { logSink } from '../../../support/base/log-sink.ts'
import { until } from '../../../support/base/until.ts'

const EMPTY = { users: [], keys: [] }
const records = { get: () => undefined, list: () => [], put: async () => {} }
const engine = { records } as unknown as Engine

t.test('a directory that a plugin has set stays when the file of users changes', async t => {
  const folder = t.testdir({
    'tesser.config.json': '{"model":"model.json"}',
    'tesser.directory.json': JSON.stringify(EMPTY),
  })
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

t.test('a file of users that is named and does not exist is a warning, and so is one that vanishes', async t => {
  const folder = t.testdir({ 'tesser.config.json': '{"model":"model.json"}' })
  const open = async (flags: Record<string, string>) => {
    const { logger, lines } = logSink('warn')
    const visitors = await openVisitors(loadConfig({ cwd: folder, env: {}, flags }), engine, logger, Date.now)
    t.teardown(() => visitors.close())
    return lines
  }
  const file = join(folder, 'users.json')
  const named = await open({ 'auth-directory-file': file })
  t.match(named, [{ msg: missingDirectory(file) }])
  t.match(named[0]?.msg, 'tesser user add')
  const unnamed = await open({})
  t.same(unnamed, [], 'many servers have no users')
  const usual = join(folder, 'tesser.directory.json')
  writeFileSync(usual, JSON.stringify(EMPTY))
  const present = await open({})
  rmSync(usual)
  await until(() => present.length > 0)
  t.match(present, [{ msg: missingDirectory(usual) }])
})
