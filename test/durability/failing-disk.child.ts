/** Writes to a store with a log while the disk fails for a while, and prints what the client receives. See slow-disk.c. */
import { rmSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { WriterClient } from '../../engine/write/client/writer-client.ts'
import { city, options } from './world.ts'

const failing = process.env.FAILING_SYNC_FILE!
let isBehind = false
const client = await WriterClient.start({
  ...options(process.argv[2]!),
  onInternalError: text => console.log('logged:', text.split('\n')[0]),
  onNote(text) {
    isBehind ||= text.startsWith('the data file could not be made durable')
  },
})
const write = async (name: string): Promise<void> => {
  try {
    await client.write(city({ name }))
    console.log(name, 'written')
  } catch (error) {
    const { message, httpStatus } = error as { message: string; httpStatus?: number }
    console.log(name, httpStatus, message)
  }
}

// The log cannot be synced: not now, and not when its record is to be taken back.
writeFileSync(failing, '')
await write('Oslo')
await write('Rome')
rmSync(failing)
await write('Bern')
await write('Oslo')
// The data file cannot be synced by a checkpoint.
writeFileSync(failing, '')
while (!isBehind) await delay(5)
rmSync(failing)
await write('Wien')
await client.close()
console.log('closed')
