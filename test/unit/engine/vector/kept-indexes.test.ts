import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import hnswlib from 'hnswlib-node'
import t, { type Test } from 'tap'
import { nearestRows } from '../../../../engine/query/execute/nearest-rows.ts'
import { QueryBudget } from '../../../../engine/query/scan/query-budget.ts'
import type { Snapshot } from '../../../../engine/data/snapshot.ts'
import { KeptIndexes } from '../../../../engine/vector/index/kept-indexes.ts'
import { IndexStatus } from '../../../../engine/data/vector-index.ts'
import { randomOf } from '../../../support/base/random.ts'
import { vectorModel } from '../../../support/engine/vector-items.ts'
import { createRowStore } from '../../../support/engine/write-rows.ts'

const DIMENSION = 12
const ROWS = 1_200
const random = randomOf(3)

const centres = Array.from({ length: 10 }, () => numbers(1_000))
function numbers(most: number): number[] {
  return Array.from({ length: DIMENSION }, () => random.integer(-most, most) / 1000)
}
function vector(): number[] {
  const others = numbers(300)
  return random.pick(centres).map((number, i) => Math.fround(number + others[i]!))
}

/** A store with its vector indexes, driven by the test. */
class World {
  readonly store
  readonly embedding
  readonly rows
  notes: string[] = []
  private indexes!: KeptIndexes
  private nextKey = 0

  constructor(
    private readonly path: string,
    m = 12,
  ) {
    this.rows = createRowStore(path, vectorModel({ dimension: DIMENSION, metric: 'euclidean', hnsw: { m, ef: 150 } }))
    this.store = this.rows.open()
    this.embedding = this.rows.attribute('Item', 'embedding')
  }

  async open(): Promise<void> {
    const { catalog } = this.rows
    const options = { minRows: 500, recall: 0.5, always: true, folder: this.path }
    const status = new IndexStatus(catalog, IndexStatus.allocate(catalog))
    this.notes = []
    this.indexes = new KeptIndexes(catalog, hnswlib, options, status, note => this.notes.push(note))
    await this.indexes.load()
  }

  insert(count: number): number[] {
    const ids: number[] = []
    this.rows.commit(write => {
      for (let i = 0; i < count; i++) ids.push(write.insert('Item', { ID: ++this.nextKey, embedding: vector() }))
    })
    return ids
  }

  /** Does some work on a snapshot. @returns true if there is more to do */
  workOn(snapshot: Snapshot): boolean {
    this.indexes.catchUp(this.rows.records, snapshot)
    const budget = new QueryBudget()
    return this.indexes.work(
      snapshot,
      (table, attribute) => (vector, count) => nearestRows(table, attribute, vector, count, { snapshot, budget }),
      Number.POSITIVE_INFINITY,
    )
  }

  workUntilDone(): void {
    while (this.read(snapshot => this.workOn(snapshot)));
  }

  read<T>(work: (snapshot: Snapshot) => T): T {
    const snapshot = this.store.snapshot()
    try {
      return work(snapshot)
    } finally {
      snapshot.release()
    }
  }

  nearest(to: readonly number[], count: number): { near: readonly number[]; unknown: readonly number[] } {
    return this.indexes.find('Item', 'embedding')!.nearest!(Float32Array.from(to), count)
  }

  get isUsable(): boolean {
    return this.indexes.find('Item', 'embedding') !== undefined
  }

  vectorOf(rowId: number): number[] {
    return this.read(snapshot => [
      ...(snapshot.table(this.embedding.dataClass).row(rowId)!.value(this.embedding) as number[]),
    ])
  }

  /** Share of the 20 nearest neighbours of random vectors that the index finds. */
  recall(): number {
    let found = 0
    for (let i = 0; i < 40; i++) {
      const to = vector()
      const exact = this.read(snapshot => {
        const context = { snapshot, budget: new QueryBudget() }
        const table = snapshot.table(this.embedding.dataClass)
        return [...nearestRows(table, this.embedding, Float32Array.from(to), 20, context)]
      })
      const { near, unknown } = this.nearest(to, 20)
      found += exact.filter(rowId => near.includes(rowId) || unknown.includes(rowId)).length
    }
    return found / 800
  }

