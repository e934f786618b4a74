/** Content of a {@link RowSet}: plain data that can be stored or cloned to another thread. */
interface RowSetData {
  /** Ascending ids, or the words of a bitmap. */
  readonly form: 'ids' | 'words'
  readonly values: Uint32Array
  /** Number of rows. */
  readonly size: number
}

/** Words of a bitmap between two entries of its rank directory. */
const BLOCK_WORDS = 64

/**
 * An immutable set of row ids of one dataclass: sorted ids when there are few, a bitmap when there are many.
 *
 * Costs: operations on two bitmaps are O(limit / 32); as soon as one side is sparse, O(number of ids in it) — except `or`
 * and `minus` with a bitmap on the left, which copy it.
 */
export class RowSet implements Iterable<number> {
  static readonly empty = new RowSet(new Uint32Array(0), undefined, 0)
  /** Rank directory of a bitmap: number of rows before each block of {@link BLOCK_WORDS} words. Built on first use. */
  private ranks: Uint32Array | undefined

  private constructor(
    private readonly ids: Uint32Array | undefined,
    private readonly bits: Uint32Array | undefined,
    /** Number of rows. */
    readonly size: number,
  ) {}

  /** Set of ids in ascending order without duplicates. Takes ownership of the array. */
  static fromSorted(ids: Uint32Array): RowSet {
    if (ids.length === 0) return RowSet.empty
    const wordCount = (ids[ids.length - 1]! >>> 5) + 1
    return isDense(ids.length, wordCount)
      ? new RowSet(undefined, wordsOf(ids, wordCount), ids.length)
      : new RowSet(ids, undefined, ids.length)
  }

  /** Set of ids in any order, duplicates allowed. */
  static fromIds(ids: Iterable<number>): RowSet {
    const list = ids instanceof Uint32Array ? ids : Uint32Array.from(ids)
    let max = 0
    let isSorted = true
    for (let i = 0; i < list.length; i++) {
      if (list[i]! > max) max = list[i]!
      else if (i > 0) isSorted = false
    }
    if (isSorted) return RowSet.fromSorted(list.slice())
    const wordCount = (max >>> 5) + 1
    // Setting bits costs less than sorting as soon as there are as many ids as words.
    return isDense(list.length, wordCount)
      ? RowSet.fromWords(wordsOf(list, wordCount))
      : RowSet.fromSorted(withoutRepeats(list.slice().sort()))
  }

  /** Set of a bitmap: row `id` is bit `id & 31` of word `id >>> 5`. Takes ownership of the array. */
  static fromWords(words: Uint32Array, size = countBits(words)): RowSet {
    if (size === 0) return RowSet.empty
    return isDense(size, words.length)
      ? new RowSet(undefined, words, size)
      : new RowSet(idsOf(words, size), undefined, size)
  }

  /** Restores the class of a set that was cloned from another thread. */
  static revive(set: RowSet): RowSet {
    return set instanceof RowSet ? set : new RowSet((set as RowSet).ids, (set as RowSet).bits, (set as RowSet).size)
  }

  static fromData({ form, values, size }: RowSetData): RowSet {
    return form === 'ids' ? new RowSet(values, undefined, size) : new RowSet(undefined, values, size)
  }

  /** The rows 0 … limit - 1. */
  static range(limit: number): RowSet {
    if (limit === 0) return RowSet.empty
    const words = new Uint32Array((limit + 31) >>> 5).fill(0xffffffff)
    if (limit & 31) words[words.length - 1] = 2 ** (limit & 31) - 1
    return new RowSet(undefined, words, limit)
  }

  has(id: number): boolean {
    if (this.bits) return ((this.bits[id >>> 5] ?? 0) & (1 << (id & 31))) !== 0
    return find(this.ids!, id)
  }

  and(other: RowSet): RowSet {
    if (this.bits && other.bits) {
      const length = Math.min(this.bits.length, other.bits.length)
      const words = new Uint32Array(length)
      for (let i = 0; i < length; i++) words[i] = this.bits[i]! & other.bits[i]!
      return RowSet.fromWords(words)
    }
    const [few, many] = !this.bits && (other.bits || this.size <= other.size) ? [this, other] : [other, this]
    return RowSet.fromSorted(few.ids!.filter(id => many.has(id)))
  }

