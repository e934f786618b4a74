import { cpuMicroseconds } from '../../../support/base/cpu.ts'
import t from 'tap'
import {
  type Address,
  addressAt,
  addressOf,
  offsetBy,
  wordAt,
  wordIndex,
} from '../../../../engine/memory/heap/address.ts'
import { Allocator, sizeClass } from '../../../../engine/memory/heap/allocator.ts'
import type { Workspace } from '../../../../engine/memory/heap/pages.ts'
import { candidateCount, candidateRows, PostingIndex } from '../../../../engine/memory/index/posting-index.ts'
import { Reclaimer } from '../../../../engine/memory/heap/reclaimer.ts'
import { createSharedMemory, HEAP_START, SharedHeap } from '../../../../engine/memory/heap/shared-heap.ts'
import { hashNumber, TextKey } from '../../../../engine/memory/text/text-key.ts'
import { SharedTexts } from '../../../../engine/memory/text/text-pool.ts'
import { TextTable } from '../../../../engine/memory/text/text-table.ts'
import { patternMatcher } from '../../../../engine/query/bind/match-value.ts'
import { compareFolded, fold } from '../../../../engine/base/text/fold.ts'
import { randomOf } from '../../../support/base/random.ts'
import { seedOf } from '../../../support/runner/rounds.ts'

function workspace(bytes = 8 * 2 ** 20): Workspace {
  const heap = new SharedHeap(createSharedMemory(bytes)!)
  return { heap, allocator: new Allocator(heap), reclaimer: new Reclaimer(heap), sequence: 1 }
}

/** Publishes a version, as the writer does. */
function publish(space: Workspace): void {
  const root = space.allocator.allocate(8, 'directories')
  space.heap.words[wordIndex(root, 0)] = space.sequence
  space.heap.publish(root, space.sequence)
  space.sequence++
  space.reclaimer.reclaim()
}

t.test('addresses convert to indexes of words and back, and other numbers do not compile as addresses', async t => {
  const { heap, allocator } = workspace()
  const [block, other] = [allocator.allocate(16, 'rows'), allocator.allocate(16, 'rows')]
  heap.words[wordIndex(block, 3)] = other
  t.equal(wordAt(heap.words, offsetBy(block, 8), 1), other)
  t.equal(addressAt(heap.words, block, 3), other)
  t.equal(addressOf(wordIndex(block, 0)), block)
  t.equal(addressOf(2 ** 30 - 1), 2 ** 32 - 4)
  // @ts-expect-error an index of a word is not an address
  const index: Address = wordIndex(block, 0)
  // @ts-expect-error the sum of an address and a length is a plain number
  const sum: Address = block + 8
  t.equal(index * 4 + 8, sum)
})

t.test('a size class wastes at most 1/32', async t => {
  for (let bytes = 1; bytes < 300_000; bytes += 1 + (bytes >> 4)) {
    const size = sizeClass(bytes)
    t.ok(size >= bytes && size % 8 === 0 && size <= Math.max(bytes + 7, bytes * (1 + 1 / 32)), `${bytes} → ${size}`)
  }
})

t.test('a freed block is used again for the same size, and a full memory throws', async t => {
  const { allocator } = workspace(2 ** 20)
  const first = allocator.allocate(1000, 'rows')
  allocator.free(first, 1000, 'rows')
  t.equal(allocator.allocate(1000, 'rows'), first)
  t.throws(() => {
    for (;;) allocator.allocate(10_000, 'rows')
  }, /no room/)
  t.doesNotThrow(() => allocator.allocate(10_000, 'directories'), 'a version can still be made')
})

t.test('blocks of a pinned version are not freed, but blocks that appeared and were retired later are', async t => {
  const space = workspace()
  const freed: string[] = []
  const retire = (born: number, name: string) => space.reclaimer.retire(born, space.sequence, () => freed.push(name))
  publish(space)
  space.heap.pin(0)
  const pinned = space.sequence - 1
  retire(pinned, 'old')
  publish(space)
  retire(space.sequence - 1, 'between')
  publish(space)
  t.strictSame(freed, ['between'])
  retire(0, 'everywhere')
  publish(space)
  t.strictSame(freed, ['between'])
  space.heap.unpin(0)
  publish(space)
  t.strictSame(freed.sort(), ['between', 'everywhere', 'old'])
})

