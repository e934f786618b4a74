/** Options that the production files name exist, and the configuration in these files is valid. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../config/load-config.ts'
import { CONFIG_KEYS, environmentNames } from '../../config/schema.ts'

const FOLDERS = ['config/deploy', 'plugins/docs/pages/operate']
/** Variables of `Caddyfile`, and one that Kubernetes would set. */
const OTHERS = ['TESSER_CONFIG', 'TESSER_ADDRESS', 'TESSER_PORT']

const files = FOLDERS.flatMap(folder => readdirSync(folder, { recursive: true, withFileTypes: true }))
  .filter(entry => entry.isFile())
  .map(({ name, parentPath }) => ({ name, text: readFileSync(join(parentPath, name), 'utf8') }))

t.test('variables of the environment', async t => {
  const known = [...CONFIG_KEYS.flatMap(environmentNames), ...OTHERS]
  const named = files.flatMap(({ name, text }) =>
    [...text.matchAll(/\bTESSER_[A-Z_]+/g)].map(([variable]) => ({ name, variable })),
  )
  t.ok(named.length > 10)
  t.same(
    named.filter(({ variable }) => !known.includes(variable)),
    [],
  )
})

t.test('options', async t => {
  const keys: readonly string[] = CONFIG_KEYS
  const groups = new Set(keys.map(key => key.split('.', 1)[0]!))
  const named = files.flatMap(({ name, text }) =>
    [...text.matchAll(/`(\w+)((?:\.\w+)+)`/g)]
      // Files have extensions.
      .filter(([, group, rest]) => groups.has(group!) && !/\.(mdb|lock)$/.test(rest!))
      .map(([, group, rest]) => ({ name, key: group! + rest })),
  )
  t.ok(named.length > 20)
  t.same(
    named.filter(({ key }) => !keys.some(each => each === key || each.startsWith(`${key}.`))),
    [],
  )
})

t.test('the configuration of the pod', async t => {
  const { text } = files.find(({ name }) => name === 'kubernetes.yaml')!
  const [, config] = /tesser\.config\.json: \|\n((?: {4}.*\n)+)/.exec(text)!
  const folder = t.testdir({ 'model.json': '{}' })
  writeFileSync(join(folder, 'tesser.config.json'), config!)
  const { server } = loadConfig({ file: join(folder, 'tesser.config.json'), env: {}, flags: {} })
  t.equal(server.drainMs, 5_000)
})
