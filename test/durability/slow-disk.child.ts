/** Writes while its disk hangs for a while, and prints what the client receives. See slow-disk.c. */
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { WriterClient } from '../../engine/write/client/writer-client.ts'
import { city, options } from './world.ts'

const trigger = process.env.SLOW_SYNC_FILE!
const client = await WriterClient.start({
  ...options(process.argv[2]!),
  stallTimeoutMs: 800,
  onInternalError: text => console.log(text),
  onNote: text => console.log(text.replace(/\d+ ms/, 'n ms')),
})
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await delay(5)
}
await client.write(city({ name: 'Oslo' }))
writeFileSync(trigger, '')
const hanging = client.write(city({ name: 'Rome' }))
await until(() => !existsSync(trigger))
// Sent before the client can know that the disk hangs.
const waiting = client.write(city({ name: 'Bern' }))
await until(() => !client.isRunning)
await client.write(city({ name: 'Paris' })).catch(error => console.log(error.name, error.retryAfterSeconds))
const answers = await Promise.all([hanging, waiting])
await until(() => client.isRunning)
console.log('hanging and waiting', ...answers.map(({ entities }) => entities[0]!.rowId))
console.log('after', (await client.write(city({ name: 'Wien' }))).entities[0]!.rowId)
await client.close()
console.log('closed')
