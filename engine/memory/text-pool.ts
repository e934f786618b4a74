import type { TextPool } from '../storage/snapshot.ts'
import type { Workspace } from './pages.ts'
import type { SharedHeap } from './shared-heap.ts'
import { decodeText, TextKey } from './text-key.ts'

/**
 * Folded texts in shared memory, each once, whatever dataclass and attribute they are of:
 *
 * ```
 * u32 number of rows that have it
 * u32 length in bytes; the highest bit when the bytes are not plain ASCII
 * u32 hash
 * bytes as in TextKey, zeros up to the next word
 * ```
 *
 * The address of a text stands for it. Addresses are found by a hash table with open addressing: a word for its capacity,
 * then entries, 0 for a free one and 1 for one that was freed.
 */
const LENGTH = 1
const HASH = 2
const HEADER_WORDS = 3
const NOT_PLAIN = 0x80000000
const TABLE_HEADER_WORDS = 2
const FREED = 1

/** For the kernels, which look into texts. */
export const TEXT_LAYOUT = { textLength: LENGTH * 4, textBytes: HEADER_WORDS * 4 }

const textBytes = (byteLength: number): number => HEADER_WORDS * 4 + ((byteLength + 3) & ~3)
const tableBytes = (capacity: number): number => (TABLE_HEADER_WORDS + capacity) * 4

/** Reads texts, with the table that belongs to a version of the memory. */
export class SharedTexts implements TextPool {
  private readonly key = new TextKey()
  private readonly words: Uint32Array

  constructor(
    private readonly heap: SharedHeap,
    /** Address of the hash table; that of an older version finds what this version has. */
    public table: number,
  ) {
    this.words = heap.words
  }

  find(folded: string): number {
    return this.search(this.key.setText(folded))
  }

  search(key: TextKey): number {
    return this.words[this.entryOf(key)]!
  }

  /** Where the pointer of a text is in the table, or the free place where it would be. */
  entryOf(key: TextKey): number {
    const { words } = this
    const entries = (this.table >>> 2) + TABLE_HEADER_WORDS
    const mask = words[this.table >>> 2]! - 1
    for (let i = key.hash & mask; ; i = (i + 1) & mask) {
      const pointer = words[entries + i]!
      if (pointer === 0 || (pointer !== FREED && this.has(pointer, key))) return entries + i
    }
  }

  text(pointer: number): string {
    const length = this.words[(pointer >>> 2) + LENGTH]!
    const start = pointer + HEADER_WORDS * 4
    if (length < NOT_PLAIN) return this.heap.bytes.toString('latin1', start, start + length)
    return decodeText(this.heap.bytes, start, start + length - NOT_PLAIN)
  }

  /** The first six bytes: as many as a double holds exactly. */
  head(pointer: number): number {
    const at = (pointer >>> 2) + HEADER_WORDS
    const count = this.wordCount(pointer)
    if (count === 0) return 0
    return bigEndian(this.words[at]!) * 2 ** 16 + (count === 1 ? 0 : bigEndian(this.words[at + 1]!) >>> 16)
  }

  compare(a: number, b: number): number {
    if (a === b) return 0
    const { words } = this
    let left = (a >>> 2) + HEADER_WORDS
    let right = (b >>> 2) + HEADER_WORDS
    const leftEnd = left + this.wordCount(a)
    const rightEnd = right + this.wordCount(b)
    for (; left < leftEnd && right < rightEnd; left++, right++) {
      if (words[left] !== words[right]) return bigEndian(words[left]!) - bigEndian(words[right]!)
    }
    return leftEnd - left - (rightEnd - right)
  }

  comparerTo(folded: string): (pointer: number) => number {
    const key = new TextKey().setText(folded)
    const keyWords = (key.byteLength + 3) >>> 2
    return pointer => {
      const { words } = this
      const at = (pointer >>> 2) + HEADER_WORDS
      const count = this.wordCount(pointer)
      for (let i = 0; i < count && i < keyWords; i++) {
        if (words[at + i] !== key.words[i]) return bigEndian(words[at + i]!) - bigEndian(key.words[i]!)
      }
      return count - keyWords
    }
  }

