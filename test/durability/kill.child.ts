/**
 * Writes in an endless loop, many saves at once, and sends every acknowledged one to its parent as `[name, stamp]`; the parent
 * kills the process. `stamp` is null for a deletion, which is announced (`[name]`) before the request.
 */
import type { SavedEntity } from '../../engine/write/contract/requests.ts'
import { WriterClient } from '../../engine/write/client/writer-client.ts'
import { city, options, withImages } from './world.ts'

const [path, round, memory] = process.argv.slice(2) as [string, string, string?]
const client = await WriterClient.start({ ...options(path), ...(memory && withImages()) })
const report = (...acknowledged: unknown[]): boolean => process.send!(acknowledged)

const CLIENTS = 32
const stampOf = ({ row }: SavedEntity): number => Buffer.from(row!).readUInt32LE(4)

async function write(worker: number): Promise<void> {
  let previous: string | null = null
  for (let i = 0; ; i++) {
    const name = `${round} ${worker} ${i}`
    const { entities } = await client.write(city({ name, population: i, twin: previous }))
    report(name, 1)
    const updated = await client.write(city({ __KEY: name, __STAMP: 1, population: -i }))
    report(name, stampOf(updated.entities[0]!))
    if (i % 5 === 4) {
      report(name)
      await client.write({
        kind: 'delete',
        dataClass: 'City',
        rowIds: Uint32Array.of(entities[0]!.rowId!),
        atomic: false,
      })
      report(name, null)
    }
    if (i % 7 === 6) {
      const names = Array.from({ length: 50 }, (_, n) => `${name} ${n}`)
      await client.write({ ...city(names.map(name => ({ name }))), atomic: worker % 2 === 0 })
      for (const name of names) report(name, 1)
    }
    previous = i % 5 === 4 ? null : name
  }
}

await Promise.all(Array.from({ length: CLIENTS }, (_, worker) => write(worker)))
