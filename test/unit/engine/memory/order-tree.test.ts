import t from 'tap'
import { wordIndex } from '../../../../engine/memory/heap/address.ts'
import { Allocator } from '../../../../engine/memory/heap/allocator.ts'
import { positionOf, rowCountOf, rowsBetween } from '../../../../engine/memory/index/order-tree.ts'
import { OrderWriter } from '../../../../engine/memory/index/order-writer.ts'
import type { Workspace } from '../../../../engine/memory/heap/pages.ts'
import { Reclaimer } from '../../../../engine/memory/heap/reclaimer.ts'
import { createSharedMemory, SharedHeap } from '../../../../engine/memory/heap/shared-heap.ts'
import { sortRows } from '../../../../engine/memory/index/sort-rows.ts'
import { type Random, randomOf } from '../../../support/base/random.ts'
import { seedOf } from '../../../support/runner/rounds.ts'

function workspace(bytes: number): Workspace {
  const heap = new SharedHeap(createSharedMemory(bytes)!)
  return { heap, allocator: new Allocator(heap), reclaimer: new Reclaimer(heap), sequence: 1 }
}

function publish(space: Workspace): void {
  const root = space.allocator.allocate(8, 'directories')
  space.heap.words[wordIndex(root, 0)] = space.sequence
  space.heap.publish(root, space.sequence)
  space.sequence++
  space.reclaimer.reclaim()
}

/** A tree and a plain map of the same rows. */
class Model {
  readonly values = new Map<number, number>()
  private highest = Number.NEGATIVE_INFINITY
  readonly tree: OrderWriter

  constructor(
    readonly space: Workspace,
    rows: readonly (readonly [number, number])[] = [],
  ) {
    this.tree = new OrderWriter(space)
    for (const [rowId, value] of rows) {
      this.values.set(rowId, value)
      this.highest = Math.max(this.highest, rowId)
    }
    const rowIds = Uint32Array.from(this.values.keys()).sort()
    this.tree.build(sortRows(rowIds, rowId => this.values.get(rowId), undefined))
  }

  insert(rowId: number, value: number): void {
    this.insertAll([[rowId, value]])
  }

  insertAll(rows: readonly (readonly [number, number])[]): void {
    const { highest } = this
    for (const [rowId, value] of rows) {
      this.values.set(rowId, value)
      this.highest = Math.max(this.highest, rowId)
    }
    const rowIds = Uint32Array.from(rows, ([rowId]) => rowId).sort()
    this.tree.insert(
      sortRows(rowIds, rowId => this.values.get(rowId), undefined),
      rowId => this.upTo(rowId),
      (previous, rowId) => previous > highest && this.values.get(previous) === this.values.get(rowId),
    )
  }

  remove(rowId: number): void {
    this.tree.remove(this.upTo(rowId))
    this.values.delete(rowId)
  }

  expected(): number[] {
    return [...this.values.keys()].sort((a, b) => this.values.get(a)! - this.values.get(b)! || a - b)
  }

  all(root = this.tree.root): number[] {
    return [...rowsBetween(this.space.heap, root, 0, rowCountOf(this.space.heap.words, root))]
  }

  private upTo(rowId: number) {
    const value = this.values.get(rowId)!
    return (other: number) => (this.values.get(other)! - value || other - rowId) <= 0
  }
}

function change(model: Model, random: Random, count: number): void {
  for (let i = 0; i < count; i++) {
    const rowId = random.integer(0, 20_000)
    if (model.values.has(rowId)) model.remove(rowId)
    else model.insert(rowId, random.integer(0, 50))
  }
}

t.test('a tree keeps its rows in order after inserts and removals, and so does every earlier version', async t => {
  const random = randomOf(seedOf(1))
  const space = workspace(64 * 2 ** 20)
  const model = new Model(
    space,
    Array.from({ length: 9_000 }, (_, i) => [i * 2, random.integer(0, 50)]),
  )
  t.equal(String(model.all()), String(model.expected()))
  for (let version = 0; version < 40; version++) {
    publish(space)
    space.heap.pin(0)
    const before = { root: model.tree.root, rows: model.all() }
    change(model, random, 500)
    t.equal(String(model.all()), String(model.expected()), `version ${version}`)
    publish(space)
    change(model, random, 100)
    publish(space)
    t.equal(String(model.all(before.root)), String(before.rows), 'the pinned version')
    space.heap.unpin(0)
  }
  const rows = model.expected()
  for (let i = 0; i < 200; i++) {
    const start = random.integer(0, rows.length)
    const end = Math.min(rows.length, start + random.integer(0, 600))
    t.strictSame([...rowsBetween(space.heap, model.tree.root, start, end)], rows.slice(start, end))
    const value = random.integer(-1, 51)
    t.equal(
      positionOf(space.heap, model.tree.root, rowId => model.values.get(rowId)! < value),
      rows.filter(rowId => model.values.get(rowId)! < value).length,
    )
  }
})