  prefixComparer(folded: string): (pointer: number) => number {
    const key = new TextKey().setText(folded).copyBytes()
    const { bytes } = this.heap
    return pointer => {
      const at = pointer + HEADER_WORDS * 4
      const length = Math.min(key.length, this.words[(pointer >>> 2) + LENGTH]! & ~NOT_PLAIN)
      for (let i = 0; i < length; i++) if (bytes[at + i] !== key[i]) return bytes[at + i]! - key[i]!
      return length - key.length
    }
  }

  encode(folded: string): Uint8Array {
    return this.key.setText(folded).copyBytes()
  }

  /** On bytes: the encoding of a code unit is never a part of another one's. */
  patternTest(parts: readonly string[]): (pointer: number) => boolean {
    const { bytes } = this.heap
    const [first, ...others] = parts.map(part => this.encode(part))
    const last = others.pop()!
    const between = others.filter(part => part.length > 0)
    return pointer => {
      let at = pointer + HEADER_WORDS * 4
      const end = at + (this.words[(pointer >>> 2) + LENGTH]! & ~NOT_PLAIN) - last.length
      if (at + first!.length > end || !isAt(bytes, at, first!)) return false
      at += first!.length
      // Taking the first place for each part is enough.
      for (const part of between) {
        at = this.findPart(at, end, part)
        at += part.length
      }
      return at <= end && isAt(bytes, end, last)
    }
  }

  /** The first place of `part` from `at` to `end`, else one behind. Four bytes at a time until its first byte is there. */
  private findPart(at: number, end: number, part: Uint8Array): number {
    const { bytes } = this.heap
    const wanted = Math.imul(part[0]!, 0x01010101)
    for (; at <= end; at++) {
      if ((at & 3) === 0) {
        for (; at <= end; at += 4) {
          const word = this.words[at >>> 2]! ^ wanted
          if ((word - 0x01010101) & ~word & 0x80808080) break
        }
      }
      if (bytes[at] === part[0] && isAt(bytes, at, part)) break
    }
    return at
  }

  hash(pointer: number): number {
    return this.words[(pointer >>> 2) + HASH]!
  }

  private wordCount(pointer: number): number {
    return ((this.words[(pointer >>> 2) + LENGTH]! & ~NOT_PLAIN) + 3) >>> 2
  }

  private has(pointer: number, key: TextKey): boolean {
    const { words } = this
    const at = pointer >>> 2
    if (words[at + HASH] !== key.hash || (words[at + LENGTH]! & ~NOT_PLAIN) !== key.byteLength) return false
    const count = (key.byteLength + 3) >>> 2
    for (let i = 0; i < count; i++) if (words[at + HEADER_WORDS + i] !== key.words[i]) return false
    return true
  }
}

/** What is behind the text that is looked at has no part of it: a text ends with zeros, or where another begins. */
function isAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false
  return true
}

/** Of words whose bytes are compared from the first on. */
function bigEndian(word: number): number {
  const swapped = ((word & 0xff00ff00) >>> 8) | ((word & 0x00ff00ff) << 8)
  return ((swapped >>> 16) | (swapped << 16)) >>> 0
}

const INITIAL_CAPACITY = 1024

/** What an image keeps of {@link TextTable}. */
export interface TextTableState {
  table: number
  capacity: number
  filled: number
  count: number
}

/** The same for the writer: counts the rows that have a text, and frees what no row has any more. */
export class TextTable {
  private readonly texts: SharedTexts
  private readonly words: Uint32Array
  private capacity: number
  /** Entries that are not free: texts and traces of freed ones. */
  private filled: number
  private count: number
  /** Texts without rows that a version may still read, with the sequence as of which they have none. */
  private readonly unused = new Map<number, number>()

