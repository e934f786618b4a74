/** Tests that `npm run test:near` selects for a change, in their order. */
import { resolve } from 'node:path'
import t from 'tap'

const { nearTests } = (await import(resolve('test/support/runner/near-tests.mjs'))) as {
  nearTests(changed: readonly string[], imports: ReadonlyMap<string, readonly string[]>): string[]
}
const imports = new Map<string, string[]>([
  ['test/unit/fold.test.ts', ['engine/fold.ts']],
  ['test/unit/sort.test.ts', ['engine/sort.ts']],
  ['test/property/sort.test.ts', ['test/support/naive.ts', 'engine/sort.ts']],
  ['test/protocol/paging.test.ts', ['test/support/server.ts']],
  ['test/protocol/order-by.test.ts', ['test/support/server.ts']],
  ['test/cli/start.test.ts', ['engine/base/output-root.ts']],
  ['test/house/files.test.ts', []],
  ['test/support/server.ts', ['kernel/main.ts']],
  ['test/support/naive.ts', []],
  ['kernel/main.ts', ['engine/sort.ts', 'engine/base/output-root.ts']],
  ['plugins/order-by/index.ts', ['engine/fold.ts']],
  ['engine/sort.ts', ['engine/fold.ts']],
  ['engine/fold.ts', []],
  ['engine/base/output-root.ts', []],
])
const servers = ['test/protocol/paging.test.ts', 'test/protocol/order-by.test.ts']
const cases: [change: string, changed: string[], tests: string[]][] = [
  ['none', [], []],
  ['a test', ['test/unit/sort.test.ts'], ['test/unit/sort.test.ts']],
  ['support of a test', ['test/support/naive.ts'], ['test/property/sort.test.ts']],
  [
    'a module: small bundles first, then what loads the product',
    ['engine/sort.ts'],
    ['test/unit/sort.test.ts', 'test/property/sort.test.ts', 'test/cli/start.test.ts', ...servers],
  ],
  [
    'a plugin, which no test imports: those that are named for it first',
    ['plugins/order-by/index.ts'],
    ['test/protocol/order-by.test.ts', 'test/cli/start.test.ts', 'test/protocol/paging.test.ts'],
  ],
  ['a document', ['README.md'], ['test/house/files.test.ts']],
  ['a module that was deleted', ['engine/gone.ts'], ['test/house/files.test.ts']],
]
for (const [change, changed, tests] of cases) {
  t.test(change, async t => t.strictSame(nearTests(changed, imports), tests))
}
