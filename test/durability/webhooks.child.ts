/** A server with a hook to the receiver of its parent, which stops and kills it. */
import { createTestServer } from '../../kernel/testing.ts'
import { SECRET } from '../support/services/webhook-receiver.ts'

const [folder, url] = process.argv.slice(2) as [string, string]
const hook = {
  name: 'notes',
  url,
  secret: SECRET,
  dataClass: 'Note',
  allowPrivate: true,
  firstRetrySeconds: 0.01,
  maxRetrySeconds: 0.05,
}
const server = await createTestServer({
  model: {
    name: 'notes',
    dataClasses: {
      Note: {
        key: 'ID',
        attributes: { ID: { type: 'long', autoFill: 'increment' }, round: { type: 'long' }, text: { type: 'string' } },
      },
    },
  },
  folder,
  plugins: [{ plugin: 'tesser/plugins/webhooks', options: { hooks: [hook] } }],
})
process.on('message', async () => {
  await server.close()
  process.exit(0)
})
process.send!(server.port)
