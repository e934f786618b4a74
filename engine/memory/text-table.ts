import type { Workspace } from './pages.ts'
import type { TextKey } from './text-key.ts'
import {
  FREED,
  HASH,
  HEADER_WORDS,
  LENGTH,
  NOT_PLAIN,
  SHARD_SHIFT,
  SHARDS,
  SharedTexts,
  TABLE_ENTRIES,
  TABLE_FILLED,
  TABLE_TEXTS,
} from './text-pool.ts'

const INITIAL_CAPACITY = 16

const textBytes = (byteLength: number): number => HEADER_WORDS * 4 + ((byteLength + 3) & ~3)
const tableBytes = (capacity: number): number => (TABLE_ENTRIES + 2 * capacity) * 4

/** The texts of a memory (`text-pool.ts`) for the writer: counts the rows that have one, frees what no row has any more. */
export class TextTable {
  /** Address of the shards. */
  readonly shards: number
  private readonly texts: SharedTexts
  private readonly words: Uint32Array
  /** Texts without rows that a version may still read, with the sequence as of which they have none. */
  private readonly unused = new Map<number, number>()

  /** @param shards of an image; undefined: there are no texts yet */
  constructor(
    private readonly space: Workspace,
    shards?: number,
  ) {
    this.words = space.heap.words
    this.shards = shards ?? this.newShards()
    this.texts = new SharedTexts(space.heap, this.shards)
  }

  hash(pointer: number): number {
    return this.texts.hash(pointer)
  }

  head(pointer: number): number {
    return this.texts.head(pointer)
  }

  compare(a: number, b: number): number {
    return this.texts.compare(a, b)
  }

  /** The address of a text, which one more row has from now on. @throws {MemoryFull} */
  intern(key: TextKey): number {
    let pointer = this.texts.search(key)
    if (pointer === 0) pointer = this.add(key)
    else this.space.heap.preserve(pointer, 4)
    this.words[pointer >>> 2]!++
    return pointer
  }

  /** One row less has the text, as of the version that is being made. */
  release(pointer: number): void {
    const { heap, reclaimer, sequence } = this.space
    heap.preserve(pointer, 4)
    if (--this.words[pointer >>> 2]! > 0) return
    this.unused.set(pointer, sequence)
    reclaimer.retire(0, sequence, () => this.remove(pointer, sequence))
  }

  private add(key: TextKey): number {
    const { words } = this
    const { heap, allocator } = this.space
    const table = this.roomyTable(key.hash)
    const pointer = allocator.allocate(textBytes(key.byteLength), 'texts')
    const at = pointer >>> 2
    words[at] = 0
    words[at + LENGTH] = key.isPlain ? key.byteLength : key.byteLength + NOT_PLAIN
    words[at + HASH] = key.hash
    const wordCount = (key.byteLength + 3) >>> 2
    for (let i = 0; i < wordCount; i++) words[at + HEADER_WORDS + i] = key.words[i]!
    const entry = this.freeEntry(table, key.hash)
    heap.preserve(entry * 4, 8)
    heap.preserve(table, TABLE_ENTRIES * 4)
    words[entry] = key.hash
    Atomics.store(words, entry + 1, pointer)
    words[(table >>> 2) + TABLE_FILLED]!++
    words[(table >>> 2) + TABLE_TEXTS]!++
    return pointer
  }

  private remove(pointer: number, sequence: number): void {
    const { words } = this
    const { heap, allocator } = this.space
    // It may have got rows again, and lost them again in a later version, which then removes it.
    if (words[pointer >>> 2] !== 0 || this.unused.get(pointer) !== sequence) return
    this.unused.delete(pointer)
    const hash = this.hash(pointer)
    const table = words[this.shardWord(hash)]!
    const entries = (table >>> 2) + TABLE_ENTRIES
    const mask = words[table >>> 2]! - 1
    let i = hash & mask
    while (words[entries + 2 * i + 1] !== pointer) i = (i + 1) & mask
    heap.preserve((entries + 2 * i) * 4, 8)
    heap.preserve(table, TABLE_ENTRIES * 4)
    words[entries + 2 * i + 1] = FREED
    words[(table >>> 2) + TABLE_TEXTS]!--
    allocator.free(pointer, textBytes(words[(pointer >>> 2) + LENGTH]! & ~NOT_PLAIN), 'texts')
  }

  /** The table for a hash, after it has grown when there was no room for one more. Readers may go on with the old one. */
  private roomyTable(hash: number): number {
    const { words } = this
    const { heap, allocator, reclaimer, sequence } = this.space
    const shard = this.shardWord(hash)
    const table = words[shard]!
    const capacity = words[table >>> 2]!
    if (table !== 0 && (words[(table >>> 2) + TABLE_FILLED]! + 1) * 4 <= capacity * 3) return table
    const grown = table === 0 ? this.newTable(INITIAL_CAPACITY) : this.copyOf(table, capacity)
    heap.preserve(shard * 4, 4)
    Atomics.store(words, shard, grown)
    if (table !== 0) reclaimer.retire(0, sequence, () => allocator.free(table, tableBytes(capacity), 'texts'))
    return grown
  }

  /** A table with the same texts and room for as many again. */
  private copyOf(table: number, capacity: number): number {
    const { words } = this
    const texts = words[(table >>> 2) + TABLE_TEXTS]!
    const copy = this.newTable(texts * 2 > capacity ? capacity * 2 : capacity)
    const entries = (table >>> 2) + TABLE_ENTRIES
    for (let at = entries; at < entries + 2 * capacity; at += 2) {
      if (words[at + 1]! <= FREED) continue
      const entry = this.freeEntry(copy, words[at]!)
      words[entry] = words[at]!
      words[entry + 1] = words[at + 1]!
    }
    words[(copy >>> 2) + TABLE_FILLED] = texts
    words[(copy >>> 2) + TABLE_TEXTS] = texts
    return copy
  }

  private freeEntry(table: number, hash: number): number {
    const { words } = this
    const entries = (table >>> 2) + TABLE_ENTRIES
    const mask = words[table >>> 2]! - 1
    let i = hash & mask
    while (words[entries + 2 * i + 1] !== 0) i = (i + 1) & mask
    return entries + 2 * i
  }

  private shardWord(hash: number): number {
    return (this.shards >>> 2) + (hash >>> SHARD_SHIFT)
  }

  private newTable(capacity: number): number {
    const { heap, allocator } = this.space
    const table = allocator.allocate(tableBytes(capacity), 'texts')
    heap.zero(table, tableBytes(capacity))
    this.words[table >>> 2] = capacity
    return table
  }

  private newShards(): number {
    const { heap, allocator } = this.space
    const shards = allocator.allocate(SHARDS * 4, 'texts')
    heap.zero(shards, SHARDS * 4)
    return shards
  }
}
