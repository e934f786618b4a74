/** Writes to a store until the disk refuses it, and prints the names of the entities that were acknowledged. */
import { WriterClient } from '../../engine/write/client/writer-client.ts'
import { city, options } from './world.ts'

const client = await WriterClient.start(options(process.argv[2]!))
const refused: string[] = []
for (let i = 0; refused.length < 3; i++) {
  const names = Array.from({ length: 50 }, (_, n) => `${i} ${n} `.padEnd(900, '.'))
  try {
    await client.write({ ...city(names.map(name => ({ name }))), atomic: true })
    for (const name of names) process.send!(name)
  } catch (error) {
    refused.push((error as Error).message)
  }
}
process.send!({ refused })
await client.close()
