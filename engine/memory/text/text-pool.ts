import type { TextPool } from '../../data/snapshot.ts'
import { type Address, NO_ADDRESS, wordAt, wordIndex } from '../heap/address.ts'
import type { SharedHeap } from '../heap/shared-heap.ts'
import { bordersOf } from '../../base/text/find-part.ts'
import { decodeText, TextKey } from './text-key.ts'

/**
 * Folded texts in shared memory, each stored once for all dataclasses and attributes:
 *
 * ```
 * u32 number of rows that have it
 * u32 length in bytes; the highest bit when the bytes are not plain ASCII
 * u32 hash
 * bytes as in TextKey, zeros up to the next word
 * ```
 *
 * The address of a text stands for it. Addresses are found by {@link SHARDS} hash tables with open addressing, each for the
 * texts whose hashes begin alike, so that none of them takes long to grow:
 *
 * ```
 * shards: address of each table, 0 for one that has had no text yet
 * table:  u32 capacity, u32 entries that are not free, u32 texts, u32 0; entries of two words: hash, and the address of
 *         its text, 0 for a free one and FREED for one that was freed
 * ```
 */
export const ROWS = 0
export const LENGTH = 1
export const HASH = 2
export const HEADER_WORDS = 3
export const NOT_PLAIN = 0x80000000

export const SHARDS = 256
/** Shift from a hash to the number of its shard. The place in the table comes from the lowest bits. */
export const SHARD_SHIFT = 24
export const TABLE_CAPACITY = 0
export const TABLE_FILLED = 1
export const TABLE_TEXTS = 2
export const TABLE_ENTRIES = 4
export const FREED = 1

/** Offsets for the kernels, which read texts. */
export const TEXT_LAYOUT = { textLength: LENGTH * 4, textBytes: HEADER_WORDS * 4 }

/** Length of a text in bytes. */
export const byteLengthOf = (words: Uint32Array, text: Address): number => words[(text >>> 2) + LENGTH]! & ~NOT_PLAIN

/** Number of words of some bytes, and of a text. */
export const wordCount = (byteLength: number): number => (byteLength + 3) >>> 2
const wordCountOf = (words: Uint32Array, text: Address): number =>
  ((words[(text >>> 2) + LENGTH]! & ~NOT_PLAIN) + 3) >>> 2

/** Index of the first word, and of the first byte, that a text has after its header. */
export const firstWord = (text: Address): number => (text >>> 2) + HEADER_WORDS
const firstByte = (text: Address): number => text + HEADER_WORDS * 4

/** The pointers of a {@link TextPool} are the addresses of its texts. */
const byPointer = <T>(of: (text: Address) => T): ((pointer: number) => T) => of as (pointer: number) => T

/** Reads texts, with the table that belongs to a version of the memory. */
export class SharedTexts implements TextPool {
  private readonly key = new TextKey()
  private readonly words: Uint32Array

  constructor(
    private readonly heap: SharedHeap,
    /** Address of the shards; an address from an older version also finds the texts of this version. */
    public shards: Address,
  ) {
    this.words = heap.words
  }

  find(foldedText: string): Address {
    return this.search(this.key.setText(foldedText))
  }

  /** The address of a text, or {@link NO_ADDRESS}. */
  search(key: TextKey): Address {
    const { words } = this
    const table = Atomics.load(words, wordIndex(this.shards, key.hash >>> SHARD_SHIFT)) as Address
    if (table === 0) return NO_ADDRESS
    const entries = wordIndex(table, TABLE_ENTRIES)
    const mask = wordAt(words, table, TABLE_CAPACITY) - 1
    for (let i = key.hash & mask; ; i = (i + 1) & mask) {
      const text = words[entries + 2 * i + 1]! as Address
      if (text === 0 || (text !== FREED && words[entries + 2 * i] === key.hash && this.has(text, key))) return text
    }
  }

  text(text: Address): string {
    const length = wordAt(this.words, text, LENGTH)
    const start = firstByte(text)
    if (length < NOT_PLAIN) return this.heap.bytes.toString('latin1', start, start + length)
    return decodeText(this.heap.bytes, start, start + length - NOT_PLAIN)
  }

  byteLength(text: Address): number {
    return byteLengthOf(this.words, text)
  }

  /** The first six bytes: as many as a double holds exactly. */
  head(text: Address): number {
    const at = firstWord(text)
    const count = wordCountOf(this.words, text)
    if (count === 0) return 0
    return bigEndian(this.words[at]!) * 2 ** 16 + (count === 1 ? 0 : bigEndian(this.words[at + 1]!) >>> 16)
  }

