import { join } from 'node:path'
import { loadModel } from '../../engine/catalog/load-model.ts'
import { openEnvironment } from '../../engine/storage/environment.ts'
import { loadLayouts } from '../../engine/storage/layouts.ts'
import { openStore } from '../../engine/storage/store.ts'
import { createSharedMemory, SharedHeap } from '../../engine/memory/shared-heap.ts'
import { MemoryWriter } from '../../engine/memory/memory-writer.ts'
import { SharedStore } from '../../engine/memory/shared-store.ts'
import { tableRows } from '../../engine/storage/table-rows.ts'
import { rowKey } from '../../engine/storage/keys.ts'
import { getBytes } from '../../engine/storage/environment.ts'

const folder = process.argv[2]!
const environment = openEnvironment({ path: join(folder, 'store'), mapSizeBytes: 64 * 2 ** 30 })
import { readFileSync } from 'node:fs'
const catalog = loadModel(
  JSON.parse(readFileSync(join(folder, 'model.json'), 'utf8')),
  environment.meta.get('numbers') as never,
)
const layouts = loadLayouts(environment, catalog, { dateOnlyFormat: 'iso' })
const time = <T>(name: string, work: () => T): T => {
  const start = performance.now(),
    cpu = process.cpuUsage()
  const result = work()
  console.log(
    name,
    (performance.now() - start).toFixed(1),
    'ms',
    'cpu',
    (process.cpuUsage(cpu).user / 1000).toFixed(0),
    '+',
    (process.cpuUsage(cpu).system / 1000).toFixed(0),
  )
  return result
}
const employee = catalog.dataClassesByName.get('Employee')!
if (process.argv[3] === 'scan') {
  for (let i = 0; i < 2; i++) {
    time('tableRows', () => {
      let n = 0
      for (const r of tableRows(environment, employee.tableNumber)) n += r.bytes.length
      return n
    })
    time('getBytes', () => {
      let n = 0
      const key = rowKey(employee.tableNumber, 0)
      for (let r = 0; r < 1e6; r++) {
        key.writeUInt32BE(r, 2)
        n += getBytes(environment.rows, key)!.length
      }
      return n
    })
  }
}
const memory = createSharedMemory(4 * 2 ** 30)!
const writer = new MemoryWriter({ memory, environment, catalog, layouts, onError: e => console.log(e) })
time('build', () => {
  while (writer.isBuilding) writer.build(1000)
})
const heap = new SharedHeap(memory)
console.log('used MB', heap.usedBytes / 1e6, 'rss', process.memoryUsage().rss / 1e6)
const lmdb = openStore({ environment, catalog, layouts, cacheBytes: 2 ** 28 })
const store = new SharedStore({ store: lmdb, memory, slot: 0, catalog, layouts, cacheBytes: 2 ** 28 })
for (let round = 0; round < 3; round++) {
  time('snapshot+live', () => store.read(s => s.table(employee).live.size))
  time('1000 reads by key', () =>
    store.read(s => {
      const t = s.table(employee)
      let n = 0
      for (let i = 1; i <= 1000; i++) n += t.row(t.findKey(i * 997)!)!.stamp
      return n
    }),
  )
  time('1000 snapshots', () => {
    for (let i = 0; i < 1000; i++) store.read(s => s.table(employee).findKey(i + 1))
  })
}
await environment.close()
