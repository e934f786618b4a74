import type { Workspace } from './pages.ts'
import type { SharedHeap } from './shared-heap.ts'

/**
 * Rows by the hash of a value: a hash table with open addressing, shared with all readers, whatever version they read.
 *
 * ```
 * table:  u32 capacity, u32 0; entries of two words: hash, and where its rows are
 *         where: 0 free · an odd number 2 × row id + 1 · EMPTY no row any more · else the address of a list
 * list:   u32 capacity, u32 length, row ids; a length above the capacity says that there are too many to be listed
 * ```
 *
 * A row stays listed under a value as long as some version that is pinned may have it there, and one is listed from the
 * moment it is written. So what is found are candidates: a reader compares their values in its own version.
 */
const HEADER_WORDS = 2
const EMPTY = 2
/** Rows of one value beyond which it is left to columns: the planner would not take an index for more. */
const MAX_LISTED = 8192
const INITIAL_CAPACITY = 64
const MIN_LIST = 4

const tableBytes = (capacity: number): number => (HEADER_WORDS + 2 * capacity) * 4
const listBytes = (capacity: number): number => (HEADER_WORDS + capacity) * 4

/** Row ids that may have a value of this hash, in any order, some of them twice; undefined when there are too many. */
export function candidateRows({ words }: SharedHeap, table: number, hash: number): Uint32Array | undefined {
  const where = find(words, table, hash)
  if (where === 0 || where === EMPTY) return NONE
  if (where & 1) return Uint32Array.of(where >>> 1)
  const list = where >>> 2
  const length = Atomics.load(words, list + 1)
  if (length > words[list]!) return undefined
  return words.slice(list + HEADER_WORDS, list + HEADER_WORDS + length)
}

/** The one of {@link candidateRows}, when it is not in a list, as in most unique attributes. */
export function onlyCandidate({ words }: SharedHeap, table: number, hash: number): number | undefined {
  const where = find(words, table, hash)
  return where & 1 ? where >>> 1 : undefined
}

/** How many {@link candidateRows} there are; Infinity when too many. */
export function candidateCount({ words }: SharedHeap, table: number, hash: number): number {
  const where = find(words, table, hash)
  if (where === 0 || where === EMPTY) return 0
  if (where & 1) return 1
  const length = words[(where >>> 2) + 1]!
  return length > words[where >>> 2]! ? Number.POSITIVE_INFINITY : length
}

const NONE = new Uint32Array(0)

function find(words: Uint32Array, table: number, hash: number): number {
  const entries = (table >>> 2) + HEADER_WORDS
  const mask = words[table >>> 2]! - 1
  for (let i = hash & mask; ; i = (i + 1) & mask) {
    const where = Atomics.load(words, entries + 2 * i + 1)
    if (where === 0 || words[entries + 2 * i] === hash) return where
  }
}

/** What an image keeps of {@link PostingIndex}. */
export interface PostingState {
  table: number
  capacity: number
  filled: number
}

/** The same for the writer. */
export class PostingIndex {
  private readonly words: Uint32Array
  private capacity: number
  /** Address of the hash table; changes when it grows. 0 until {@link build}. */
  table: number
  private filled: number

  constructor(
    private readonly space: Workspace,
    state: PostingState = { table: 0, capacity: 0, filled: 0 },
  ) {
    this.words = space.heap.words
    this.capacity = state.capacity
    this.table = state.table
    this.filled = state.filled
  }

  get isBuilt(): boolean {
    return this.table !== 0
  }

  get state(): PostingState {
    const { table, capacity, filled } = this
    return { table, capacity, filled }
  }

  /**
   * Takes all rows at once: a value costs one search then, and its list has the right size.
   * @param rowIds those of one value behind each other
   * @param hashes of their values; 0 for a row that is not listed
   * @throws {MemoryFull}
   */
  build(rowIds: Uint32Array, hashes: Uint32Array): void {
    let runs = 0
    for (let i = 0; i < hashes.length; i++) if (hashes[i] !== 0 && hashes[i] !== hashes[i - 1]) runs++
    this.capacity = Math.max(INITIAL_CAPACITY, 2 ** Math.ceil(Math.log2(((runs + 1) * 4) / 3)))
    this.table = this.newTable(this.capacity)
    for (let start = 0, end = 0; start < rowIds.length; start = end) {
      const hash = hashes[start]!
      while (end < rowIds.length && hashes[end] === hash) end++
      if (hash !== 0) this.addRun(hash, rowIds.subarray(start, end))
    }
  }

  private addRun(hash: number, rowIds: Uint32Array): void {
    const { words } = this
    const at = this.slot(this.table, this.capacity, hash)
    const count = rowIds.length
    if (count === 1 || words[at + 1] !== 0) {
      for (const rowId of rowIds) this.add(hash, rowId)
      return
    }
    const list = this.newList(count > MAX_LISTED ? 0 : Math.max(MIN_LIST, count))
    words[(list >>> 2) + 1] = count
    if (count <= MAX_LISTED) words.set(rowIds, (list >>> 2) + HEADER_WORDS)
    words[at] = hash
    words[at + 1] = list
    this.filled++
  }

