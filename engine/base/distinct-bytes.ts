const INITIAL_SLOTS = 1024
const INITIAL_BYTES = 16 * 1024
/** Maximum share of used slots. */
const MAX_SHARE = 0.5
/** Number of bytes of a string that one double holds exactly. */
const HEAD_BYTES = 6

interface SortedBytes {
  /** The strings, ascending, one after the other. */
  readonly bytes: Uint8Array
  /** End of each string in `bytes`. */
  readonly ends: Uint32Array
  /** Place of each number in the order. */
  readonly places: Uint32Array
}

/** Distinct byte strings, numbered as they arrive. */
export class DistinctBytes {
  private bytes = new Uint8Array(INITIAL_BYTES)
  private usedBytes = 0
  private ends = new Uint32Array(INITIAL_SLOTS)
  private hashes = new Uint32Array(INITIAL_SLOTS)
  private count = 0
  /** Numbers plus 1, by hash; 0 if free. */
  private slots = new Uint32Array(INITIAL_SLOTS)
  private isAscending = true
  /** False as long as all strings have arrived in ascending order, which needs no hashes. */
  private isHashed = false

  /** Bytes of memory that the strings take. */
  get byteLength(): number {
    return this.bytes.length + this.ends.byteLength + this.hashes.byteLength + this.slots.byteLength
  }

  /** Number of the string `source[start…end]`. */
  numberOf(source: Uint8Array, start: number, end: number): number {
    if (!this.isHashed) {
      const order = this.count === 0 ? 1 : this.compareWithLast(source, start, end)
      if (order === 0) return this.count - 1
      if (order > 0) return this.append(source, start, end)
      this.hashAll()
    }
    const hash = hashOf(source, start, end)
    const mask = this.slots.length - 1
    let slot = hash & mask
    for (let held = this.slots[slot]!; held !== 0; held = this.slots[slot]!) {
      if (this.hashes[held - 1] === hash && this.isEqual(held - 1, source, start, end)) return held - 1
      slot = (slot + 1) & mask
    }
    return this.add(source, start, end, hash, slot)
  }

  sorted(): SortedBytes {
    const { count } = this
    const places = new Uint32Array(count)
    for (let number = 0; number < count; number++) places[number] = number
    const ends = this.ends.slice(0, count)
    if (this.isAscending) return { bytes: this.bytes.slice(0, this.usedBytes), ends, places }
    const heads = new Float64Array(count)
    for (let number = 0; number < count; number++) heads[number] = this.head(number)
    const order = places.slice().sort((a, b) => heads[a]! - heads[b]! || this.compare(a, b))
    const bytes = new Uint8Array(this.usedBytes)
    let at = 0
    for (let place = 0; place < count; place++) {
      const number = order[place]!
      places[number] = place
      bytes.set(this.bytes.subarray(this.start(number), this.ends[number]!), at)
      at += this.ends[number]! - this.start(number)
      ends[place] = at
    }
    return { bytes, ends, places }
  }

  private start(number: number): number {
    return number === 0 ? 0 : this.ends[number - 1]!
  }

  private append(source: Uint8Array, start: number, end: number): number {
    this.reserve(end - start)
    const number = this.count++
    const { bytes } = this
    let at = this.usedBytes
    for (let i = start; i < end; i++) bytes[at++] = source[i]!
    this.usedBytes = at
    this.ends[number] = at
    return number
  }

  private add(source: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const number = this.append(source, start, end)
    this.hashes[number] = hash
    this.slots[slot] = number + 1
    if (this.isAscending && number > 0) this.isAscending = this.compare(number - 1, number) < 0
    if (this.count > this.slots.length * MAX_SHARE) this.growSlots()
    return number
  }

  private reserve(length: number): void {
    if (this.usedBytes + length > this.bytes.length) {
      const grown = new Uint8Array(2 * (this.usedBytes + length))
      grown.set(this.bytes.subarray(0, this.usedBytes))
      this.bytes = grown
    }
    if (this.count < this.ends.length) return
    this.ends = doubled(this.ends)
    this.hashes = doubled(this.hashes)
  }

  /** Begins to use hashes. */
  private hashAll(): void {
    this.isHashed = true
    for (let number = 0; number < this.count; number++)
      this.hashes[number] = hashOf(this.bytes, this.start(number), this.ends[number]!)
    this.growSlots()
  }

  private growSlots(): void {
    let length = this.slots.length
    while (this.count > length * MAX_SHARE) length *= 2
    this.slots = new Uint32Array(length)
    const mask = this.slots.length - 1
    for (let number = 0; number < this.count; number++) {
      let slot = this.hashes[number]! & mask
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask
      this.slots[slot] = number + 1
    }
  }

  private isEqual(number: number, source: Uint8Array, start: number, end: number): boolean {
    const from = this.start(number)
    if (this.ends[number]! - from !== end - start) return false
    for (let i = start; i < end; i++) if (this.bytes[from + i - start] !== source[i]) return false
    return true
  }

  /** The first bytes as a number that compares as they do; a short string is continued with zeros. */
  private head(number: number): number {
    const end = this.ends[number]!
    let head = 0
    for (let i = 0, at = this.start(number); i < HEAD_BYTES; i++, at++)
      head = head * 256 + (at < end ? this.bytes[at]! : 0)
    return head
  }

  private compare(a: number, b: number): number {
    return this.compareWith(b, this.bytes, this.start(a), this.ends[a]!)
  }

  private compareWithLast(source: Uint8Array, start: number, end: number): number {
    return this.compareWith(this.count - 1, source, start, end)
  }

  /** Compares `source[start…end]` with a string. */
  private compareWith(number: number, source: Uint8Array, start: number, end: number): number {
    const { bytes } = this
    const otherEnd = this.ends[number]!
    let [i, j] = [start, this.start(number)]
    for (; i < end && j < otherEnd; i++, j++) {
      const difference = source[i]! - bytes[j]!
      if (difference !== 0) return difference
    }
    return end - i - (otherEnd - j)
  }
}

function hashOf(source: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ source[i]!, 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(2 * array.length)
  grown.set(array)
  return grown
}
