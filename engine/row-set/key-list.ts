/** Length of texts up to which a loop copies their bytes faster than a call does. */
const SHORT = 64

/**
 * Ordered list of identities of entities as texts, for selections of entities whose row ids do not last. All identities are in one block of
 * memory, so that threads can share it and the store can keep it: a hash of each, the end of each, their UTF-8.
 */
export class KeyList {
  private readonly hashes: Uint32Array
  /** Ends of the texts in {@link bytes}. */
  private readonly ends: Uint32Array
  private readonly bytes: Uint8Array
  /** Positions by hash. Created on first use, and not cloned to other threads. */
  #slots: Int32Array | undefined

  private constructor(
    readonly data: Uint32Array,
    readonly size: number,
  ) {
    this.hashes = data.subarray(0, size)
    this.ends = data.subarray(size, 2 * size)
    this.bytes = new Uint8Array(data.buffer, data.byteOffset + 8 * size, 4 * (data.length - 2 * size))
  }

  /** @param keys without repeats */
  static of(keys: readonly string[]): KeyList {
    const text = Buffer.from(keys.join(''))
    const isAscii = text.length === keys.reduce((sum, key) => sum + key.length, 0)
    const list = KeyList.allocate(keys.length, text.length)
    list.bytes.set(text)
    let end = 0
    for (let i = 0; i < keys.length; i++) {
      const start = end
      end += isAscii ? keys[i]!.length : Buffer.byteLength(keys[i]!)
      list.ends[i] = end
      list.hashes[i] = hashOf(text, start, end)
    }
    return list
  }

  static fromData(data: Uint32Array, size: number): KeyList {
    return new KeyList(data, size)
  }

  /** Restores the class of a list that was cloned from another thread. */
  static revive(list: KeyList): KeyList {
    return list instanceof KeyList ? list : new KeyList((list as KeyList).data, (list as KeyList).size)
  }

  private static allocate(size: number, bytes: number): KeyList {
    const words = 2 * size + Math.ceil(bytes / 4)
    return new KeyList(new Uint32Array(new SharedArrayBuffer(4 * words)), size)
  }

  /** The texts at positions from `first` to before `end`. */
  texts(first = 0, end = this.size): string[] {
    const text = Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
    const texts: string[] = []
    for (let i = Math.max(0, first); i < Math.min(end, this.size); i++) {
      texts.push(text.toString('utf8', this.startOf(i), this.ends[i]!))
    }
    return texts
  }

  /** The texts that are in both lists, in the order of this one. */
  and(other: KeyList): KeyList {
    return this.select(i => other.positionOf(this, i) >= 0)
  }

  /** The texts that the other list does not have, in the order of this one. */
  minus(other: KeyList): KeyList {
    return this.select(i => other.positionOf(this, i) < 0)
  }

  /** All texts of this list, then those that only the other list has. */
  or(other: KeyList): KeyList {
    const additions = other.minus(this)
    if (additions.size === 0) return this
    const [length, more] = [this.byteLength, additions.byteLength]
    const all = KeyList.allocate(this.size + additions.size, length + more)
    all.hashes.set(this.hashes)
    all.hashes.set(additions.hashes, this.size)
    all.ends.set(this.ends)
    for (let i = 0; i < additions.size; i++) all.ends[this.size + i] = length + additions.ends[i]!
    all.bytes.set(this.bytes.subarray(0, length))
    all.bytes.set(additions.bytes.subarray(0, more), length)
    return all
  }

  intersects(other: KeyList): boolean {
    for (let i = 0; i < this.size; i++) if (other.positionOf(this, i) >= 0) return true
    return false
  }

  /** Describes a defect in data that should be the content of a list; undefined if it is valid. */
  static problemOf(data: Uint32Array, size: number): string | undefined {
    if (data.length < 2 * size) return `it has no room for ${size} keys`
    const list = new KeyList(data, size)
    for (let i = 0; i < size; i++) {
      const [start, end] = [list.startOf(i), list.ends[i]!]
      if (start > end || end > list.bytes.length) return `its key ${i} ends at byte ${end}`
      if (hashOf(list.bytes, start, end) !== list.hashes[i]) return `its key ${i} has another hash`
    }
    return undefined
  }

  private get byteLength(): number {
    return this.size === 0 ? 0 : this.ends[this.size - 1]!
  }

  private startOf(position: number): number {
    return position === 0 ? 0 : this.ends[position - 1]!
  }

  private select(keeps: (position: number) => boolean): KeyList {
    const positions = new Uint32Array(this.size)
    let [size, length] = [0, 0]
    for (let i = 0; i < this.size; i++) {
      if (!keeps(i)) continue
      positions[size++] = i
      length += this.ends[i]! - this.startOf(i)
    }
    if (size === this.size) return this
    const result = KeyList.allocate(size, length)
    const { bytes } = result
    let at = 0
    for (let i = 0; i < size; i++) {
      const position = positions[i]!
      const [start, end] = [this.startOf(position), this.ends[position]!]
      if (end - start > SHORT) bytes.set(this.bytes.subarray(start, end), at)
      else for (let from = start; from < end; from++) bytes[at + from - start] = this.bytes[from]!
      at += end - start
      result.ends[i] = at
      result.hashes[i] = this.hashes[position]!
    }
    return result
  }

  /** Position of a text of another list; negative if this list does not have it. */
  private positionOf(other: KeyList, position: number): number {
    this.#slots ??= this.hashTable()
    const slots = this.#slots
    const mask = slots.length - 1
    const hash = other.hashes[position]!
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const index = slots[slot]! - 1
      if (index < 0 || (this.hashes[index] === hash && this.equals(index, other, position))) return index
    }
  }

  private hashTable(): Int32Array {
    // At most half of the slots are used.
    const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * this.size + 2)))
    const mask = slots.length - 1
    for (let i = 0; i < this.size; i++) {
      let slot = this.hashes[i]! & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = i + 1
    }
    return slots
  }

  private equals(ownPosition: number, other: KeyList, position: number): boolean {
    const [start, from] = [this.startOf(ownPosition), other.startOf(position)]
    const length = this.ends[ownPosition]! - start
    if (other.ends[position]! - from !== length) return false
    for (let i = 0; i < length; i++) if (this.bytes[start + i] !== other.bytes[from + i]) return false
    return true
  }
}

/** FNV-1a of 32 bits, with its low bits mixed: the slots of a table are chosen by them. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c_9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x0100_0193)
  return (hash ^ (hash >>> 15)) >>> 0
}