  /** @throws {MemoryFull} */
  add(hash: number, rowId: number): void {
    if ((this.filled + 1) * 4 > this.capacity * 3) this.grow()
    const at = this.slot(this.table, this.capacity, hash)
    const where = this.words[at + 1]!
    this.space.heap.preserve(at * 4, 8)
    if (where === 0) {
      this.words[at] = hash
      this.filled++
    }
    if ((where === 0 || where === EMPTY) && rowId < 2 ** 31) Atomics.store(this.words, at + 1, rowId * 2 + 1)
    else if (where === 0 || where === EMPTY || where & 1) {
      const list = this.newList(MIN_LIST)
      if (where & 1) this.push(list, where >>> 1)
      this.push(list, rowId)
      Atomics.store(this.words, at + 1, list)
    } else this.append(at, where, rowId)
  }

  /** As of the version that is being made, the row has not a value of this hash any more. */
  remove(hash: number, rowId: number): void {
    const { reclaimer, sequence } = this.space
    reclaimer.retire(0, sequence, () => this.removeNow(hash, rowId))
  }

  clear(): void {
    if (this.table === 0) return
    const entries = (this.table >>> 2) + HEADER_WORDS
    for (let i = 0; i < this.capacity; i++) {
      const where = this.words[entries + 2 * i + 1]!
      if (where > EMPTY && !(where & 1)) this.retireList(where)
    }
    this.retireTable()
    this.table = 0
  }

  private append(at: number, list: number, rowId: number): void {
    const word = list >>> 2
    const capacity = this.words[word]!
    const length = this.words[word + 1]!
    if (length > capacity) return
    if (length < capacity) this.push(list, rowId)
    else {
      // Too many stay too many: what they are is not known any more.
      const grown = this.newList(length >= MAX_LISTED ? 0 : capacity * 2)
      if (length >= MAX_LISTED) this.words[(grown >>> 2) + 1] = 1
      else {
        this.words.copyWithin((grown >>> 2) + 1, word + 1, word + HEADER_WORDS + length)
        this.push(grown, rowId)
      }
      Atomics.store(this.words, at + 1, grown)
      this.retireList(list)
    }
  }

  private removeNow(hash: number, rowId: number): void {
    if (this.table === 0) return
    const { heap } = this.space
    const at = this.slot(this.table, this.capacity, hash)
    const where = this.words[at + 1]!
    heap.preserve(at * 4, 8)
    if (where === rowId * 2 + 1) Atomics.store(this.words, at + 1, EMPTY)
    if (where & 1 || where <= EMPTY) return
    const word = where >>> 2
    const length = this.words[word + 1]!
    if (length > this.words[word]!) return
    const first = word + HEADER_WORDS
    const position = this.words.subarray(first, first + length).indexOf(rowId)
    if (position < 0) return
    heap.preserve(where, listBytes(length))
    // Readers may be copying this list: they find the last row twice, or once, and never miss it.
    Atomics.store(this.words, first + position, this.words[first + length - 1]!)
    Atomics.store(this.words, word + 1, length - 1)
  }

  private push(list: number, rowId: number): void {
    const word = list >>> 2
    const length = this.words[word + 1]!
    this.space.heap.preserve(list, listBytes(length + 1))
    this.words[word + HEADER_WORDS + length] = rowId
    Atomics.store(this.words, word + 1, length + 1)
  }

  private slot(table: number, capacity: number, hash: number): number {
    const entries = (table >>> 2) + HEADER_WORDS
    const mask = capacity - 1
    let i = hash & mask
    while (this.words[entries + 2 * i + 1] !== 0 && this.words[entries + 2 * i] !== hash) i = (i + 1) & mask
    return entries + 2 * i
  }

  private grow(): void {
    const { table, capacity, words } = this
    const entries = (table >>> 2) + HEADER_WORDS
    let used = 0
    for (let i = 0; i < capacity; i++) if (!this.isEmpty(words[entries + 2 * i + 1]!)) used++
    const grown = used * 2 > capacity ? capacity * 2 : capacity
    const address = this.newTable(grown)
    this.filled = 0
    for (let i = 0; i < capacity; i++) {
      const where = words[entries + 2 * i + 1]!
      if (this.isEmpty(where)) {
        if (where > EMPTY) this.retireList(where)
        continue
      }
      const at = this.slot(address, grown, words[entries + 2 * i]!)
      words[at] = words[entries + 2 * i]!
      words[at + 1] = where
      this.filled++
    }
    this.retireTable()
    this.table = address
    this.capacity = grown
  }

  private isEmpty(where: number): boolean {
    return where === 0 || where === EMPTY || (!(where & 1) && this.words[(where >>> 2) + 1] === 0)
  }

  private newTable(capacity: number): number {
    const table = this.space.allocator.allocate(tableBytes(capacity), 'postings')
    this.space.heap.zero(table, Math.ceil(tableBytes(capacity) / 8) * 8)
    this.words[table >>> 2] = capacity
    return table
  }

  private newList(capacity: number): number {
    const list = this.space.allocator.allocate(listBytes(capacity), 'postings')
    this.words[list >>> 2] = capacity
    this.words[(list >>> 2) + 1] = 0
    return list
  }

  private retireTable(): void {
    const { table, capacity, space } = this
    space.reclaimer.retire(0, space.sequence, () => space.allocator.free(table, tableBytes(capacity), 'postings'))
  }

  private retireList(list: number): void {
    const { reclaimer, allocator, sequence } = this.space
    const bytes = listBytes(this.words[list >>> 2]!)
    reclaimer.retire(0, sequence, () => allocator.free(list, bytes, 'postings'))
  }
}
