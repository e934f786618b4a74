import t from 'tap'
import type { DataClass } from '../../../../engine/catalog/dataclass.ts'
import { LockTable } from '../../../../engine/write/entity/lock-table.ts'

const dataClass = { tableNumber: 3 } as DataClass
const info = { host: 'localhost', IPAddr: '127.0.0.1', userAgent: '' }
const row = (rowId: number) => ({ dataClass, rowId })

t.test('a lock with an end excludes others until then', t => {
  let now = 1_000
  const locks = new LockTable(() => now)
  t.ok(locks.take(row(1), { owner: 'a', info, lastsMs: 1_000 }))
  t.equal(locks.blocker(dataClass, 1, 'b')?.owner, 'a')
  t.equal(locks.blocker(dataClass, 1, 'a'), undefined)
  now = 2_000
  t.equal(locks.blocker(dataClass, 1, 'b'), undefined)
  t.ok(locks.isEmpty)
  t.end()
})

t.test('only its owner frees a lock, and all of them at the end', t => {
  const locks = new LockTable(() => 0)
  for (const rowId of [1, 2]) locks.take(row(rowId), { owner: 'a', info })
  locks.take(row(3), { owner: 'b', info })
  t.notOk(locks.free(row(1), 'b'))
  t.ok(locks.free(row(1), 'a'))
  t.notOk(locks.free(row(1), 'a'))
  locks.freeAll('a')
  t.equal(locks.blocker(dataClass, 2, undefined), undefined)
  t.equal(locks.blocker(dataClass, 3, undefined)?.owner, 'b')
  t.end()
})

t.test('the locks of one owner are bounded', t => {
  const locks = new LockTable(() => 0)
  for (let rowId = 0; rowId < 10_000; rowId++) locks.take(row(rowId), { owner: 'a', info })
  t.notOk(locks.take(row(10_000), { owner: 'a', info }))
  t.ok(locks.take(row(5), { owner: 'a', info }), 'a lock that it has already')
  t.ok(locks.take(row(10_000), { owner: 'b', info }))
  t.end()
})
