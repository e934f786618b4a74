import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { installTesser, runCompiler, runNode, runTesser } from '../support/commands/author-package.ts'

const EXAMPLES = 'plugins/examples'

// The others are clients, which test/browser tests.
const packages = readdirSync(EXAMPLES).filter(name => existsSync(join(EXAMPLES, name, 'package.json')))
for (const name of packages) {
  t.test(`the example ${name} compiles with the types of its model, and its tests pass`, async t => {
    // A folder from which the relative paths to the demo's model are valid too.
    const root = t.testdir({})
    cpSync('config/demo/model.json', join(root, 'config/demo/model.json'))
    const folder = join(root, EXAMPLES, name)
    cpSync(join(EXAMPLES, name), folder, { recursive: true })
    installTesser(folder)
    t.match(await runTesser(folder, 'types'), { code: 0, output: '' })
    t.strictSame(runCompiler(folder), { code: 0, output: '' })
    // A run that finds no tests passes too.
    const count = readFileSync(join(folder, 'index.test.js'), 'utf8').match(/^test\(/gm)?.length ?? 0
    t.ok(count > 0)
    t.match(await runNode(folder, '--test'), { code: 0, output: new RegExp(`pass ${count}\\n`) })
  })
}
