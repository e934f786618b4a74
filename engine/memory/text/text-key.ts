import { fold } from '../../base/text/fold.ts'
import type { SharedHeap } from '../heap/shared-heap.ts'

/**
 * A folded text as bytes that sort by its UTF-16 code units, for lookup and comparison: every code unit is encoded like a code
 * point of UTF-8, the units 0 and 1 as the bytes 1 1 and 1 2. So it has no zero byte, and zeros after it do not change its order.
 * The keys of the indexes have the same form (`../storage/keys.ts`).
 */
export class TextKey {
  /** The bytes, zeros up to the next whole word, and {@link byteLength} of the text. */
  words = new Uint32Array(64)
  private bytes = new Uint8Array(this.words.buffer)
  byteLength = 0
  hash = 0
  /** True if each byte is an ASCII character. */
  isPlain = true

  /** @param foldedText a text after {@link fold} */
  setText(foldedText: string): this {
    this.reserve(3 * foldedText.length)
    const { bytes } = this
    let at = 0
    let isPlain = true
    for (let i = 0; i < foldedText.length; i++) {
      const unit = foldedText.charCodeAt(i)
      if (unit < 0x80 && unit > 1) {
        bytes[at++] = unit
        continue
      }
      isPlain = false
      if (unit <= 1) {
        bytes[at++] = 1
        bytes[at++] = unit + 1
      } else if (unit < 0x800) {
        bytes[at++] = 0xc0 | (unit >> 6)
        bytes[at++] = 0x80 | (unit & 0x3f)
      } else {
        bytes[at++] = 0xe0 | (unit >> 12)
        bytes[at++] = 0x80 | ((unit >> 6) & 0x3f)
        bytes[at++] = 0x80 | (unit & 0x3f)
      }
    }
    for (let i = at; i & 3; i++) bytes[i] = 0
    let hash = at
    for (let i = 0; i * 4 < at; i++) hash = mix(hash ^ this.words[i]!)
    return this.finish(at, isPlain, hash)
  }

  /**
   * The fold of a JSON string in shared memory, between its quotes: 32 bits at a time while it is plain ASCII.
   * @param start address of its first character
   * @param end address of the closing quote
   */
  setJson({ words: source, bytes }: SharedHeap, start: number, end: number): this {
    const byteLength = end - start
    this.reserve(byteLength)
    const { words } = this
    const wordCount = (byteLength + 3) >>> 2
    const shift = (start & 3) * 8
    let at = start >>> 2
    let hash = byteLength
    for (let i = 0; i < wordCount; i++, at++) {
      let word = shift === 0 ? source[at]! : (source[at]! >>> shift) | (source[at + 1]! << (32 - shift))
      if (i === wordCount - 1 && byteLength & 3) word &= 2 ** (8 * (byteLength & 3)) - 1
      const backslashes = word ^ 0x5c5c5c5c
      if ((word | ((backslashes - 0x01010101) & ~backslashes)) & 0x80808080) {
        return this.setText(fold(JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string))
      }
      // Sets the bit that makes the bytes from A to Z lower case.
      word |= ((word + 0x3f3f3f3f) & ~(word + 0x25252525) & 0x80808080) >>> 2
      words[i] = word
      hash = mix(hash ^ word)
    }
    return this.finish(byteLength, true, hash)
  }

  /** Copies the bytes. */
  copyBytes(): Uint8Array {
    return this.bytes.slice(0, this.byteLength)
  }

  private reserve(byteLength: number): void {
    if (byteLength + 4 <= this.bytes.length) return
    this.words = new Uint32Array((2 * byteLength + 8) >>> 2)
    this.bytes = new Uint8Array(this.words.buffer)
  }

  private finish(byteLength: number, isPlain: boolean, hash: number): this {
    this.byteLength = byteLength
    this.hash = finishHash(hash)
    this.isPlain = isPlain
    return this
  }
}

/** Decodes the bytes of a {@link TextKey}. */
export function decodeText(bytes: Buffer, start: number, end: number): string {
  const units: number[] = []
  let text = ''
  for (let at = start; at < end; ) {
    const byte = bytes[at]!
    if (byte === 1) {
      units.push(bytes[at + 1]! - 1)
      at += 2
    } else if (byte < 0x80) {
      units.push(byte)
      at++
    } else if (byte < 0xe0) {
      units.push(((byte & 0x1f) << 6) | (bytes[at + 1]! & 0x3f))
      at += 2
    } else {
      units.push(((byte & 0x0f) << 12) | ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f))
      at += 3
    }
    if (units.length >= 4096) text += String.fromCharCode(...units.splice(0))
  }
  return text + String.fromCharCode(...units)
}

const mix = (hash: number): number => {
  const product = Math.imul(hash, 0x9e3779b1)
  return product ^ (product >>> 15)
}

/** Finishes a hash, which is never 0, with the multiplication steps of the finalizer of MurmurHash3 (Appleby, public domain). */
const finishHash = (hash: number): number => {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0 || 1
}

const float = new Float64Array(1)
const halves = new Uint32Array(float.buffer)

/** Equal numbers have equal hashes, also a number and a bigint. Never 0. */
export function hashNumber(value: number | bigint): number {
  // 0 and -0 are equal.
  float[0] = Number(value) + 0
  return finishHash(mix(halves[0]!) ^ halves[1]!)
}
