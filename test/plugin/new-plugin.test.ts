import { execFile } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { newPlugin } from '../../kernel/cli/new-plugin.ts'
import { installTesser, runCompiler, runNode, runTesser } from '../support/commands/author-package.ts'

/** Files that `npm pack` would put into the package. */
async function packed(folder: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: folder,
    maxBuffer: 2 ** 24,
  })
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  return files.map(({ path }) => path).sort()
}

t.test('tesser new plugin makes a package that compiles and whose tests pass', async t => {
  const parent = t.testdir({})
  t.match(await runTesser(parent, 'new', 'plugin', '@acme/hello'), { code: 0, output: /hello\/ is ready/ })
  const folder = join(parent, 'hello')
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  t.match(manifest, { name: '@acme/hello', devDependencies: { tesser: /^file:\.\.\// } })
  t.match(readFileSync(join(folder, 'index.ts'), 'utf8'), /name: '@acme\/hello'/)
  t.match(readFileSync(join(folder, '.gitignore'), 'utf8'), /^tesser\.directory\.json$/m)
  t.ok(existsSync(join(folder, '.vscode/launch.json')))
  // Modules that an author adds later are published too.
  writeFileSync(join(folder, 'cart.ts'), 'export {}\n')
  writeFileSync(join(folder, 'cart.test.ts'), 'export {}\n')
  t.strictSame(await packed(folder), ['README.md', 'cart.ts', 'classes.ts', 'index.ts', 'model.json', 'package.json'])

  installTesser(folder)
  t.strictSame(runCompiler(folder), { code: 0, output: '' })
  t.match(await runNode(folder, '--test'), { code: 0, output: /pass [45]\b.*fail 0\b/s })

  const classes = readFileSync(join(folder, 'classes.ts'), 'utf8')
  writeFileSync(join(folder, 'classes.ts'), classes.replaceAll('this.firstName', 'this.fristName'))
  t.match(runCompiler(folder), { code: 2, output: /'fristName' does not exist .* 'firstName'/ })
})

t.test('the package of Tesser has the guide, the examples and the template of a plugin', async t => {
  const files = await packed('.')
  const examples = ['audit', 'geo', 'semantic'].map(name => `plugins/examples/${name}/classes.ts`)
  for (const file of [
    'plugins/docs/pages/guide/plugins.md',
    ...examples,
    'config/plugin-template/gitignore',
    'config/plugin-template/.vscode/launch.json',
    'dist/types/kernel/api.d.ts',
  ]) {
    t.ok(files.includes(file), file)
  }
  t.notOk(files.some(file => file.includes('node_modules') || /^dist\/(test|groups)/.test(file)))
})

t.test('a build without types says how to make them, and makes nothing', async t => {
  const folder = t.testdir({ mine: {} })
  const built = new Set(['dist', 'chunks', 'kernel', 'engine', 'plugins', 'config'])
  for (const part of ['package.json', 'config/plugin-template', 'dist']) {
    cpSync(part, join(folder, part), {
      recursive: true,
      filter: source => part !== 'dist' || source.split('/').length > 2 || built.has(basename(source)),
    })
  }
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  const main = join(folder, 'dist/kernel/cli/main.js')
  const made = await runNode(join(folder, 'mine'), main, 'new', 'plugin', 'hello')
  t.match(made, {
    code: 1,
    output: /this build of Tesser has no types, .*; this writes them: cd \/.* && npm ci && npm run build\n/,
  })
  t.strictSame(readdirSync(join(folder, 'mine')), [])
})

t.test('a plugin that cannot be made is refused, and nothing is overwritten', async t => {
  const parent = t.testdir({ mine: { 'index.ts': 'mine' } })
  t.match(await runTesser(parent, 'new', 'plugin', 'mine'), { code: 2, output: /mine is not empty/ })
  t.equal(readFileSync(join(parent, 'mine/index.ts'), 'utf8'), 'mine')
  symlinkSync('nowhere', join(parent, 'link'))
  t.throws(() => newPlugin('link', parent), /link is a link to something that does not exist/)
  for (const name of ['../out', 'Acme', '@acme/../x', 'a b', '~', '-rf', '@acme/~', 'tesser', 'x'.repeat(1_000)]) {
    t.throws(() => newPlugin(name, parent), /cannot be the name of a package/)
  }
})

t.test('an empty folder may be a link, and only the user can change the files, whatever the umask', async t => {
  const parent = t.testdir({ empty: {} })
  symlinkSync('empty', join(parent, 'linked'))
  t.equal(newPlugin('linked', parent), 'linked')
  const main = join(process.cwd(), 'dist/kernel/cli/main.js')
  const umask = '--import=data:text/javascript,process.umask(0)'
  t.match(await runNode(parent, umask, main, 'new', 'plugin', 'open'), { code: 0 })
  const files = readdirSync(join(parent, 'open'), { recursive: true, encoding: 'utf8' }).sort()
  t.strictSame(readdirSync(join(parent, 'empty'), { recursive: true, encoding: 'utf8' }).sort(), files)
  t.same(
    files.filter(file => (statSync(join(parent, 'open', file)).mode & 0o022) !== 0),
    [],
  )
})
