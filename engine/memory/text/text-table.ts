import { type Address, addressAt, addressOf, NO_ADDRESS, wordAt, wordIndex } from '../heap/address.ts'
import type { Workspace } from '../heap/pages.ts'
import type { TextKey } from './text-key.ts'
import {
  byteLengthOf,
  FREED,
  firstWord,
  HASH,
  HEADER_WORDS,
  LENGTH,
  NOT_PLAIN,
  ROWS,
  SHARD_SHIFT,
  SHARDS,
  SharedTexts,
  TABLE_CAPACITY,
  TABLE_ENTRIES,
  TABLE_FILLED,
  TABLE_TEXTS,
  wordCount,
} from './text-pool.ts'

const INITIAL_CAPACITY = 16

const textBytes = (byteLength: number): number => (HEADER_WORDS + wordCount(byteLength)) * 4
const tableBytes = (capacity: number): number => (TABLE_ENTRIES + 2 * capacity) * 4

/** The texts of a memory (`text-pool.ts`) for the writer: counts the rows that have each text, frees unused ones. */
export class TextTable {
  /** Address of the shards. */
  readonly shards: Address
  /** The texts for reading. */
  readonly pool: SharedTexts
  private readonly words: Uint32Array
  /** Texts without rows that a version may still read, with the sequence as of which they have none. */
  private readonly unusedTexts = new Map<Address, number>()

  /** @param shards from an image; undefined if there are no texts yet */
  constructor(
    private readonly space: Workspace,
    shards?: Address,
  ) {
    this.words = space.heap.words
    this.shards = shards ?? this.newShards()
    this.pool = new SharedTexts(space.heap, this.shards)
  }

  /** Interns a text for one more row. @returns its address @throws {MemoryFull} */
  intern(key: TextKey): Address {
    let text = this.pool.search(key)
    if (text === 0) text = this.add(key)
    else this.space.heap.preserve(text, 4)
    this.words[wordIndex(text, ROWS)]!++
    return text
  }

  /** Counts one row fewer for a text, as of the version that is being created. */
  release(text: Address): void {
    const { heap, reclaimer, sequence } = this.space
    heap.preserve(text, 4)
    if (--this.words[wordIndex(text, ROWS)]! > 0) return
    this.unusedTexts.set(text, sequence)
    reclaimer.retire(0, sequence, () => this.remove(text, sequence))
  }

  private add(key: TextKey): Address {
    const { words } = this
    const { heap, allocator } = this.space
    const table = this.roomyTable(key.hash)
    const text = allocator.allocate(textBytes(key.byteLength), 'texts')
    words[wordIndex(text, ROWS)] = 0
    words[wordIndex(text, LENGTH)] = key.isPlain ? key.byteLength : key.byteLength + NOT_PLAIN
    words[wordIndex(text, HASH)] = key.hash
    const at = firstWord(text)
    const count = wordCount(key.byteLength)
    for (let i = 0; i < count; i++) words[at + i] = key.words[i]!
    const entry = this.entryWith(table, key.hash, NO_ADDRESS)
    heap.preserve(addressOf(entry), 8)
    heap.preserve(table, TABLE_ENTRIES * 4)
    words[entry] = key.hash
    Atomics.store(words, entry + 1, text)
    words[wordIndex(table, TABLE_FILLED)]!++
    words[wordIndex(table, TABLE_TEXTS)]!++
    return text
  }

  private remove(text: Address, sequence: number): void {
    const { words } = this
    const { heap, allocator } = this.space
    // The text may have been reused and released again in a later version, which then removes it.
    if (wordAt(words, text, ROWS) !== 0 || this.unusedTexts.get(text) !== sequence) return
    this.unusedTexts.delete(text)
    const hash = this.pool.hash(text)
    const table = this.tableOf(hash)
    const entry = this.entryWith(table, hash, text)
    heap.preserve(addressOf(entry), 8)
    heap.preserve(table, TABLE_ENTRIES * 4)
    words[entry + 1] = FREED
    words[wordIndex(table, TABLE_TEXTS)]!--
    allocator.free(text, textBytes(byteLengthOf(words, text)), 'texts')
  }

  /** The table for a hash, with room for one more text: it grows if necessary. Readers may continue with the old one. */
  private roomyTable(hash: number): Address {
    const { words } = this
    const { heap, allocator, reclaimer, sequence } = this.space
    const table = this.tableOf(hash)
    const capacity = wordAt(words, table, TABLE_CAPACITY)
    if (table !== 0 && (wordAt(words, table, TABLE_FILLED) + 1) * 4 <= capacity * 3) return table
    const grown = table === 0 ? this.newTable(INITIAL_CAPACITY) : this.copyOf(table, capacity)
    const shard = wordIndex(this.shards, hash >>> SHARD_SHIFT)
    heap.preserve(addressOf(shard), 4)
    Atomics.store(words, shard, grown)
    if (table !== 0) reclaimer.retire(0, sequence, () => allocator.free(table, tableBytes(capacity), 'texts'))
    return grown
  }

  /** A table with the same texts and room for as many again. */
  private copyOf(table: Address, capacity: number): Address {
    const { words } = this
    const texts = wordAt(words, table, TABLE_TEXTS)
    const copy = this.newTable(texts * 2 > capacity ? capacity * 2 : capacity)
    const entries = wordIndex(table, TABLE_ENTRIES)
    for (let at = entries; at < entries + 2 * capacity; at += 2) {
      if (words[at + 1]! <= FREED) continue
      const entry = this.entryWith(copy, words[at]!, NO_ADDRESS)
      words[entry] = words[at]!
      words[entry + 1] = words[at + 1]!
    }
    words[wordIndex(copy, TABLE_FILLED)] = texts
    words[wordIndex(copy, TABLE_TEXTS)] = texts
    return copy
  }

  /** Index of the first word of the entry of a text, or with {@link NO_ADDRESS} of the first free one. */
  private entryWith(table: Address, hash: number, text: Address): number {
    const { words } = this
    const entries = wordIndex(table, TABLE_ENTRIES)
    const mask = wordAt(words, table, TABLE_CAPACITY) - 1
    let i = hash & mask
    while (words[entries + 2 * i + 1] !== text) i = (i + 1) & mask
    return entries + 2 * i
  }

  /** The table for a hash, {@link NO_ADDRESS} as long as there is none. */
  private tableOf(hash: number): Address {
    return addressAt(this.words, this.shards, hash >>> SHARD_SHIFT)
  }

  private newTable(capacity: number): Address {
    const { heap, allocator } = this.space
    const table = allocator.allocate(tableBytes(capacity), 'texts')
    heap.zero(table, tableBytes(capacity))
    this.words[wordIndex(table, TABLE_CAPACITY)] = capacity
    return table
  }

  private newShards(): Address {
    const { heap, allocator } = this.space
    const shards = allocator.allocate(SHARDS * 4, 'texts')
    heap.zero(shards, SHARDS * 4)
    return shards
  }
}