  or(other: RowSet): RowSet {
    if (this.size === 0) return other
    if (other.size === 0) return this
    if (!this.bits && !other.bits) return RowSet.fromSorted(merge(this.ids!, other.ids!))
    const [dense, rest] =
      this.bits && (!other.bits || this.bits.length >= other.bits.length) ? [this, other] : [other, this]
    const bits = dense.bits!
    if (rest.bits) {
      const words = bits.slice()
      for (let i = 0; i < rest.bits.length; i++) words[i] = words[i]! | rest.bits[i]!
      return RowSet.fromWords(words)
    }
    const last = rest.ids![rest.ids!.length - 1]!
    const length = Math.max(bits.length, (last >>> 5) + 1)
    // Ids far beyond the others would need a bitmap that is mostly empty.
    if (!isDense(dense.size + rest.size, length)) {
      return RowSet.fromSorted(merge(idsOf(bits, dense.size), rest.ids!))
    }
    const words = new Uint32Array(length)
    words.set(bits)
    for (const id of rest.ids!) words[id >>> 5] = words[id >>> 5]! | (1 << (id & 31))
    return RowSet.fromWords(words)
  }

  minus(other: RowSet): RowSet {
    if (this.size === 0 || other.size === 0) return this
    if (this.ids) return RowSet.fromSorted(this.ids.filter(id => !other.has(id)))
    const words = this.bits!.slice()
    if (other.bits) {
      const length = Math.min(words.length, other.bits.length)
      for (let i = 0; i < length; i++) words[i] = words[i]! & ~other.bits[i]!
    } else {
      for (const id of other.ids!) if (id >>> 5 < words.length) words[id >>> 5] = words[id >>> 5]! & ~(1 << (id & 31))
    }
    return RowSet.fromWords(words)
  }

  intersects(other: RowSet): boolean {
    if (this.bits && other.bits) {
      const length = Math.min(this.bits.length, other.bits.length)
      for (let i = 0; i < length; i++) if ((this.bits[i]! & other.bits[i]!) !== 0) return true
      return false
    }
    const [few, many] = !this.bits && (other.bits || this.size <= other.size) ? [this, other] : [other, this]
    return few.ids!.some(id => many.has(id))
  }

  /** Ascending ids. The array is shared: do not write to it. */
  toIds(): Uint32Array {
    return this.ids ?? idsOf(this.bits!, this.size)
  }

  /** Words of the bitmap. The array may be shared: do not write to it. */
  toWords(): Uint32Array {
    return this.bits ?? wordsOf(this.ids!, this.size === 0 ? 0 : (this.ids![this.size - 1]! >>> 5) + 1)
  }

  /**
   * Ids at positions `skip` … `skip + count - 1` in ascending order. The cost hardly depends on `skip`. The array may be
   * shared: do not write to it.
   */
  slice(skip: number, count: number): Uint32Array {
    if (this.ids) return this.ids.subarray(skip, skip + count)
    const length = Math.max(0, Math.min(count, this.size - skip))
    const out = new Uint32Array(length)
    if (length === 0) return out
    const words = this.bits!
    this.ranks ??= skip < BLOCK_WORDS * 32 ? undefined : ranksOf(words)
    const block = this.ranks ? lowerBound(this.ranks, skip + 1) - 1 : 0
    let word = block * BLOCK_WORDS
    for (let offset = skip - (this.ranks?.[block] ?? 0), bits = 0; word < words.length; word++, offset -= bits) {
      bits = bitCount(words[word]!)
      if (offset < bits) {
        let rest = words[word]!
        for (let i = 0; i < offset; i++) rest &= rest - 1
        return fill(out, words, word, rest)
      }
    }
    return out
  }

  /** The bits of rows `32 * word` … `32 * word + 31`, as an unsigned number. */
  word(word: number): number {
    if (this.bits) return this.bits[word] ?? 0
    const ids = this.ids!
    let bits = 0
    for (let i = lowerBound(ids, word * 32); i < ids.length && ids[i]! >>> 5 === word; i++) bits |= 1 << (ids[i]! & 31)
    return bits >>> 0
  }