  async save(): Promise<void> {
    await this.indexes.save()
  }

  close(): Promise<void> {
    return this.rows.environment.close()
  }
}

async function open(t: Test): Promise<World> {
  const world = new World(t.testdir({}))
  t.teardown(() => world.close())
  await world.open()
  return world
}

t.test('changes after a snapshot are indexed with a later one', async t => {
  const world = await open(t)
  world.insert(ROWS)
  world.workUntilDone()
  const before = world.store.snapshot()
  const [rowId] = world.insert(1)
  world.rows.commit(write => write.update('Item', 5, { ID: 6, embedding: vector() }))
  world.workOn(before)
  before.release()
  t.same(world.nearest(vector(), 1).unknown, [rowId, 5], 'the rows are known to have changed')
  world.workUntilDone()
  for (const each of [rowId!, 5]) {
    t.match(world.nearest(world.vectorOf(each), 1), { near: [each], unknown: [] }, 'it is found at its current place')
  }
})

t.test('an index that is begun on a snapshot includes later rows', async t => {
  const world = await open(t)
  world.insert(ROWS)
  const before = world.store.snapshot()
  const [rowId] = world.insert(1)
  world.workOn(before)
  before.release()
  world.workUntilDone()
  t.match(world.nearest(world.vectorOf(rowId!), 1), { near: [rowId], unknown: [] })
})

t.test('pending rows are in every search, and deleted rows are not found', async t => {
  const world = await open(t)
  const ids = world.insert(ROWS)
  world.workUntilDone()
  const added = world.insert(3)
  world.rows.commit(write => write.delete('Item', ids[0]!))
  world.read(snapshot => world.workOn(snapshot))
  const { near, unknown } = world.nearest(vector(), ROWS + 10)
  t.equal(near.includes(ids[0]!), false)
  for (const rowId of added) t.equal(near.includes(rowId) || unknown.includes(rowId), true)
})

t.test('the index is rebuilt after many deletions', async t => {
  const world = await open(t)
  const ids = world.insert(ROWS)
  world.workUntilDone()
  t.equal(world.notes.length, 1)
  world.rows.commit(write => {
    for (const rowId of ids.slice(0, 250)) write.delete('Item', rowId)
  })
  world.workUntilDone()
  t.equal(world.notes.length, 1, 'not for a few')
  world.rows.commit(write => {
    for (const rowId of ids.slice(250, 400)) write.delete('Item', rowId)
  })
  world.workUntilDone()
  t.match(world.notes, [/is ready/, /is ready/])
  t.ok(world.recall() > 0.97, String(world.recall()))
})

t.test('vectors that change again and again are still found', async t => {
  const world = await open(t)
  const ids = world.insert(ROWS)
  world.workUntilDone()
  for (let round = 0; round < 8; round++) {
    world.rows.commit(write => {
      for (const [i, rowId] of ids.entries()) write.update('Item', rowId, { ID: i + 1, embedding: vector() })
    })
    world.workUntilDone()
  }
  t.ok(world.recall() > 0.97, String(world.recall()))
})

t.test('a vector that is removed and set again is found', async t => {
  const world = await open(t)
  const ids = world.insert(ROWS)
  world.workUntilDone()
  for (const value of [null, 'again'] as const) {
    world.rows.commit(write => {
      for (const rowId of ids.slice(0, 100)) {
        write.update('Item', rowId, { ID: rowId + 1, embedding: value === null ? null : vector() })
      }
    })
    world.workUntilDone()
  }
  for (const rowId of ids.slice(0, 100)) t.same(world.nearest(world.vectorOf(rowId), 1).near, [rowId])
})

const filesOf = (path: string): { description: string; graph: string } => {
  const files = readdirSync(path).filter(name => name.startsWith('vectors-'))
  const find = (ending: string) => join(path, files.find(name => name.endsWith(ending))!)
  return { description: find('.json'), graph: find('.hnsw') }
}

