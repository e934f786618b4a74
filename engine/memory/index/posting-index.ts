import { type Address, addressOf, NO_ADDRESS, wordIndex } from '../heap/address.ts'
import type { Workspace } from '../heap/pages.ts'
import type { SharedHeap } from '../heap/shared-heap.ts'

/**
 * Rows by the hash of a value: a hash table with open addressing, shared with all readers, whatever version they read.
 *
 * ```
 * table:  u32 capacity, u32 0; entries of two words: hash, and where its rows are
 *         where: 0 free · an odd number 2 × row id + 1 · EMPTY deleted row · else the address of a list
 * list:   u32 capacity, u32 length, row ids; a length above the capacity says that there are too many to be listed
 * ```
 *
 * A row is listed under a value from the moment it is written until no pinned version can have it there. So the rows found are
 * candidates: a reader compares their values in its own version.
 */
const CAPACITY = 0
const LENGTH = 1
const HEADER_WORDS = 2
const EMPTY = 2
/**
 * Maximum number of rows listed for one value. If there are more, columns are read instead: the planner would not use an index for them.
 */
const MAX_LISTED = 8192
const INITIAL_CAPACITY = 64
const MIN_LIST = 4

const tableBytes = (capacity: number): number => (HEADER_WORDS + 2 * capacity) * 4
const listBytes = (capacity: number): number => (HEADER_WORDS + capacity) * 4

const capacityOf = (words: Uint32Array, block: Address): number => words[(block >>> 2) + CAPACITY]!
const lengthOf = (words: Uint32Array, list: Address): number => words[(list >>> 2) + LENGTH]!
/** Index of the first entry of a table, or of the first row id of a list. */
const entriesStart = (block: Address): number => (block >>> 2) + HEADER_WORDS

// Kinds of the second word of an entry: one row, none, or the address of a list.
const isRow = (where: number): boolean => (where & 1) !== 0
const isFree = (where: number): boolean => where === 0 || where === EMPTY
const isList = (where: number): where is Address => where > EMPTY && (where & 1) === 0

/** Row ids that may have a value of this hash, in any order, possibly twice; undefined when there are too many. */
export function candidateRows(heap: SharedHeap, table: Address, hash: number): Uint32Array | undefined {
  const { words } = heap
  const where = find(words, table, hash)
  if (isRow(where)) return Uint32Array.of(where >>> 1)
  if (!isList(where)) return NONE
  const { moves } = heap
  const length = Atomics.load(words, wordIndex(where, LENGTH))
  if (length > capacityOf(words, where)) return undefined
  const first = entriesStart(where)
  const rowIds = words.slice(first, first + length)
  if (heap.hasMovedSince(moves)) copyFromEnd(words, first, rowIds)
  return rowIds
}

/**
 * Copies a list while rows may be moved in it. A removal moves the last row forward, and a row added after it overwrites the last
 * place. Any other copy may pass the new place of the moved row before it is filled, and reach the old one after it is overwritten.
 * This one, from the end, takes 12 ns a row, 20 times as long as `slice`.
 */
function copyFromEnd(words: Uint32Array, first: number, rowIds: Uint32Array): void {
  for (let i = rowIds.length - 1; i >= 0; i--) rowIds[i] = Atomics.load(words, first + i)
}

/** The single row of {@link candidateRows}, if it is not in a list, as for most unique attributes. */
export function onlyCandidate({ words }: SharedHeap, table: Address, hash: number): number | undefined {
  const where = find(words, table, hash)
  return isRow(where) ? where >>> 1 : undefined
}

/** Number of {@link candidateRows}; Infinity when there are too many. */
export function candidateCount({ words }: SharedHeap, table: Address, hash: number): number {
  const where = find(words, table, hash)
  if (!isList(where)) return isRow(where) ? 1 : 0
  const length = lengthOf(words, where)
  return length > capacityOf(words, where) ? Number.POSITIVE_INFINITY : length
}