  /**
   * Calls `visit` for each block of `blockWords` words that has rows, in ascending order, with its bits: do not write to
   * them, and do not keep them.
   */
  forEachBlock(blockWords: number, visit: (block: number, bits: Uint32Array) => void): void {
    const buffer = new Uint32Array(blockWords)
    if (this.bits) {
      for (let start = 0; start < this.bits.length; start += blockWords) {
        const bits = this.bits.subarray(start, start + blockWords)
        if (!bits.some(isSet)) continue
        const isWhole = bits.length === blockWords
        if (!isWhole) buffer.set(bits)
        visit(start / blockWords, isWhole ? bits : buffer)
      }
      return
    }
    const ids = this.ids!
    const blockRows = blockWords * 32
    for (let i = 0; i < ids.length; ) {
      const block = Math.floor(ids[i]! / blockRows)
      const first = i
      for (const end = (block + 1) * blockRows; i < ids.length && ids[i]! < end; i++) {
        const word = (ids[i]! >>> 5) - block * blockWords
        buffer[word] = buffer[word]! | (1 << (ids[i]! & 31))
      }
      visit(block, buffer)
      for (let j = first; j < i; j++) buffer[(ids[j]! >>> 5) - block * blockWords] = 0
    }
  }

  /** Content of the set. The array is shared: do not write to it. */
  get data(): RowSetData {
    return { form: this.ids ? 'ids' : 'words', values: (this.ids ?? this.bits)!, size: this.size }
  }

  /** True if the set is kept as sorted ids: few enough to visit one by one. */
  get isSparse(): boolean {
    return this.ids !== undefined
  }

  [Symbol.iterator](): Iterator<number> {
    return this.toIds()[Symbol.iterator]()
  }
}

const isSet = (word: number): boolean => word !== 0

/** True if a bit for every row takes less room than 32 bits for every id. A handful of ids stays a list, to be visited one by one. */
const isDense = (size: number, wordCount: number): boolean => size >= wordCount && size >= 64

function wordsOf(ids: Uint32Array, wordCount: number): Uint32Array {
  const words = new Uint32Array(wordCount)
  for (let i = 0; i < ids.length; i++) words[ids[i]! >>> 5]! |= 1 << (ids[i]! & 31)
  return words
}

function withoutRepeats(ids: Uint32Array): Uint32Array {
  let length = 0
  for (let i = 0; i < ids.length; i++) if (i === 0 || ids[i] !== ids[i - 1]) ids[length++] = ids[i]!
  return ids.subarray(0, length)
}

export function countBits(words: Uint32Array): number {
  let count = 0
  for (let i = 0; i < words.length; i++) count += bitCount(words[i]!)
  return count
}

function ranksOf(words: Uint32Array): Uint32Array {
  const ranks = new Uint32Array(Math.ceil(words.length / BLOCK_WORDS))
  let count = 0
  for (let i = 0; i < words.length; i++) {
    if (i % BLOCK_WORDS === 0) ranks[i / BLOCK_WORDS] = count
    count += bitCount(words[i]!)
  }
  return ranks
}

function bitCount(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555)
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333)
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

function idsOf(words: Uint32Array, size: number): Uint32Array {
  return fill(new Uint32Array(size), words, 0, words[0] ?? 0)
}

/** Fills `out` with the ids from `word` on; from that word itself, only with the bits in `rest`. */
function fill(out: Uint32Array, words: Uint32Array, word: number, rest: number): Uint32Array {
  for (let i = 0; i < out.length; i++) {
    while (rest === 0) rest = words[++word]!
    out[i] = word * 32 + (31 - Math.clz32(rest & -rest))
    rest &= rest - 1
  }
  return out
}

function lowerBound(ids: Uint32Array, id: number): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ids[middle]! < id) low = middle + 1
    else high = middle
  }
  return low
}

const find = (ids: Uint32Array, id: number): boolean => ids[lowerBound(ids, id)] === id

function merge(a: Uint32Array, b: Uint32Array): Uint32Array {
  const out = new Uint32Array(a.length + b.length)
  let length = 0
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const left = i < a.length ? a[i]! : Number.POSITIVE_INFINITY
    const right = j < b.length ? b[j]! : Number.POSITIVE_INFINITY
    out[length++] = Math.min(left, right)
    if (left <= right) i++
    if (right <= left) j++
  }
  return out.subarray(0, length)
}
