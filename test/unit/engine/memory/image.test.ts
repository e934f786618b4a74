import assert from 'node:assert/strict'
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { FILE_START, GRANULE_BYTES } from '../../../../engine/memory/image/image-format.ts'
import { HEAP_START } from '../../../../engine/memory/heap/shared-heap.ts'
import { VECTOR_LAYOUT } from '../../../../engine/memory/heap/vector-heap.ts'
import { SEGMENT_ROWS, type VectorSegment } from '../../../../engine/data/snapshot.ts'
import { blockOf, sketchBytes, sketchesBytes, writeSketch } from '../../../../engine/vector/math/sketch.ts'
import { randomOf } from '../../../support/base/random.ts'
import { testModel } from '../../../support/fixtures/every-type.ts'
import { vectorModel } from '../../../support/engine/vector-items.ts'
import type { RowWriter } from '../../../support/engine/write-rows.ts'
import { randomChanges } from './random-changes.ts'
import { type MemoryWorld, openMemoryWorld, picture } from '../../../support/engine/shared-memory.ts'
import { isLong, seedOf } from '../../../support/runner/rounds.ts'
import { modelWith } from '../../../support/fixtures/model-with.ts'

const DIMENSION = 64
const FAST = Number.POSITIVE_INFINITY
const never = new AbortController().signal

const imagesOf = ({ path }: MemoryWorld): string[] => readdirSync(path).filter(name => name.endsWith('.image'))

/** Content of the memory as readers see it, and of LMDB. */
function pictures({ rows, reader }: MemoryWorld): [unknown, unknown] {
  const { dataClasses } = rows.catalog
  const fromMemory = reader(63).read(snapshot => picture(snapshot, dataClasses))
  return [fromMemory, rows.open().read(snapshot => picture(snapshot, dataClasses))]
}

function sameAsLmdb(t: Test, world: MemoryWorld, message: string): void {
  const [found, expected] = pictures(world)
  t.ok(world.heap.isBuilt, `${message}: is in memory`)
  assert.deepStrictEqual(found, expected)
  t.pass(message)
}

t.test(
  'a memory restored from an image that was taken during commits equals LMDB after each further commit',
  async t => {
    for (const seed of isLong ? [1, 2, 3, 4] : [1, 2]) {
      const random = randomOf(seed)
      const world = openMemoryWorld(t, testModel)
      const change = randomChanges(random)
      for (let i = 0; i < 12; i++) world.commit(change)
      world.fill()
      for (let round = 0; round < 5; round++) {
        const before = Buffer.from(world.heap.bytes)
        const saved = world.writer.saveImage(FAST, never)
        // The file is opened meanwhile: these commits run after the state of the image, and before most of it is copied.
        for (let i = random.integer(0, 6); i > 0; i--) world.commit(change)
        t.equal(await saved, true)
        const [name, ...others] = imagesOf(world)
        t.strictSame(others, [], 'there is one image')
        t.ok(isImageOf(readFileSync(join(world.path, name!)), before), `seed ${seed}, round ${round}: byte for byte`)
        for (let i = random.integer(0, 2); i > 0; i--) world.commit(change)
        await world.reopen()
        t.match(world.notes.at(-1), /comes from its image/)
        sameAsLmdb(t, world, `seed ${seed}, round ${round}: reopened`)
        world.commit(change)
        sameAsLmdb(t, world, `seed ${seed}, round ${round}: a commit later`)
      }
    }
  },
)

t.test('rows that change again while an image is brought up to date are ordered correctly', async t => {
  const attributes = {
    ID: { type: 'long' },
    size: { type: 'long', indexed: true },
    name: { type: 'string', indexed: true },
  }
  const world = openMemoryWorld(t, modelWith({ Thing: attributes }))
  const thing = (ID: number, round: number) => ({ ID, size: (ID * 7 + round * 5) % 31, name: `${(ID + round) % 13}` })
  const rowIds: number[] = []
  world.commit(write => {
    for (let ID = 0; ID < 20; ID++) rowIds.push(write.insert('Thing', thing(ID, 0)))
  })
  world.fill()
  t.equal(await world.writer.saveImage(FAST, never), true)
  world.commit(write => {
    for (let ID = 20; ID < 30; ID++) rowIds.push(write.insert('Thing', thing(ID, 0)))
    for (let ID = 5; ID < 15; ID++) write.update('Thing', rowIds[ID]!, thing(ID, 1))
    // Enough changes for commits to run between them.
    for (let i = 0; i < 1_100; i++) write.update('Thing', rowIds[0]!, thing(0, i))
  })
  let isLoaded = false
  const loaded = world.reopen().then(() => {
    isLoaded = true
  })
  let round = 2
  for (; !isLoaded; round++) {
    world.commit(write => {
      for (let ID = 5; ID < 30; ID += 2) write.update('Thing', rowIds[ID]!, thing(ID, round))
    })
    await new Promise(setImmediate)
  }
  await loaded
  t.match(world.notes.at(-1), /comes from its image/)
  sameAsLmdb(t, world, `after ${round} commits`)
})

