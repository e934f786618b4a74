import { SEGMENT_ROWS, SEGMENT_WORDS } from '../../data/snapshot.ts'
import { type Address, NO_ADDRESS, wordIndex } from './address.ts'
import type { Allocator } from './allocator.ts'
import type { Reclaimer } from './reclaimer.ts'
import type { Part, SharedHeap } from './shared-heap.ts'

/**
 * A page holds one kind of data for a segment of rows:
 *
 * ```
 * u32 kind
 * u32 sequence of the version that it was created for: distinguishes pages that were at the same address
 * u32 × SEGMENT_WORDS bitmap: rows with a value; in the page of live rows, rows that exist
 * values: f64 or i64 of numbers, u32 of texts, vectors and rows
 * for vectors: u32 × SEGMENT_ROWS addresses of codes, u32 address of the sketches or 0, an unused word
 * ```
 */
const PAGE_KIND = 0
const PAGE_BORN = 1
export const PAGE_BITS = 8
export const PAGE_VALUES = PAGE_BITS + SEGMENT_WORDS * 4
export const PAGE_CODES = PAGE_VALUES + SEGMENT_ROWS * 4
export const PAGE_SKETCHES = PAGE_CODES + SEGMENT_ROWS * 4

export const BITS = 0
export const NUMBERS = 1
export const BIGINTS = 2
export const POINTERS = 3
/** Pages with the addresses of rows. Every update changes one, so these pages are small: see {@link ROW_PAGE_ROWS}. */
export const ROWS = 4
/** Addresses of vectors. */
export const VECTORS = 5
/** Kind of the pages of a column. */
export type ColumnKind = typeof BITS | typeof NUMBERS | typeof BIGINTS | typeof POINTERS | typeof VECTORS
type PageKind = ColumnKind | typeof ROWS

export const ROW_PAGE_ROWS = 1024

const VALUES_BYTES: Record<PageKind, number> = {
  [BITS]: 0,
  [NUMBERS]: SEGMENT_ROWS * 8,
  [BIGINTS]: SEGMENT_ROWS * 8,
  [POINTERS]: SEGMENT_ROWS * 4,
  [ROWS]: ROW_PAGE_ROWS * 4,
  [VECTORS]: SEGMENT_ROWS * 8 + 8,
}
const pageBytes = (kind: PageKind): number => PAGE_VALUES + VALUES_BYTES[kind]

const kindOf = (words: Uint32Array, page: Address): PageKind => words[(page >>> 2) + PAGE_KIND]! as PageKind
export const columnKindOf = kindOf as (words: Uint32Array, page: Address) => ColumnKind
export const bornOf = (words: Uint32Array, page: Address): number => words[(page >>> 2) + PAGE_BORN]!
// Indexes of the first entries of a page, as positions in the 32-bit words of the memory; for `numbersStart` in its 64-bit floats
// and integers.
export const bitsStart = (page: Address): number => (page + PAGE_BITS) >>> 2
export const valuesStart = (page: Address): number => (page + PAGE_VALUES) >>> 2
export const codesStart = (page: Address): number => (page + PAGE_CODES) >>> 2
export const numbersStart = (page: Address): number => (page + PAGE_VALUES) / 8
/** Address of the block of a row, by its page of addresses. */
export const rowBlock = (words: Uint32Array, page: Address, rowId: number): Address =>
  words[((page + PAGE_VALUES) >>> 2) + (rowId % ROW_PAGE_ROWS)]! as Address

/** State shared by the writer's parts. */
export interface Workspace {
  readonly heap: SharedHeap
  readonly allocator: Allocator
  readonly reclaimer: Reclaimer
  /** Sequence of the version that is being created. */
  sequence: number
}

/** State of {@link Pages} saved in an image. */
export interface PagesState {
  addresses: Address[]
  list: Address
  listCapacity: number
  listBorn: number
}

/**
 * The pages of one kind of data, for the writer. A page that readers may use is not changed: {@link writable} copies it, once for each
 * version. The exception is rows that do not belong to a version yet: they are added in place.
 */
export class Pages {
  private readonly addresses: Address[]
  /** The list of addresses that readers use. */
  private list: Address
  private listCapacity: number
  private listBorn: number
  private isChanged = false
  private readonly part: Part

  constructor(
    private readonly space: Workspace,
    private readonly kind: PageKind,
    state: PagesState = { addresses: [], list: NO_ADDRESS, listCapacity: 0, listBorn: 0 },
  ) {
    this.addresses = state.addresses
    this.list = state.list
    this.listCapacity = state.listCapacity
    this.listBorn = state.listBorn
    this.part = kind === ROWS ? 'rows' : 'columns'
  }

  get state(): PagesState {
    const { addresses, list, listCapacity, listBorn } = this
    return { addresses, list, listCapacity, listBorn }
  }

  get count(): number {
    return this.addresses.length
  }

  /** Address of a page for reading. */
  page(index: number): Address {
    return this.addresses[index]!
  }