t.test('slots of threads that have ended are freed', async t => {
  const { heap } = workspace()
  t.equal(heap.claimSlot(7), 0)
  t.equal(heap.claimSlot(8), 1)
  const root = offsetBy(HEAP_START, 64)
  heap.words[wordIndex(root, 0)] = 1
  heap.publish(root, 1)
  heap.pin(1)
  heap.freeSlotsOfOthers(thread => thread === 7)
  t.strictSame(heap.pinned(), [])
  t.equal(heap.claimSlot(9), 1)
})

t.test('sequences wrap around', async t => {
  const space = workspace()
  space.sequence = 0xffffffff
  publish(space)
  space.heap.pin(0)
  let isFreed = false
  space.sequence = 1
  space.reclaimer.retire(0xfffffffe, space.sequence, () => {
    isFreed = true
  })
  publish(space)
  t.notOk(isFreed)
  space.heap.unpin(0)
  publish(space)
  t.ok(isFreed)
})

t.test('a posting index lists added rows, and removed ones for readers of older versions', async t => {
  const space = workspace()
  const index = new PostingIndex(space)
  const random = randomOf(seedOf(5))
  const model = new Map<number, Set<number>>()
  // Two values with one hash are two runs; 0 stands for null.
  const runs = [0, ...Array.from({ length: 100 }, (_, value) => hashNumber(value)), hashNumber(7), hashNumber(8)]
  const initial = runs.flatMap((hash, run) =>
    Array.from({ length: random.integer(1, 9) }, (_, i) => ({ hash, rowId: 1000 + run * 10 + i })),
  )
  for (const { hash, rowId } of initial) {
    if (hash !== 0) model.set(hash, (model.get(hash) ?? new Set()).add(rowId))
  }
  index.build(
    Uint32Array.from(initial, ({ rowId }) => rowId),
    Uint32Array.from(initial, ({ hash }) => hash),
  )
  publish(space)
  for (let i = 0; i < 5000; i++) {
    const hash = hashNumber(random.integer(0, 300))
    const rows = model.get(hash) ?? new Set<number>()
    model.set(hash, rows)
    const rowId = random.integer(0, 40)
    if (rows.delete(rowId)) index.remove(hash, rowId)
    else {
      rows.add(rowId)
      index.add(hash, rowId)
    }
    if (i % 7 === 0) publish(space)
  }
  publish(space)
  for (const [hash, rows] of model) {
    const found = candidateRows(space.heap, index.table, hash)!
    t.strictSame([...found].sort(), [...rows].sort())
    t.equal(candidateCount(space.heap, index.table, hash), rows.size)
  }
  space.heap.pin(0)
  const { table } = index
  const [hash, rows] = [...model].find(([, each]) => each.size > 0)!
  for (const rowId of rows) index.remove(hash, rowId)
  publish(space)
  t.strictSame(new Set(candidateRows(space.heap, table, hash)), rows)
  space.heap.unpin(0)
  publish(space)
  t.equal(candidateRows(space.heap, index.table, hash)!.length, 0)
})

t.test('a value of too many rows is left to the column', async t => {
  const space = workspace()
  const rowIds = Uint32Array.from({ length: 9000 }, (_, rowId) => rowId)
  const added = new PostingIndex(space)
  added.build(new Uint32Array(0), new Uint32Array(0))
  for (const rowId of rowIds) added.add(1, rowId)
  const built = new PostingIndex(space)
  built.build(rowIds, new Uint32Array(9000).fill(1))
  built.add(1, 9000)
  const extended = new PostingIndex(space)
  extended.build(new Uint32Array(0), new Uint32Array(0))
  extended.add(1, 0)
  // More than a call can have arguments.
  extended.addAll(
    1,
    Uint32Array.from({ length: 200_000 }, (_, i) => i + 1),
  )
  for (const { table } of [added, built, extended]) {
    t.equal(candidateRows(space.heap, table, 1), undefined)
    t.equal(candidateCount(space.heap, table, 1), Number.POSITIVE_INFINITY)
  }
})

