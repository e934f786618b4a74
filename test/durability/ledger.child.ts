/** A server whose events run programs, on the store in a folder. It sends its port; the parent stops or kills it. */
import { createTestServer } from '../../kernel/testing.ts'
import { LEDGER_MODEL } from '../support/ledger/programs.ts'
import { ledgerPlugin } from '../support/plugins/test-plugins.ts'

const [folder, config] = process.argv.slice(2) as [string, string]
const server = await createTestServer({
  folder,
  model: LEDGER_MODEL,
  plugins: [ledgerPlugin],
  config: { functions: { threads: 2 }, log: { level: 'silent' }, ...JSON.parse(config) },
})
process.on('message', async () => {
  await server.close()
  process.exit()
})
process.on('disconnect', () => process.exit())
process.send!(server.port)