/** True if the file restores `memory`, which was copied when the image was taken. */
function isImageOf(file: Buffer, memory: Buffer): boolean {
  const count = file.readDoubleLE(8)
  const changed = file.readDoubleLE(16)
  const imageEnd = FILE_START + count * GRANULE_BYTES
  const image = Buffer.from(file.subarray(FILE_START, imageEnd))
  const granules = imageEnd + changed * GRANULE_BYTES + count * 4
  for (let i = 0; i < changed; i++) {
    const granule = file.readUInt32LE(granules + i * 4)
    image.set(file.subarray(imageEnd + i * GRANULE_BYTES, imageEnd + (i + 1) * GRANULE_BYTES), granule * GRANULE_BYTES)
  }
  // The bytes after the last block are undefined.
  const bytes = (count - 1) * GRANULE_BYTES
  return image.subarray(0, bytes).equals(memory.subarray(HEAP_START, HEAP_START + bytes))
}

t.test(
  'an image that is damaged, cut off, of another store or too old is not used, and the memory is filled',
  async t => {
    const damages: [string, RegExp, (file: string, world: MemoryWorld) => void][] = [
      ['a flipped bit in the memory', /damaged at/, file => flip(file, FILE_START + 5000)],
      ['a flipped bit in the description', /description is damaged/, file => flip(file, -2)],
      ['a flipped bit in a size', /bytes, and not|description is damaged/, file => flip(file, 9)],
      ['another format', /format/, file => flip(file, 4)],
      ['no header', /not complete/, file => writeFileSync(file, Buffer.alloc(100_000))],
      ['an empty file', /ends at/, file => truncateSync(file, 0)],
      ['half a file', /bytes, and not/, file => truncateSync(file, 50_000)],
      [
        'an image of another id',
        /another store/,
        (file, world) => {
          const other = readFileSync(file)
          const id = file.slice(-42, -6)
          const at = other.indexOf(id)
          t.ok(at > 0)
          world.rows.environment.meta.putSync('memoryImage', { id: `${id.slice(0, -1)}${id.endsWith('0') ? 1 : 0}` })
          writeFileSync(file.replace(id, `${id.slice(0, -1)}${id.endsWith('0') ? 1 : 0}`), other)
        },
      ],
      ['no change log left', /what has changed/, (_, { rows }) => rows.environment.changes.clearSync()],
    ]
    for (const [name, note, damage] of damages) {
      const world = openMemoryWorld(t, testModel)
      const change = randomChanges(randomOf(seedOf(7)))
      for (let i = 0; i < 20; i++) world.commit(change)
      world.fill()
      t.equal(await world.writer.saveImage(FAST, never), true)
      world.commit(change)
      damage(join(world.path, imagesOf(world)[0]!), world)
      world.commitOnly(change)
      await world.reopen()
      t.match(world.notes.at(-1), /cannot be used.*filled/, name)
      t.match(world.notes.at(-1), note, name)
      t.equal(world.heap.isBuilt, false)
      world.fill()
      sameAsLmdb(t, world, name)
      world.commit(change)
      sameAsLmdb(t, world, `${name}, a commit later`)
    }
  },
)

function flip(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes[at < 0 ? bytes.length + at : at]! ^= 1
  writeFileSync(file, bytes)
}

t.test('an unfinished image is ignored, and the one before is used', async t => {
  const world = openMemoryWorld(t, testModel)
  const change = randomChanges(randomOf(seedOf(8)))
  for (let i = 0; i < 20; i++) world.commit(change)
  world.fill()
  t.equal(await world.writer.saveImage(FAST, never), true)
  const images = imagesOf(world)
  world.commit(change)
  const stopped = new AbortController()
  stopped.abort()
  await t.rejects(world.writer.saveImage(FAST, stopped.signal), /stopped/)
  t.strictSame(imagesOf(world), images, 'nothing is left of it')
  t.equal(world.heap.image, undefined)
  // Left by kill -9.
  writeFileSync(join(world.path, 'memory-0000.image'), 'half')
  await world.reopen()
  t.match(world.notes.at(-1), /comes from its image, with [1-9]/)
  t.strictSame(imagesOf(world), images, 'leftovers are removed')
  sameAsLmdb(t, world, 'reopened')
})