t.test('rows of one value are listed whether they are added alone or together', async t => {
  const space = workspace()
  const index = new PostingIndex(space)
  index.build(new Uint32Array(0), new Uint32Array(0))
  const rowIds: number[] = []
  for (const count of [1, 3, 1, 2, 100, 1, 4_000]) {
    const added = Uint32Array.from({ length: count }, (_, i) => rowIds.length + i)
    index.addAll(5, added)
    rowIds.push(...added)
    t.strictSame(
      [...candidateRows(space.heap, index.table, 5)!].sort((a, b) => a - b),
      rowIds,
    )
  }
})

t.test('a text pool finds, orders and matches texts as strings are', async t => {
  const space = workspace()
  const table = new TextTable(space)
  const random = randomOf(seedOf(6))
  const letters = ['a', 'b', 'z', 'é', 'ß', 'Σ', '\u0000', '\u0001', '\uffff', '😀', ' ', '"', '\\']
  const text = (max = 9) => Array.from({ length: random.integer(0, max) }, () => random.pick(letters)).join('')
  const folded = [...new Set(Array.from({ length: 400 }, () => fold(text())))]
  const key = new TextKey()
  const pointers = folded.map(each => {
    const json = Buffer.from(JSON.stringify(each))
    const at = space.allocator.allocate(json.length, 'rows')
    space.heap.bytes.set(json, at)
    return table.intern(key.setJson(space.heap, at + 1, at + json.length - 1))
  })
  t.equal(new Set(pointers).size, folded.length)
  const texts = new SharedTexts(space.heap, table.shards)
  for (const [i, each] of folded.entries()) {
    t.equal(texts.find(each), pointers[i])
    t.equal(texts.text(pointers[i]!), each)
    const other = random.integer(0, folded.length - 1)
    const expected = compareFolded(each, folded[other]!)
    t.equal(Math.sign(texts.compare(pointers[i]!, pointers[other]!)), expected)
    t.equal(Math.sign(texts.comparerTo(folded[other]!)(pointers[i]!)), expected)
    const heads = texts.head(pointers[i]!) - texts.head(pointers[other]!)
    t.ok(heads === 0 || Math.sign(heads) === expected)
    const isPlain = (part: string) => [...part].every(letter => letter.charCodeAt(0) > 2)
    const parts = [each.slice(0, random.integer(0, 2)), fold(text(1)), each.slice(-random.integer(1, 2))]
    if (parts.every(isPlain)) {
      t.equal(texts.patternTest(parts)(pointers[other]!), patternMatcher(parts)(folded[other]!), JSON.stringify(parts))
      t.equal(texts.patternTest([parts[0]!, ''])(pointers[i]!), true)
    }
  }
  t.equal(texts.find('not there'), 0)
  const used = space.allocator.usedBytes
  for (const pointer of pointers) table.release(pointer)
  publish(space)
  t.ok(space.allocator.usedBytes < used)
  t.equal(new SharedTexts(space.heap, table.shards).find(folded[0]!), 0)
})