  /** Address of a page that may be changed. @throws {MemoryFull} */
  writable(index: number): Address {
    const { heap, allocator, sequence } = this.space
    const address = this.addresses[index]
    if (address === undefined) return this.add(index)
    if (bornOf(heap.words, address) === sequence) return address
    const bytes = pageBytes(kindOf(heap.words, address))
    const copy = allocator.allocate(bytes, this.part)
    heap.copy(address, copy, bytes)
    this.replace(index, copy)
    return copy
  }

  /** Address of a page for adding a row that does not belong to a version yet. */
  appendable(index: number): Address {
    const address = this.addresses[index]
    if (address === undefined) return this.add(index)
    this.space.heap.preserve(address, pageBytes(this.kind))
    return address
  }

  /** Converts a page of numbers to one of 64-bit integers. */
  widen(index: number): Address {
    const { heap, allocator } = this.space
    const address = this.page(index)
    // Always a new page: readers may be using this one, even if a row is only added.
    const widenedPage = allocator.allocate(pageBytes(BIGINTS), this.part)
    heap.copy(address, widenedPage, PAGE_VALUES)
    const integers = new BigInt64Array(heap.words.buffer, widenedPage + PAGE_VALUES, SEGMENT_ROWS)
    for (let entry = 0; entry < SEGMENT_ROWS; entry++) {
      if (hasBit(heap, address, entry)) integers[entry] = BigInt(heap.floats[numbersStart(address) + entry]!)
    }
    heap.words[wordIndex(widenedPage, PAGE_KIND)] = BIGINTS
    this.replace(index, widenedPage)
    return widenedPage
  }

  /** The list of page addresses for the version that is being created. @throws {MemoryFull} */
  publish(): Address {
    if (!this.isChanged) return this.list
    const { heap, allocator, sequence } = this.space
    this.freeList()
    // Rounded up, so that lists of all lengths do not need blocks of all sizes.
    this.listCapacity = Math.max(16, 2 ** Math.ceil(Math.log2(this.addresses.length)))
    this.list = allocator.allocate(this.listCapacity * 4, 'directories')
    // Zeroed, because readers also look up segments whose rows were all deleted before the memory was filled.
    heap.zero(this.list, this.listCapacity * 4)
    heap.words.set(this.addresses, wordIndex(this.list, 0))
    this.listBorn = sequence
    this.isChanged = false
    return this.list
  }

  /** Frees everything as of the version that is being created. */
  clear(): void {
    for (const address of this.addresses) this.retirePage(address)
    this.addresses.length = 0
    this.freeList()
    this.list = NO_ADDRESS
  }

  private add(index: number): Address {
    const { heap, allocator, sequence } = this.space
    while (this.addresses.length <= index) {
      const bytes = pageBytes(this.kind)
      const address = allocator.allocate(bytes, this.part)
      heap.zero(address, bytes)
      heap.words[wordIndex(address, PAGE_KIND)] = this.kind
      heap.words[wordIndex(address, PAGE_BORN)] = sequence
      this.addresses.push(address)
    }
    this.isChanged = true
    return this.addresses[index]!
  }

  private replace(index: number, address: Address): void {
    const { heap, sequence } = this.space
    this.retirePage(this.page(index))
    heap.words[wordIndex(address, PAGE_BORN)] = sequence
    this.addresses[index] = address
    this.isChanged = true
  }

  private freeList(): void {
    if (this.list === 0) return
    this.retire(this.list, this.listCapacity * 4, this.listBorn, 'directories')
  }

  private retirePage(address: Address): void {
    const { words } = this.space.heap
    this.retire(address, pageBytes(kindOf(words, address)), bornOf(words, address), this.part)
  }

  private retire(address: Address, bytes: number, born: number, part: Part): void {
    const { reclaimer, allocator, sequence } = this.space
    reclaimer.retire(born, sequence, () => allocator.free(address, bytes, part))
  }
}

export const hasBit = ({ words }: SharedHeap, page: Address, entry: number): boolean =>
  (words[bitsStart(page) + (entry >>> 5)]! & (1 << (entry & 31))) !== 0

/** A value of a page of a column: a number, or the address of a text or a vector; undefined for null. */
export function valueAt(heap: SharedHeap, page: Address, entry: number): number | bigint | undefined {
  if (!hasBit(heap, page, entry)) return undefined
  const kind = columnKindOf(heap.words, page)
  switch (kind) {
    case NUMBERS:
      return heap.floats[numbersStart(page) + entry]
    case BIGINTS:
      return heap.integers[numbersStart(page) + entry]
    case POINTERS:
    case VECTORS:
      return heap.words[valuesStart(page) + entry]
    case BITS:
      return 1
    default:
      return kind satisfies never
  }
}

export function setBit({ words }: SharedHeap, page: Address, entry: number, isSet: boolean): void {
  const word = bitsStart(page) + (entry >>> 5)
  const bit = 1 << (entry & 31)
  words[word] = isSet ? words[word]! | bit : words[word]! & ~bit
}