  compare(a: Address, b: Address): number {
    if (a === b) return 0
    const { words } = this
    let left = firstWord(a)
    let right = firstWord(b)
    const leftEnd = left + wordCountOf(words, a)
    const rightEnd = right + wordCountOf(words, b)
    for (; left < leftEnd && right < rightEnd; left++, right++) {
      if (words[left] !== words[right]) return bigEndian(words[left]!) - bigEndian(words[right]!)
    }
    return leftEnd - left - (rightEnd - right)
  }

  comparerTo(foldedText: string): (pointer: number) => number {
    const key = new TextKey().setText(foldedText)
    const keyWords = wordCount(key.byteLength)
    return byPointer(text => {
      const { words } = this
      const at = firstWord(text)
      const count = wordCountOf(words, text)
      for (let i = 0; i < count && i < keyWords; i++) {
        if (words[at + i] !== key.words[i]) return bigEndian(words[at + i]!) - bigEndian(key.words[i]!)
      }
      return count - keyWords
    })
  }

  prefixComparer(foldedText: string): (pointer: number) => number {
    const key = new TextKey().setText(foldedText).copyBytes()
    const { bytes } = this.heap
    return byPointer(text => {
      const at = firstByte(text)
      const length = Math.min(key.length, this.byteLength(text))
      for (let i = 0; i < length; i++) if (bytes[at + i] !== key[i]) return bytes[at + i]! - key[i]!
      return length - key.length
    })
  }

  encode(foldedText: string): Uint8Array {
    return this.key.setText(foldedText).copyBytes()
  }

  /** Matches bytes: the encoding of a code unit is never a part of another one's. */
  patternTest(parts: readonly string[]): (pointer: number) => boolean {
    const { bytes } = this.heap
    const [first, ...others] = parts.map(part => this.encode(part))
    const last = others.pop()!
    const between = others
      .filter(part => part.length > 0)
      .map(bytes => ({ bytes, length: bytes.length, borders: bordersOf(bytes) }))
    const least = first!.length + between.reduce((sum, part) => sum + part.length, last.length)
    return byPointer(text => {
      const length = this.byteLength(text)
      if (length < least) return false
      let at = firstByte(text)
      const end = at + length - last.length
      if (!isAt(bytes, at, first!) || !isAt(bytes, end, last)) return false
      at += first!.length
      // The first match of each part is sufficient.
      for (const part of between) {
        at = this.endOfPart(at, end, part)
        if (at < 0) return false
      }
      return true
    })
  }

  /**
   * End of the first `part` between `at` and `end`; -1 if there is none. Skips four bytes at a time until the first byte matches,
   * and never goes back in the text, even if the part repeats itself.
   */
  private endOfPart(at: number, end: number, { bytes: part, borders }: Part): number {
    const { bytes, words } = this.heap
    const repeatedByte = Math.imul(part[0]!, 0x01010101)
    for (let matchLength = 0; at < end; ) {
      if (matchLength === 0 && (at & 3) === 0) {
        for (; at < end; at += 4) {
          const word = words[at >>> 2]! ^ repeatedByte
          if ((word - 0x01010101) & ~word & 0x80808080) break
        }
        if (at >= end) return -1
      }
      if (bytes[at] === part[matchLength]) {
        at++
        if (++matchLength === part.length) return at
      } else if (matchLength === 0) at++
      else matchLength = borders[matchLength - 1]!
    }
    return -1
  }

  hash(text: Address): number {
    return wordAt(this.words, text, HASH)
  }

  private has(text: Address, key: TextKey): boolean {
    const { words } = this
    if (byteLengthOf(words, text) !== key.byteLength) return false
    const at = firstWord(text)
    const count = wordCount(key.byteLength)
    for (let i = 0; i < count; i++) if (words[at + i] !== key.words[i]) return false
    return true
  }
}

interface Part {
  readonly bytes: Uint8Array
  /** Result of {@link bordersOf}. */
  readonly borders: Uint32Array
}

/** Bytes after the text match no part of it: a text ends with zeros, or where another begins. */
function isAt(bytes: Uint8Array, at: number, part: Uint8Array): boolean {
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false
  return true
}

/** Reverses the bytes of words that are compared from the first byte on. */
function bigEndian(word: number): number {
  const swappedWord = ((word & 0xff00ff00) >>> 8) | ((word & 0x00ff00ff) << 8)
  return ((swappedWord >>> 16) | (swappedWord << 16)) >>> 0
}
