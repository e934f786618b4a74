import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../../config/load-config.ts'
import { writeEmptyModel } from '../../../kernel/cli/empty-model.ts'
import { createServer } from '../../../kernel/main.ts'
import { runTesser } from '../../support/commands/author-package.ts'

const configOf = (cwd: string, flags: Record<string, string> = {}) => loadConfig({ env: {}, cwd, flags })

t.test('--empty writes a model that is served, and that load fills', async t => {
  const folder = t.testdir({ 'people.csv': 'name\nAda\n' })
  t.match(writeEmptyModel(configOf(folder)), /^model\.json, .* npx tesser load FILE --new-class/)
  t.strictSame(readdirSync(folder), ['model.json', 'people.csv', 'tesser.config.json'])
  const flags = { port: '0', 'log-level': 'error', 'storage-map-size-bytes': '64 MiB' }
  const get = async (path: string): Promise<unknown> => {
    const server = await createServer(configOf(folder, flags))
    try {
      return await (await fetch(`${server.url}/rest/${path}`)).json()
    } finally {
      await server.close()
    }
  }
  t.match(await get('$catalog/$all'), { dataClasses: [] })
  const load = ['load', 'people.csv', '--new-class', 'Person', '--yes', '--storage-map-size-bytes', '64MiB']
  t.match(await runTesser(folder, ...load), { code: 0, output: /1 inserted/ })
  t.match(await get('Person'), { __COUNT: 1, __ENTITIES: [{ name: 'Ada' }] })
})

t.test('--empty overwrites nothing', async t => {
  const folder = t.testdir({ a: { 'model.json': 'mine' }, b: { 'tesser.config.json': '{ "model": "m.json" }' }, c: {} })
  t.throws(() => writeEmptyModel(configOf(join(folder, 'a'))), /begins a new model, but there is model\.json/)
  t.equal(readFileSync(join(folder, 'a/model.json'), 'utf8'), 'mine')
  t.throws(() => writeEmptyModel(configOf(join(folder, 'b'))), /there is m\.json; start without --empty/)
  t.throws(() => writeEmptyModel(configOf(join(folder, 'c'), { model: 'm.json' })), /there is m\.json/)
  t.match(await runTesser(join(folder, 'c'), '--empty', '--check'), { code: 2, output: /cannot be used with/ })
  t.match(await runTesser(join(folder, 'a'), '--empty'), { code: 2, output: /^tesser: --empty begins a new model/ })
  t.strictSame([...readdirSync(join(folder, 'b')), ...readdirSync(join(folder, 'c'))], ['tesser.config.json'])
})