t.test('patterns match what regular expressions match, when parts nearly fit in many places', async t => {
  const random = randomOf(seedOf(7))
  // Long runs of one letter, so that parts nearly fit in many places.
  const run = (max: number) => 'a'.repeat(random.integer(0, max)) + (random.integer(0, 2) === 0 ? 'b' : '')
  const text = (runs: number, max: number) => Array.from({ length: runs }, () => run(max)).join('')
  const ends = ['a', 'b', '']
  for (let i = 0; i < 300; i++) {
    // One long part in the middle: regular expressions would backtrack over several. V8 takes longer for more than 250 letters.
    const parts =
      i % 2 === 0
        ? [random.pick(ends), text(3, 300), random.pick(ends)]
        : Array.from({ length: random.integer(2, 4) }, () => text(random.integer(0, 2), 3))
    const whole = i % 2 === 0 ? text(9, 300) + (i % 4 === 0 ? parts.join('') : '') : text(random.integer(0, 9), 3)
    const expected = new RegExp(`^${parts.join('.*')}$`).test(whole)
    const { texts, pointer } = poolOf(whole)
    const found = [patternMatcher(parts)(whole), texts.patternTest(parts)(pointer)]
    if (found.some(each => each !== expected)) t.same(found, [expected, expected], JSON.stringify([whole, parts]))
  }
})

t.test('the search for a part takes time in proportion to the text, however often it nearly fits', async t => {
  const whole = 'a'.repeat(400_000)
  const { texts, pointer } = poolOf(whole)
  const time = (length: number) => {
    const parts = ['', `b${'a'.repeat(length)}`, '']
    const others = ['', `${'a'.repeat(length)}b`, '']
    const tests = [parts, others].map(each => [patternMatcher(each), texts.patternTest(each)] as const)
    return cpuMicroseconds(() => {
      for (const [matches, passes] of tests) t.notOk(matches(whole) || passes(pointer))
    })
  }
  time(1_000)
  const [short, long] = [time(260), time(26_000)]
  t.ok(long < 20 * short, `${short} and ${long} µs for a part that is 100 times as long`)
})

/** A pool with one text. */
function poolOf(text: string): { texts: SharedTexts; pointer: number } {
  const space = workspace()
  const table = new TextTable(space)
  const json = Buffer.from(JSON.stringify(text))
  const at = space.allocator.allocate(json.length, 'rows')
  space.heap.bytes.set(json, at)
  const pointer = table.intern(new TextKey().setJson(space.heap, at + 1, at + json.length - 1))
  return { texts: new SharedTexts(space.heap, table.shards), pointer }
}

t.test('a hash table of rows is never more than three quarters full', async t => {
  const space = workspace()
  const index = new PostingIndex(space)
  index.build(new Uint32Array(), new Uint32Array())
  for (let rowId = 0; rowId < 5_000; rowId++) {
    index.add(hashNumber(rowId) || 1, rowId)
    const { filled, capacity } = index.state
    if (filled * 4 > capacity * 3) t.fail(`${filled} of ${capacity}: a search for a missing value takes long`)
  }
  t.equal(index.state.capacity, 8192)
})

t.test('a reader finds all remaining rows when a removal and insertions run at any point of its read', async t => {
  const load = Atomics.load
  t.teardown(() => {
    Atomics.load = load
  })
  for (let pause = 0; pause < 24; pause++) {
    for (let removed = 0; removed < 8; removed++) {
      const space = workspace(2 ** 20)
      const index = new PostingIndex(space)
      index.build(
        Uint32Array.from({ length: 8 }, (_, i) => i),
        new Uint32Array(8).fill(7),
      )
      // The order in which a processor copies is unknown. From the start is the worst.
      const { words } = space.heap
      const slice = (start: number, end: number) =>
        Uint32Array.from({ length: end - start }, (_, i) => Atomics.load(words, start + i))
      Object.assign(words, { slice })
      let loads = 0
      Atomics.load = ((words: Uint32Array, at: number) => {
        if (loads++ === pause) {
          Atomics.load = load
          index.remove(7, removed)
          publish(space)
          index.add(7, 100)
          index.add(7, 101)
        }
        return load(words, at)
      }) as typeof Atomics.load
      const found = candidateRows(space.heap, index.table, 7)!
      Atomics.load = load
      const missed = [0, 1, 2, 3, 4, 5, 6, 7].filter(rowId => rowId !== removed && !found.includes(rowId))
      if (missed.length > 0) t.same(missed, [], `${removed} removed before load ${pause}`)
    }
  }
  t.pass('every interleaving')
})
