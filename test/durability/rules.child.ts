/** A server with the example of rules, on the store in a folder. It sends its port; the parent stops or kills it. */
import { join } from 'node:path'
import { createTestServer } from '../../kernel/testing.ts'

const [folder] = process.argv.slice(2) as [string]
const example = join(process.cwd(), 'plugins/examples/rules')
const server = await createTestServer({
  folder,
  model: join(example, 'model.json'),
  plugins: [join(example, 'index.ts')],
  config: {
    auth: { guestsAdministrate: true },
    functions: { threads: 2 },
    log: { level: 'silent' },
    storage: { memoryBytes: 0 },
  },
})
process.on('message', async () => {
  await server.close()
  process.exit()
})
process.send!(server.port)