t.test(
  'rows that are inserted together are placed in order among others, and earlier versions do not have them',
  async t => {
    const random = randomOf(seedOf(3))
    const space = workspace(64 * 2 ** 20)
    const model = new Model(
      space,
      Array.from({ length: 3_000 }, (_, i) => [i, random.integer(0, 400)]),
    )
    let rowId = 3_000
    // Few and many, spread over the values, of one value, before and after all others.
    for (const [count, low, high] of [
      [1, 0, 400],
      [300, 200, 200],
      [2_000, 0, 400],
      [3, -1, -1],
      [700, -9, -2],
      [900, 401, 900],
      [5_000, -20, 1_000],
      [10, 1_001, 1_001],
    ] as const) {
      publish(space)
      space.heap.pin(0)
      const before = { root: model.tree.root, rows: model.all() }
      model.insertAll(Array.from({ length: count }, () => [rowId++, random.integer(low, high)]))
      t.equal(String(model.all()), String(model.expected()), `${count} of ${low} to ${high}`)
      t.equal(String(model.all(before.root)), String(before.rows), 'the pinned version')
      const value = random.integer(low, high)
      t.equal(
        positionOf(space.heap, model.tree.root, other => model.values.get(other)! < value),
        model.expected().filter(other => model.values.get(other)! < value).length,
      )
      space.heap.unpin(0)
    }
    for (const other of model.expected().filter(other => other % 3 > 0)) model.remove(other)
    t.equal(String(model.all()), String(model.expected()))
  },
)

t.test('a tree that is emptied frees its memory, and accepts rows again', async t => {
  const space = workspace(16 * 2 ** 20)
  const model = new Model(space)
  publish(space)
  const used = space.allocator.usedBytes
  for (const [from, step] of [
    [0, 1],
    [7_000, -1],
  ] as const) {
    for (let i = 0; i < 7_000; i++) model.insert(i, (from + i * step) % 1_000)
    t.equal(String(model.all()), String(model.expected()))
    const random = randomOf(seedOf(2))
    for (const rowId of model.expected().sort(() => random.integer(0, 1) - 0.5)) model.remove(rowId)
    t.strictSame(model.all(), [])
    publish(space)
    t.ok(space.allocator.usedBytes - used < 64, 'one leaf is left')
  }
})

t.test('insertion in ascending order leaves full nodes', async t => {
  const space = workspace(16 * 2 ** 20)
  const model = new Model(space)
  for (let i = 0; i < 100_000; i++) model.insert(i, i)
  publish(space)
  t.ok(space.allocator.usedBytes < 100_000 * 4.4)
})

t.test('a tree can be cleared after the memory was full', async t => {
  const space = workspace(2 ** 20)
  publish(space)
  const used = space.allocator.usedBytes
  const model = new Model(space)
  t.throws(() => {
    for (let i = 0; ; i++) {
      model.insert(i, (i * 7919) % 1_000)
      if (i % 50 === 0) publish(space)
    }
  }, /no room/)
  model.tree.clear()
  publish(space)
  publish(space)
  t.ok(space.allocator.usedBytes - used < 2 ** 18)
  t.throws(
    () =>
      new Model(
        space,
        Array.from({ length: 300_000 }, (_, i) => [i, i]),
      ),
    /no room/,
  )
  publish(space)
  t.ok(space.allocator.usedBytes - used < 2 ** 18, 'nothing is left of the unfinished tree')
})

t.test('rows are sorted by values even where their heads are equal', async t => {
  const texts = { head: (text: number) => text >>> 4, compare: (a: number, b: number) => a - b }
  const values = Array.from({ length: 3_000 }, (_, i) => (i % 11 === 0 ? undefined : (i * 7919) % 257))
  const rowIds = Uint32Array.from(values.keys())
  const byValue = (of: readonly (number | bigint | undefined)[]) => (a: number, b: number) =>
    of[a] === of[b] ? a - b : of[a] === undefined || (of[b] !== undefined && of[a]! < of[b]!) ? -1 : 1
  t.strictSame([...sortRows(rowIds, rowId => values[rowId], texts)], [...rowIds].sort(byValue(values)))
  const big = values.map(value => (value === undefined ? value : 2n ** 62n + BigInt(value)))
  t.strictSame([...sortRows(rowIds, rowId => big[rowId], undefined)], [...rowIds].sort(byValue(big)))
})
