/** References against what the code registers: `npm run references` writes their tables. */
import t from 'tap'
import { registerBuiltIn } from '../support/checks/registered.ts'
import { parameterTables } from './references/parameters.ts'
import { renewed } from './references/tables.ts'

const { plugins, registry } = await registerBuiltIn()

for (const [file, tables] of [
  ['plugins/docs/pages/reference/parameters.md', parameterTables(registry, plugins)],
] as const) {
  t.test(`${file} is current`, async t => {
    const { found, wanted } = renewed(file, tables)
    t.equal(found, wanted, 'npm run references writes it')
  })
}
