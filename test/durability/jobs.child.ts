/** A server whose saves enqueue jobs, on the store in a folder. It sends its port; the parent stops or kills it. */
import { createTestServer } from '../../kernel/testing.ts'
import { company } from '../support/fixtures/company.ts'
import { queuedPlugin } from '../support/plugins/test-plugins.ts'

const [folder] = process.argv.slice(2) as [string]
const server = await createTestServer({
  folder,
  model: company.model,
  plugins: [queuedPlugin],
  config: {
    auth: { guestsAdministrate: true },
    functions: { threads: 1 },
    log: { level: 'silent' },
    storage: { mapSizeBytes: '256 MiB', memoryBytes: 0 },
  },
})
process.on('message', async () => {
  await server.close()
  process.exit()
})
process.send!(server.port)
