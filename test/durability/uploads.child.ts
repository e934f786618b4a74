/** A server that its parent tells the time, and that is killed by it: sends its port, then `done` after each message. */
import type { Engine } from '../../engine/index.ts'
import { createTestServer } from '../../kernel/testing.ts'
import { MODEL } from './uploads.model.ts'

const [folder, start] = process.argv.slice(2) as [string, string]
let time = Number(start)
const server = await createTestServer({ model: MODEL, folder, now: () => time })

// Tap has a handler that ends the process at the signal of a write beyond its limit, unless there is another one.
process.on('SIGXFSZ', () => {})

process.on('message', async (message: number | 'stop') => {
  if (message === 'stop') {
    await server.close()
    process.disconnect()
    return
  }
  time = message
  await (server.engine as Engine).uploads.sweep()
  process.send!('done')
})
process.send!(server.port)
