/**
 * Stops the writer thread for good in the middle of a transaction, and prints what the client receives. Then ends itself the
 * only way that is left.
 */
import type { Heartbeat } from '../../engine/write/contract/heartbeat.ts'
import { WriterClient } from '../../engine/write/client/writer-client.ts'
import { city, options } from './world.ts'

const client = await WriterClient.start({
  ...options(process.argv[2]!),
  stallTimeoutMs: 1_000,
  onInternalError: text => console.log(text),
})
await client.write(city({ name: 'Oslo' }))
const { heartbeat, worker } = client as unknown as { heartbeat: Heartbeat; worker: { terminate(): void } }
const many = Array.from({ length: 10_000 }, (_, i) => ({ name: `City ${i}` }))
const pending = client.write({ ...city(many), atomic: true })
while (heartbeat.phase !== 'working') await new Promise(resolve => setImmediate(resolve))
// The transaction begins a little later, and each of its rows is progress.
const { beats } = heartbeat
while (heartbeat.beats < beats + 10) await new Promise(resolve => setImmediate(resolve))
worker.terminate()
await pending.catch(error => console.log(error.name))
await client.write(city({ name: 'Rome' })).catch(error => console.log(error.name))
await client.close()
console.log('closed')
process.kill(process.pid, 'SIGKILL')
