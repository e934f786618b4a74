/** References against what the code registers: `npm run references` writes their tables. */
import t from 'tap'
import { program } from '../../kernel/cli/program.ts'
import { registerBuiltIn } from '../support/checks/registered.ts'
import { commandTables } from './references/commands.ts'
import { metricTable, servedMetrics } from './references/metrics.ts'
import { optionTable } from './references/options.ts'
import { parameterTables } from './references/parameters.ts'
import { renewed } from './references/tables.ts'

const { plugins, registry } = await registerBuiltIn()
const FOLDER = 'plugins/docs/pages/reference'

t.test('references are current', async t => {
  const tables = {
    commands: { commands: commandTables(program) },
    metrics: { metrics: metricTable(await servedMetrics(t)) },
    options: { options: optionTable() },
    parameters: parameterTables(registry, plugins),
  }
  for (const [page, content] of Object.entries(tables)) {
    const { found, wanted } = renewed(`${FOLDER}/${page}.md`, content)
    t.equal(found, wanted, `npm run references writes ${page}.md`)
  }
})