  constructor(
    private readonly space: Workspace,
    state?: TextTableState,
  ) {
    this.words = space.heap.words
    this.capacity = state?.capacity ?? INITIAL_CAPACITY
    this.filled = state?.filled ?? 0
    this.count = state?.count ?? 0
    this.texts = new SharedTexts(space.heap, state?.table ?? this.newTable(INITIAL_CAPACITY))
  }

  get state(): TextTableState {
    const { table, capacity, filled, count } = this
    return { table, capacity, filled, count }
  }

  /** Address of the hash table; changes when it grows. */
  get table(): number {
    return this.texts.table
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
    let entry = this.texts.entryOf(key)
    let pointer = this.words[entry]!
    if (pointer === 0) {
      if ((this.filled + 1) * 2 > this.capacity) {
        this.rebuild()
        entry = this.texts.entryOf(key)
      }
      pointer = this.add(key, entry)
    } else this.space.heap.preserve(pointer, 4)
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

  private add(key: TextKey, entry: number): number {
    const { words } = this
    const pointer = this.space.allocator.allocate(textBytes(key.byteLength), 'texts')
    const at = pointer >>> 2
    words[at] = 0
    words[at + LENGTH] = key.isPlain ? key.byteLength : key.byteLength + NOT_PLAIN
    words[at + HASH] = key.hash
    const wordCount = (key.byteLength + 3) >>> 2
    for (let i = 0; i < wordCount; i++) words[at + HEADER_WORDS + i] = key.words[i]!
    this.space.heap.preserve(entry * 4, 4)
    Atomics.store(words, entry, pointer)
    this.filled++
    this.count++
    return pointer
  }

  private remove(pointer: number, sequence: number): void {
    // It may have got rows again, and lost them again in a later version, which then removes it.
    if (this.words[pointer >>> 2] !== 0 || this.unused.get(pointer) !== sequence) return
    this.unused.delete(pointer)
    const entries = (this.table >>> 2) + TABLE_HEADER_WORDS
    const mask = this.capacity - 1
    let i = this.hash(pointer) & mask
    while (this.words[entries + i] !== pointer) i = (i + 1) & mask
    this.space.heap.preserve((entries + i) * 4, 4)
    this.words[entries + i] = FREED
    this.count--
    const bytes = textBytes(this.words[(pointer >>> 2) + LENGTH]! & ~NOT_PLAIN)
    this.space.allocator.free(pointer, bytes, 'texts')
  }

  /** A new table with the same texts and room for as many again. Readers of older versions keep the old one. */
  private rebuild(): void {
    const { table, capacity } = this
    const { allocator, reclaimer, sequence } = this.space
    const grown = this.count * 4 > capacity ? capacity * 2 : capacity
    const address = this.newTable(grown)
    const entries = (table >>> 2) + TABLE_HEADER_WORDS
    for (let i = 0; i < capacity; i++) {
      const pointer = this.words[entries + i]!
      if (pointer > FREED) this.words[this.freeEntry(address, grown, this.hash(pointer))] = pointer
    }
    this.texts.table = address
    this.capacity = grown
    this.filled = this.count
    reclaimer.retire(0, sequence, () => allocator.free(table, tableBytes(capacity), 'texts'))
  }

  private freeEntry(table: number, capacity: number, hash: number): number {
    const entries = (table >>> 2) + TABLE_HEADER_WORDS
    const mask = capacity - 1
    let i = hash & mask
    while (this.words[entries + i] !== 0) i = (i + 1) & mask
    return entries + i
  }

  private newTable(capacity: number): number {
    const table = this.space.allocator.allocate(tableBytes(capacity), 'texts')
    const start = table >>> 2
    this.words[start] = capacity
    this.words.fill(0, start + TABLE_HEADER_WORDS, start + TABLE_HEADER_WORDS + capacity)
    return table
  }
}
