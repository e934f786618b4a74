import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { installTesser, runCompiler, runNode, runTesser } from '../support/author-package.ts'

const EXAMPLES = 'plugins/examples'

for (const name of readdirSync(EXAMPLES)) {
  t.test(`the example ${name} compiles with the types of its model, and its tests pass`, async t => {
    // Where the paths to the demo's model lead to it too.
    const root = t.testdir({})
    cpSync('config/demo/model.json', join(root, 'config/demo/model.json'))
    const folder = join(root, EXAMPLES, name)
    cpSync(join(EXAMPLES, name), folder, { recursive: true })
    installTesser(folder)
    t.match(await runTesser(folder, 'types'), { code: 0, output: '' })
    t.strictSame(await runCompiler(folder), { code: 0, output: '' })
    t.match(await runNode(folder, '--test'), { code: 0, output: /fail 0/ })
  })
}