const NONE = new Uint32Array(0)

function find(words: Uint32Array, table: Address, hash: number): number {
  const entries = entriesStart(table)
  const mask = capacityOf(words, table) - 1
  for (let i = hash & mask; ; i = (i + 1) & mask) {
    const where = Atomics.load(words, entries + 2 * i + 1)
    if (where === 0 || words[entries + 2 * i] === hash) return where
  }
}

/** State of a {@link PostingIndex} saved in an image. */
export interface PostingState {
  table: Address
  capacity: number
  filled: number
}

/** A posting index for the writer. */
export class PostingIndex {
  private readonly words: Uint32Array
  private capacity: number
  /** Address of the hash table; changes when it grows. {@link NO_ADDRESS} until {@link build}. */
  table: Address
  private filled: number

  constructor(
    private readonly space: Workspace,
    state: PostingState = { table: NO_ADDRESS, capacity: 0, filled: 0 },
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
   * Adds all rows at once: each value takes one search, and its list has the right size.
   * @param rowIds with the rows of one value adjacent
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
      if (hash !== 0) this.addAll(hash, rowIds.subarray(start, end))
    }
  }

  /** Adds several rows of one value: one search, and one list of the right size. @throws {MemoryFull} */
  addAll(hash: number, rowIds: Uint32Array): void {
    const { words } = this
    if (rowIds.length === 1) {
      this.add(hash, rowIds[0]!)
      return
    }
    if ((this.filled + 1) * 4 > this.capacity * 3) this.grow()
    const at = this.slot(this.table, this.capacity, hash)
    const where = words[at + 1]!
    this.space.heap.preserve(addressOf(at), 8)
    if (where === 0) {
      words[at] = hash
      this.filled++
    }
    if (isList(where)) {
      this.extend(at, where, rowIds)
      return
    }
    const length = isRow(where) ? 1 : 0
    const newLength = length + rowIds.length
    const list = this.newList(newLength > MAX_LISTED ? 0 : Math.max(MIN_LIST, newLength))
    words[wordIndex(list, LENGTH)] = newLength
    if (newLength <= MAX_LISTED) {
      if (isRow(where)) words[entriesStart(list)] = where >>> 1
      words.set(rowIds, entriesStart(list) + length)
    }
    Atomics.store(words, at + 1, list)
  }

  /** @throws {MemoryFull} */
  add(hash: number, rowId: number): void {
    if ((this.filled + 1) * 4 > this.capacity * 3) this.grow()
    const at = this.slot(this.table, this.capacity, hash)
    const where = this.words[at + 1]!
    this.space.heap.preserve(addressOf(at), 8)
    if (where === 0) {
      this.words[at] = hash
      this.filled++
    }
    if (isList(where)) this.extend(at, where, [rowId])
    else if (isFree(where) && rowId < 2 ** 31) Atomics.store(this.words, at + 1, rowId * 2 + 1)
    else {
      const list = this.newList(MIN_LIST)
      if (isRow(where)) this.push(list, where >>> 1)
      this.push(list, rowId)
      Atomics.store(this.words, at + 1, list)
    }
  }

  /** Removes a row from the values of a hash, as of the version that is being created. */
  remove(hash: number, rowId: number): void {
    const { reclaimer, sequence } = this.space
    reclaimer.retire(0, sequence, () => this.removeNow(hash, rowId))
  }

  clear(): void {
    if (this.table === 0) return
    const entries = entriesStart(this.table)
    for (let i = 0; i < this.capacity; i++) {
      const where = this.words[entries + 2 * i + 1]!
      if (isList(where)) this.retireList(where)
    }
    this.retireTable()
    this.table = NO_ADDRESS
  }

  private extend(at: number, list: Address, rowIds: readonly number[] | Uint32Array): void {
    const { words } = this
    const capacity = capacityOf(words, list)
    const length = lengthOf(words, list)
    const newLength = length + rowIds.length
    // An overflowed list stays overflowed: its rows are unknown.
    if (length > capacity) return
    if (newLength <= capacity) {
      for (const rowId of rowIds) this.push(list, rowId)
      return
    }
    const grown = this.newList(newLength > MAX_LISTED ? 0 : Math.max(newLength, capacity * 2))
    words[wordIndex(grown, LENGTH)] = newLength
    if (newLength <= MAX_LISTED) {
      words.copyWithin(entriesStart(grown), entriesStart(list), entriesStart(list) + length)
      words.set(rowIds, entriesStart(grown) + length)
    }
    Atomics.store(words, at + 1, grown)
    this.retireList(list)
  }

  private removeNow(hash: number, rowId: number): void {
    if (this.table === 0) return
    const { heap } = this.space
    const at = this.slot(this.table, this.capacity, hash)
    const where = this.words[at + 1]!
    heap.preserve(addressOf(at), 8)
    if (where === rowId * 2 + 1) Atomics.store(this.words, at + 1, EMPTY)
    if (!isList(where)) return
    const length = lengthOf(this.words, where)
    if (length > capacityOf(this.words, where)) return
    const first = entriesStart(where)
    const position = this.words.subarray(first, first + length).indexOf(rowId)
    if (position < 0) return
    heap.preserve(where, listBytes(length))
    // Readers may be copying this list from its end: they find the last row twice, or once, and never miss it.
    Atomics.store(this.words, first + position, this.words[first + length - 1]!)
    Atomics.store(this.words, wordIndex(where, LENGTH), length - 1)
    heap.countMove()
  }

  private push(list: Address, rowId: number): void {
    const length = lengthOf(this.words, list)
    this.space.heap.preserve(list, listBytes(length + 1))
    // Atomic, so that a reader that sees this row also sees the previous row of this position at its new one.
    Atomics.store(this.words, entriesStart(list) + length, rowId)
    Atomics.store(this.words, wordIndex(list, LENGTH), length + 1)
  }

  private slot(table: Address, capacity: number, hash: number): number {
    const entries = entriesStart(table)
    const mask = capacity - 1
    let i = hash & mask
    while (this.words[entries + 2 * i + 1] !== 0 && this.words[entries + 2 * i] !== hash) i = (i + 1) & mask
    return entries + 2 * i
  }

  private grow(): void {
    const { table, capacity, words } = this
    const entries = entriesStart(table)
    let usedCount = 0
    for (let i = 0; i < capacity; i++) if (!this.isEmpty(words[entries + 2 * i + 1]!)) usedCount++
    const grown = usedCount * 2 > capacity ? capacity * 2 : capacity
    const address = this.newTable(grown)
    this.filled = 0
    for (let i = 0; i < capacity; i++) {
      const where = words[entries + 2 * i + 1]!
      if (this.isEmpty(where)) {
        if (isList(where)) this.retireList(where)
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
    return isFree(where) || (isList(where) && lengthOf(this.words, where) === 0)
  }

  private newTable(capacity: number): Address {
    const table = this.space.allocator.allocate(tableBytes(capacity), 'postings')
    this.space.heap.zero(table, Math.ceil(tableBytes(capacity) / 8) * 8)
    this.words[wordIndex(table, CAPACITY)] = capacity
    return table
  }

  private newList(capacity: number): Address {
    const list = this.space.allocator.allocate(listBytes(capacity), 'postings')
    this.words[wordIndex(list, CAPACITY)] = capacity
    this.words[wordIndex(list, LENGTH)] = 0
    return list
  }

  private retireTable(): void {
    const { table, capacity, space } = this
    space.reclaimer.retire(0, space.sequence, () => space.allocator.free(table, tableBytes(capacity), 'postings'))
  }

  private retireList(list: Address): void {
    const { reclaimer, allocator, sequence } = this.space
    const bytes = listBytes(capacityOf(this.words, list))
    reclaimer.retire(0, sequence, () => allocator.free(list, bytes, 'postings'))
  }
}
