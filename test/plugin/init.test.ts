import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../config/load-config.ts'
import { Directory, readDirectory } from '../../kernel/auth/directory.ts'
import { createServer } from '../../kernel/main.ts'
import { init } from '../../kernel/cli/init.ts'
import { installTesser, runCompiler, runNode, runTesser } from '../support/commands/author-package.ts'

interface Manifest {
  name: string
  scripts: Record<string, string>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

t.test('tesser init makes an application whose tests pass and whose administrator can log in', async t => {
  const parent = t.testdir({})
  const { code, output } = await runTesser(parent, 'init', 'my-shop')
  t.equal(code, 0, output)
  const [, password] = /^my-shop\/ is ready\..*\n\n {2}admin\n {2}(\S{20})\n/.exec(output)!
  const folder = join(parent, 'my-shop')

  await t.test('its files', async t => {
    const manifest = manifestIn(folder)
    t.match(manifest, { name: 'my-shop', private: true, dependencies: { tesser: /^file:\.\.\// } })
    t.notOk(manifest.devDependencies.tesser)
    t.match(readFileSync(join(folder, 'index.ts'), 'utf8'), /name: 'my-shop'/)
    t.match(readFileSync(join(folder, 'README.md'), 'utf8'), /^# my-shop\n/)
    t.match(readFileSync(join(folder, '.gitignore'), 'utf8'), /^data\/\nbackups\/\n[\s\S]*^tesser\.directory\.json\*$/m)
    t.notOk(readdirSync(folder).includes('gitignore'))
  })

  await t.test('the password is only shown, and its hash is readable by the owner alone', async t => {
    const file = join(folder, 'tesser.directory.json')
    t.equal(statSync(file).mode & 0o777, 0o600)
    for (const name of readdirSync(folder, { withFileTypes: true }).filter(each => each.isFile())) {
      t.notMatch(readFileSync(join(folder, name.name), 'utf8'), password!, name.name)
    }
    const user = await new Directory(readDirectory(file)).authenticate('admin', password!)
    t.match(user, { granted: { roles: ['editor'], privileges: ['WebAdmin'] } })
  })

  await t.test('its scripts', async t => {
    installTesser(folder)
    t.match(await runTesser(folder, 'types'), { code: 0 })
    t.strictSame(runCompiler(folder), { code: 0, output: '' })
    t.match(await runNode(folder, '--test'), { code: 0, output: /fail 0\b/ })
    t.match(await runTesser(folder, 'check'), { code: 0, output: /are all right/ })
    const { scripts } = manifestIn(folder)
    for (const [name, script] of Object.entries(scripts).filter(([, script]) => !script.includes('&&'))) {
      const [, ...words] = script.split(' ')
      t.match(await runTesser(folder, ...words, '--help'), { code: 0 }, name)
    }
  })

  await t.test('guests see nothing, the administrator everything', async t => {
    const config = loadConfig({
      file: join(folder, 'tesser.config.json'),
      env: {},
      flags: { port: '0', 'log-level': 'error', 'storage-map-size-bytes': '64 MiB' },
    })
    const server = await createServer(config)
    t.teardown(() => server.close())
    const status = async (path: string, init?: RequestInit) => (await fetch(`${server.url}/rest/${path}`, init)).status
    t.equal(await status('Person'), 401)
    const login = { method: 'POST', body: JSON.stringify(['admin', password]) }
    const { headers } = await fetch(`${server.url}/rest/$directory/login`, login)
    const cookie = { headers: { cookie: headers.get('set-cookie')!.split(';')[0]! } }
    t.equal(await status('Person', cookie), 200)
    t.equal(await status('$info', cookie), 200)
  })
})

t.test('nothing is overwritten, and each application has another password', async t => {
  const parent = t.testdir({ mine: { 'index.ts': 'mine' }, file: 'x' })
  t.match(await runTesser(parent, 'init', 'mine'), { code: 2, output: /mine is not empty; give another name/ })
  t.match(await runTesser(parent, 'init', 'file'), { code: 2, output: /file is a file; give another name/ })
  t.match(await runTesser(parent, 'init', 'My App'), { code: 2, output: /cannot be the name of a package/ })
  t.strictSame(readdirSync(parent), ['file', 'mine'])
  const lines: string[] = []
  for (const name of ['a', '@acme/b']) await init(name, line => lines.push(line), parent)
  t.strictSame(readdirSync(parent), ['a', 'b', 'file', 'mine'])
  t.equal(new Set(lines.map(line => /admin\n {2}(\S+)/.exec(line)![1])).size, 2)
})

t.test('the template has the compiler and the types of the template of a plugin', async t => {
  const { tesser: _, ...plugin } = manifestIn('config/plugin-template').devDependencies
  t.strictSame(manifestIn('config/app-template').devDependencies, plugin)
})
