/** A server to which its parent sends the time, until it kills the server. Sends its port, then `done` after each message. */
import { openTestServer } from '../../kernel/open-test-server.ts'
import { MODEL } from '../support/fixtures/uploads.ts'

const [folder, start] = process.argv.slice(2) as [string, string]
let time = Number(start)
const { server } = await openTestServer({ model: MODEL, folder, now: () => time })

// Tap's handler would end the process at the signal for a write beyond its limit.
process.on('SIGXFSZ', () => {})

process.on('message', async (message: number | 'stop') => {
  if (message === 'stop') {
    await server.close()
    process.disconnect()
    return
  }
  time = message
  await server.engine.uploads.sweep()
  process.send!('done')
})
process.send!(server.port)
