import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { installTesser, runCompiler, runNode, runTesser } from '../support/author-package.ts'

t.test('tesser new plugin makes a package that compiles and whose tests pass', async t => {
  const parent = t.testdir({})
  t.match(await runTesser(parent, 'new', 'plugin', '@acme/hello'), { code: 0, output: /hello\/ is ready/ })
  const folder = join(parent, 'hello')
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  t.match(manifest, { name: '@acme/hello', devDependencies: { tesser: /^file:\.\.\// } })
  t.match(readFileSync(join(folder, 'index.ts'), 'utf8'), /name: '@acme\/hello'/)
  t.ok(existsSync(join(folder, '.gitignore')))

  installTesser(folder)
  t.strictSame(await runCompiler(folder), { code: 0, output: '' })
  t.match(await runNode(folder, '--test'), { code: 0, output: /pass 3/ })

  const classes = readFileSync(join(folder, 'classes.ts'), 'utf8')
  writeFileSync(join(folder, 'classes.ts'), classes.replaceAll('this.firstName', 'this.fristName'))
  t.match(await runCompiler(folder), { code: 2, output: /'fristName' does not exist .* 'firstName'/ })
})

t.test('what cannot be made is refused, and nothing is overwritten', async t => {
  const parent = t.testdir({ mine: { 'index.ts': 'mine' } })
  t.match(await runTesser(parent, 'new', 'plugin', 'mine'), { code: 1, output: /mine is not empty/ })
  t.equal(readFileSync(join(parent, 'mine/index.ts'), 'utf8'), 'mine')
  for (const name of ['../out', 'Acme', '@acme/../x', 'a b']) {
    t.match(await runTesser(parent, 'new', 'plugin', name), { code: 1, output: /cannot be the name of a package/ })
  }
})