t.test('an index is loaded from its file, with later changes', async t => {
  const world = await open(t)
  const ids = world.insert(ROWS)
  world.workUntilDone()
  await world.save()
  world.rows.commit(write => {
    write.delete('Item', ids[0]!)
    write.update('Item', ids[1]!, { ID: 2, embedding: vector() })
  })
  const [added] = world.insert(1)
  await world.open()
  t.match(world.notes, [/comes from its file/])
  t.equal(world.isUsable, true)
  world.workUntilDone()
  for (const rowId of [ids[1]!, added!]) t.same(world.nearest(world.vectorOf(rowId), 1).near, [rowId])
  t.equal(world.nearest(vector(), ROWS).near.includes(ids[0]!), false)
})

t.test('an unusable file is logged, and made again', async t => {
  const path = t.testdir({})
  const world = new World(path)
  t.teardown(() => world.close())
  await world.open()
  world.insert(ROWS)
  world.workUntilDone()
  await world.save()
  const { description, graph } = filesOf(path)
  for (const file of [description, graph])
    t.equal((statSync(file).mode & 0o077).toString(8), '0', 'accessible to its owner only')
  const saved = { description: readFileSync(description), graph: readFileSync(graph) }
  const change = (edit: (json: Record<string, unknown>) => void): void => {
    const json = JSON.parse(saved.description.toString())
    edit(json)
    writeFileSync(description, JSON.stringify(json))
  }
  for (const [name, damage, note] of [
    ['a description that is cut', () => truncateSync(description, 40), /JSON/],
    ['one that is empty', () => truncateSync(description, 0), /JSON/],
    ['one that is something else', () => writeFileSync(description, 'null'), /cannot be used/],
    ['one of another format', () => change(json => (json.format = 99)), /another model/],
    ['one of another model', () => change(json => (json.fingerprint = '[3,"dot",8,100]')), /another model/],
    ['one with another stamp', () => change(json => (json.stamp = ROWS - 1)), /damaged/],
    [
      'one with other pending rows',
      () => change(json => (json.graph = { beside: [], waiting: [1], deleted: [] })),
      /damaged/,
    ],
    [
      'one that leads out of the folder',
      () => change(json => (json.id = '/../../../../etc/hostname')),
      /cannot be used/,
    ],
    ['a graph that is missing', () => rmSync(graph), /ENOENT/],
    ['a graph that is cut', () => truncateSync(graph, 1_000), /damaged/],
    ['an empty graph', () => truncateSync(graph, 0), /damaged/],
    [
      'a graph with another byte',
      () =>
        writeFileSync(
          graph,
          saved.graph.map((byte, i) => (i === 5_000 ? byte ^ 1 : byte)),
        ),
      /damaged/,
    ],
    [
      'both in place of each other',
      () => {
        writeFileSync(description, saved.graph)
        writeFileSync(graph, saved.description)
      },
      /cannot be used/,
    ],
  ] as const) {
    await t.test(name, async t => {
      writeFileSync(description, saved.description)
      writeFileSync(graph, saved.graph)
      damage()
      await world.open()
      t.match(world.notes, [note])
      t.equal(world.isUsable, false, 'it is not used')
      world.workUntilDone()
      t.equal(world.isUsable, true)
      t.ok(world.recall() > 0.97)
    })
  }
  await t.test('no file, without a note', async t => {
    rmSync(description, { force: true })
    await world.open()
    t.same(world.notes, [])
  })
})

t.test('a file of a later state than the store is not used, now or later', async t => {
  const path = t.testdir({})
  const world = new World(path)
  await world.open()
  world.insert(ROWS)
  world.workUntilDone()
  await world.save()
  const { description, graph } = filesOf(path)
  const saved = { description: readFileSync(description), graph: readFileSync(graph) }
  await world.close()

  const other = t.testdir({})
  const restored = new World(other)
  t.teardown(() => restored.close())
  restored.insert(ROWS / 2)
  writeFileSync(description, saved.description)
  writeFileSync(graph, saved.graph)
  await restored.open()
  restored.workUntilDone()
  t.match(restored.notes, [/comes from its file/, /is ready/])
  t.equal(existsSync(description), false, 'it would match again after as many changes')
  t.ok(restored.recall() > 0.97)
})
