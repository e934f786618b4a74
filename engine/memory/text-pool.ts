import type { TextPool } from '../storage/snapshot.ts'
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
 * The address of a text stands for it. Addresses are found by {@link SHARDS} hash tables with open addressing, each for the
 * texts whose hashes begin alike, so that none of them takes long to grow:
 *
 * ```
 * shards: address of each table, 0 for one that has had no text yet
 * table:  u32 capacity, u32 entries that are not free, u32 texts, u32 0; entries of two words: hash, and the address of
 *         its text, 0 for a free one and FREED for one that was freed
 * ```
 */
export const LENGTH = 1
export const HASH = 2
export const HEADER_WORDS = 3
export const NOT_PLAIN = 0x80000000

export const SHARDS = 256
/** Of a hash, the number of its shard. Its place in the table comes from the lowest bits. */
export const SHARD_SHIFT = 24
export const TABLE_FILLED = 1
export const TABLE_TEXTS = 2
export const TABLE_ENTRIES = 4
export const FREED = 1

/** For the kernels, which look into texts. */
export const TEXT_LAYOUT = { textLength: LENGTH * 4, textBytes: HEADER_WORDS * 4 }

/** Reads texts, with the table that belongs to a version of the memory. */
export class SharedTexts implements TextPool {
  private readonly key = new TextKey()
  private readonly words: Uint32Array

  constructor(
    private readonly heap: SharedHeap,
    /** Address of the shards: that of an older version finds what this version has. */
    public shards: number,
  ) {
    this.words = heap.words
  }

  find(folded: string): number {
    return this.search(this.key.setText(folded))
  }

  /** The address of a text, or 0. */
  search(key: TextKey): number {
    const { words } = this
    const table = Atomics.load(words, (this.shards >>> 2) + (key.hash >>> SHARD_SHIFT)) >>> 2
    if (table === 0) return 0
    const entries = table + TABLE_ENTRIES
    const mask = words[table]! - 1
    for (let i = key.hash & mask; ; i = (i + 1) & mask) {
      const pointer = words[entries + 2 * i + 1]!
      if (pointer === 0) return 0
      if (pointer !== FREED && words[entries + 2 * i] === key.hash && this.has(pointer, key)) return pointer
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
    if ((words[at + LENGTH]! & ~NOT_PLAIN) !== key.byteLength) return false
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
