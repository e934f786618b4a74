/** Thread that reads a shared memory repeatedly and reports contradictions within a snapshot. */
import { parentPort, workerData } from 'node:worker_threads'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { SharedStore } from '../../../../engine/memory/reader/shared-store.ts'
import { openEnvironment } from '../../../../engine/storage/environment.ts'
import { loadLayouts } from '../../../../engine/storage/layouts.ts'
import { SEGMENT_ROWS, type Snapshot } from '../../../../engine/data/snapshot.ts'
import { openStore } from '../../../../engine/storage/store.ts'

const { path, model, memory, slot, stop, total } = workerData as {
  path: string
  model: unknown
  memory: WebAssembly.Memory
  slot: number
  stop: Int32Array
  total: number
}
const environment = openEnvironment({ path, mapSizeBytes: 2 ** 30 })
const catalog = loadModel(model)
const layouts = loadLayouts(environment, catalog, { dateOnlyFormat: 'iso' })
const lmdb = openStore({ environment, catalog, layouts, cacheBytes: 2 ** 20 })
const store = new SharedStore({ store: lmdb, memory, catalog, layouts, cacheBytes: 2 ** 20 }, slot)
const account = catalog.dataClassesByName.get('Account')!
const balance = account.attributesByName.get('balance')!
const name = account.attributesByName.get('name')!

/** Checks invariants: balances are only moved, so their sum is constant; a name is always the text of the balance. */
function problems(snapshot: Snapshot): string[] {
  const found: string[] = []
  const table = snapshot.table(account)
  if (balance.kind !== 'storage' || name.kind !== 'storage') return found
  let sum = 0
  let count = 0
  for (const rowId of table.live) {
    const numbers = table.column(balance).segment(Math.floor(rowId / SEGMENT_ROWS))
    const names = table.column(name).segment(Math.floor(rowId / SEGMENT_ROWS))
    const row = table.row(rowId)
    if (numbers.kind !== 'number' || names.kind !== 'pointers' || !row) return [`row ${rowId} is not in the memory`]
    const value = numbers.values[rowId % SEGMENT_ROWS]!
    const text = names.texts.text(names.values[rowId % SEGMENT_ROWS]!)
    sum += value
    count++
    if (text !== `balance ${value}`) found.push(`row ${rowId}: ${text} and ${value}`)
    if (row.value(balance) !== value)
      found.push(`row ${rowId}: ${row.value(balance)} in the row, ${value} in the column`)
    if (row.globalStamp > snapshot.globalStamp) found.push(`row ${rowId} is newer than the snapshot`)
    const key = row.value(account.key)
    if (typeof key !== 'number' || table.findKey(key) !== rowId)
      found.push(`row ${rowId} is not found by its key ${key}`)
    if (count % 16 === 0 && !table.index(name)!.equal(text).has(rowId))
      found.push(`row ${rowId} is not found by ${text}`)
  }
  if (sum !== total) found.push(`${count} accounts have ${sum}`)
  return found
}

let snapshots = 0
const found: string[] = []
while (found.length === 0 && (Atomics.load(stop, 0) === 0 || snapshots === 0)) {
  found.push(...store.read(problems))
  snapshots++
}
await environment.close()
parentPort!.postMessage({ snapshots, found: found.slice(0, 5) })