t.test('no image is taken while a reader holds replaced blocks', async t => {
  const world = openMemoryWorld(t, testModel)
  const change = randomChanges(randomOf(seedOf(9)))
  for (let i = 0; i < 20; i++) world.commit(change)
  world.fill()
  const reader = world.reader(0)
  const snapshot = reader.snapshot()
  world.commit(change)
  t.equal(await world.writer.saveImage(FAST, never), false)
  snapshot.release()
  t.equal(await world.writer.saveImage(FAST, never), true)
})

t.test('an image of another size of the memory or another model is not used', async t => {
  const world = openMemoryWorld(t, testModel)
  // Shared by all commits, since it tracks the keys that are taken.
  const change = randomChanges(randomOf(seedOf(10)))
  for (let i = 0; i < 5; i++) world.commit(change)
  world.fill()
  t.equal(await world.writer.saveImage(FAST, never), true)
  await world.reopen(32 * 2 ** 20)
  t.match(world.notes.at(-1), /another model or size/)
  world.fill()
  sameAsLmdb(t, world, 'filled')
})

t.test('an image has the sketches of when it was taken, although they change in place while it is written', async t => {
  for (const seed of [1, 2, 3]) {
    const random = randomOf(seed)
    const vectors: number[][] = []
    const vector = () => Array.from({ length: DIMENSION }, () => random.integer(-9, 9))
    const world = openMemoryWorld(t, vectorModel({ dimension: DIMENSION, hnsw: {} }))
    const put = (write: RowWriter, ID: number, embedding = vector()) => {
      if (ID < vectors.length) write.update('Item', ID, { ID, embedding })
      else write.insert('Item', { ID, embedding })
      vectors[ID] = embedding
    }
    const change = (write: RowWriter) => {
      for (let i = 0; i < 5; i++) put(write, random.integer(0, vectors.length - 1))
      put(write, vectors.length)
    }
    world.commit(write => {
      for (let ID = 0; ID < 300; ID++) put(write, ID)
    })
    world.fill()
    const before = Buffer.from(world.heap.bytes)
    const expected = sketchesOf(vectors)
    const saved = world.writer.saveImage(FAST, never)
    // Also changes the header, far away, which holds the length of the longest vector.
    world.commit(write => put(write, 300, new Array<number>(DIMENSION).fill(99)))
    world.commit(change)
    t.notSame(sketchesIn(world, 300), expected, 'the sketches changed meanwhile')
    t.equal(await saved, true)
    t.ok(isImageOf(readFileSync(join(world.path, imagesOf(world)[0]!)), before), `seed ${seed}: byte for byte`)
    world.commit(change)
    await world.reopen()
    t.match(world.notes.at(-1), /comes from its image, with 13 later changes/)
    t.strictSame(sketchesIn(world, vectors.length), sketchesOf(vectors), `seed ${seed}: reopened`)
    world.commit(change)
    t.strictSame(sketchesIn(world, vectors.length), sketchesOf(vectors), `seed ${seed}: a commit later`)
  }
})

/** Sketches of the first rows in the memory. */
function sketchesIn(world: MemoryWorld, rows: number): string[] {
  return world.reader(0).read(snapshot => {
    const [dataClass] = world.rows.catalog.dataClasses
    const segment = snapshot
      .table(dataClass!)
      .column(world.rows.attribute('Item', 'embedding'))
      .segment(0) as VectorSegment
    const { words, bytes } = world.heap
    return columnsOf(bytes, words[(segment.page!.address + VECTOR_LAYOUT.vectorSketches) >>> 2]!, rows)
  })
}

/** Sketches of these vectors, freshly written. */
function sketchesOf(vectors: readonly number[][]): string[] {
  const bytes = Buffer.alloc(sketchesBytes(DIMENSION, SEGMENT_ROWS))
  for (const [row, vector] of vectors.entries()) writeSketch(Float32Array.from(vector), 0, DIMENSION, bytes, 0, row)
  return columnsOf(bytes, 0, vectors.length)
}

function columnsOf(bytes: Buffer, sketches: number, rows: number): string[] {
  const size = sketchBytes(DIMENSION)
  return Array.from({ length: rows }, (_, row) => {
    const { address } = blockOf(sketches, row, size)
    return Buffer.from(Array.from({ length: size }, (_, i) => bytes[address + 32 * i + (row % 32)]!)).toString('hex')
  })
}
