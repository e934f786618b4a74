import t from 'tap'
import { createSharedMemory } from '../../../../engine/memory/heap/shared-heap.ts'
import { MemoryWriter } from '../../../../engine/memory/writer/memory-writer.ts'
import { LmdbWritable } from '../../../../engine/storage/lmdb-writable.ts'
import { inTurn } from '../../../support/runner/rounds.ts'
import type { RowWriter } from '../../../support/engine/write-rows.ts'
import { BinaryValue } from '../../../../engine/catalog/value.ts'
import { testModel } from '../../../support/fixtures/every-type.ts'
import { openMemoryWorld, picture } from '../../../support/engine/shared-memory.ts'

const insertPeople = (from: number, count: number) => (write: RowWriter) => {
  for (let id = from; id < from + count; id++) {
    write.insert('Person', {
      ID: id,
      name: `name ${id % 50}`,
      nick: `nick ${id}`,
      secret: 'x'.repeat(200),
      age: id % 90,
    })
  }
}

for (const kib of inTurn([256, 512, 1024, 2048, 4096, 16384], 2)) {
  t.test(`rows that do not fit in ${kib} KiB are read from LMDB, with equal results`, async t => {
    const world = openMemoryWorld(t, testModel, kib * 1024)
    const { dataClasses } = world.rows.catalog
    const lmdb = world.rows.open()
    const reader = world.reader(0)
    const verify = (message: string) =>
      t.strictSame(
        reader.read(snapshot => picture(snapshot, dataClasses)),
        lmdb.read(snapshot => picture(snapshot, dataClasses)),
        message,
      )
    world.commit(write => write.insert('Company', { code: 'acme', name: 'Acme' }))
    world.commit(insertPeople(0, 500))
    world.fill()
    verify('filled')
    for (let round = 1; round < 8; round++) {
      world.commit(insertPeople(round * 500, 300))
      world.fill()
      world.commit(write => {
        for (let rowId = 0; rowId < 100; rowId++) {
          write.update('Person', rowId + round, {
            ID: rowId + round,
            name: `changed ${round}`,
            nick: `nick ${rowId + round}`,
          })
        }
      })
      world.fill()
    }
    verify('after it has grown')
  })
}

t.test('memory is provided for the next large commit, up to the end of a full one', async t => {
  const world = openMemoryWorld(t, testModel, 8 * 2 ** 20)
  world.commit(write => write.insert('Company', { code: 'acme', name: 'Acme' }))
  world.fill()
  let isProvided = false
  for (let round = 0; round < 5; round++) {
    world.commit(insertPeople(round * 7_000, 7_000))
    let count = 0
    for (; world.writer.isShort && count < 1_000; count++) world.writer.provide()
    isProvided ||= count > 0
    t.ok(count < 1_000, `commit ${round}: ${count} times`)
  }
  t.ok(isProvided)
})

t.test('reads from LMDB see the same commit as the rest of the query', async t => {
  const world = openMemoryWorld(t, testModel)
  const photo = world.rows.attribute('Person', 'photo')
  const person = world.rows.dataClass('Person')
  world.commit(write =>
    write.insert('Person', { ID: 1, age: 1, photo: new BinaryValue('image/png', Uint8Array.of(1)) }),
  )
  world.fill()
  const reader = world.reader(0)
  let runs = 0
  const ages: unknown[] = []
  let publish = () => {}
  const bytes = reader.read(snapshot => {
    runs++
    const table = snapshot.table(person)
    ages.push(table.row(0)!.value(world.rows.attribute('Person', 'age')))
    // Another commit is made between the two reads; its version is published during the next attempt.
    if (runs === 1) {
      publish = world.commitOnly(write =>
        write.update('Person', 0, { ID: 1, age: 2, photo: new BinaryValue('image/png', Uint8Array.of(2)) }),
      )
    } else publish()
    return [...(table.binary(0, photo)!.content as Uint8Array)]
  })
  t.equal(runs, 2)
  t.strictSame([ages.at(-1), bytes], [2, [2]])
})

t.test('work that swallows a failed read from LMDB is repeated', async t => {
  const world = openMemoryWorld(t, testModel)
  const photo = world.rows.attribute('Person', 'photo')
  const person = world.rows.dataClass('Person')
  world.commit(write => write.insert('Person', { ID: 1 }))
  world.fill()
  const reader = world.reader(0)
  let publish = world.commitOnly(write => write.insert('Person', { ID: 2 }))
  const answer = reader.read(snapshot => {
    try {
      return snapshot.table(person).binary(0, photo) ?? 'no photo'
    } catch {
      publish()
      publish = () => {}
      return 'swallowed'
    }
  })
  t.equal(answer, 'no photo')
})

t.test('a memory that is no longer kept up to date is not read until it has been filled again', async t => {
  const world = openMemoryWorld(t, testModel)
  const { environment, catalog } = world.rows
  const store = new LmdbWritable(environment, world.rows)
  const { dataClasses } = catalog
  const lmdb = world.rows.open()
  const reader = world.reader(0)
  const same = (message: string) =>
    t.strictSame(
      reader.read(snapshot => picture(snapshot, dataClasses)),
      lmdb.read(snapshot => picture(snapshot, dataClasses)),
      message,
    )
  world.commit(insertPeople(0, 100))
  world.fill()
  same('filled')
  world.heap.invalidate()
  world.commitOnly(insertPeople(100, 100))
  same('invalidated')
  const next = new MemoryWriter({ memory: world.memory, store, folder: world.path })
  while (next.isBuilding) next.build(1)
  t.ok(world.heap.isBuilt)
  same('filled again')
})

t.test('the log says while many rows are read into memory, and what has no room there', t => {
  const world = openMemoryWorld(t, testModel)
  world.commit(insertPeople(0, 2_000))
  const store = new LmdbWritable(world.rows.environment, world.rows)
  const fill = (kib: number, notedRows?: number) => {
    const notes: string[] = []
    const memory = createSharedMemory(kib * 1024)!
    const onNote = (text: string, level = 'info') => void notes.push(`${level}: ${text.replace(/\d+ ms/, 'N ms')}`)
    const writer = new MemoryWriter({ memory, store, folder: world.path, onNote, ...(notedRows && { notedRows }) })
    while (writer.isBuilding) writer.build(1)
    return notes
  }
  t.strictSame(fill(65_536), [])
  t.strictSame(fill(65_536, 2_000), [
    'info: reading 2,000 rows into memory: queries are slower until this is done',
    'info: 2,000 rows were read into memory: N ms',
  ])
  t.strictSame(fill(256), [
    'warn: there is no room in memory for Person: their queries read the disk; raise storage.memoryBytes',
  ])
  t.end()
})
