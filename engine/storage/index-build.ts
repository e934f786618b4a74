import { DistinctBytes } from '../base/distinct-bytes.ts'
import type { StorageAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import { entriesByKey } from '../data/index-entries.ts'
import type { IndexEntries } from '../data/store-transaction.ts'
import { keyBytes, writeIndexKey } from '../row-format/index-key.ts'
import { EntryFile } from './entry-file.ts'

/** Bytes of entries from which they are moved to a temporary file. */
const MAX_BYTES = 96 * 2 ** 20
/** Number of rows between two checks of the number of bytes. */
const ROWS_BETWEEN = 1024
/** Approximate number of entries that are returned at a time. */
const SLICE = 64 * 1024

interface BuiltIndex {
  readonly attribute: StorageAttribute
  keys: DistinctBytes
  /** Number of each row's key. */
  numbers: Uint32Array
}

/**
 * Sorts all entries of the indexes of one dataclass, so that each index can be written once, from its first key to its last. The memory
 * does not depend on the number of rows: entries beyond it are sorted runs in a temporary file.
 */
export class IndexBuild {
  private readonly indexes: readonly BuiltIndex[]
  private rowIds = new Uint32Array(ROWS_BETWEEN)
  private count = 0
  private file: EntryFile | undefined

  /** @param folder for the temporary file */
  constructor(
    attributes: readonly StorageAttribute[],
    private readonly folder: string,
    private readonly maxBytes = MAX_BYTES,
  ) {
    this.indexes = attributes.map(attribute => ({
      attribute,
      keys: new DistinctBytes(),
      numbers: new Uint32Array(ROWS_BETWEEN),
    }))
  }

  /** Adds a row, whose id is higher than those before. @param valueIn value of an attribute in the row */
  add(rowId: number, valueIn: (attribute: StorageAttribute) => Value): void {
    if (this.count % ROWS_BETWEEN === 0) this.makeRoom()
    for (const { attribute, keys, numbers } of this.indexes)
      numbers[this.count] = keys.numberOf(keyBytes, 0, writeIndexKey(attribute, valueIn(attribute), 0))
    this.rowIds[this.count++] = rowId
  }

  /**
   * All entries, an index after the other, in the order of keys and then of rows. Some are returned at a time, which are valid until the
   * next ones.
   */
  *entries(): Generator<IndexEntries> {
    try {
      if (this.file) this.spill()
      for (const index of this.indexes)
        yield* this.file ? this.file.merged(index.attribute) : slices(this.takeSorted(index))
    } finally {
      this.close()
    }
  }

  /** Removes the temporary file, if there is one. Called if {@link entries} is not. */
  close(): void {
    this.file?.close()
    this.file = undefined
  }

  private makeRoom(): void {
    const { indexes, count } = this
    const bytes = indexes.reduce((sum, { keys }) => sum + keys.byteLength + 4 * count, 4 * count)
    if (bytes >= this.maxBytes && count > 0) this.spill()
    if (this.count < this.rowIds.length) return
    this.rowIds = doubled(this.rowIds)
    for (const index of indexes) index.numbers = doubled(index.numbers)
  }

  /** Moves all entries to the file. */
  private spill(): void {
    this.file ??= new EntryFile(this.folder)
    for (const index of this.indexes) this.file.add(this.takeSorted(index))
    this.count = 0
  }

  private takeSorted(index: BuiltIndex): IndexEntries {
    const { attribute, numbers } = index
    const { count } = this
    const { bytes, ends, places } = index.keys.sorted()
    index.keys = new DistinctBytes()
    for (let i = 0; i < count; i++) numbers[i] = places[numbers[i]!]!
    return entriesByKey(attribute, { bytes, ends }, numbers.subarray(0, count), this.rowIds.subarray(0, count))
  }
}

function* slices(entries: IndexEntries): Generator<IndexEntries> {
  const { keys, rowEnds, rowIds } = entries
  for (let from = 0, firstRow = 0; from < keys.length; ) {
    let to = from + 1
    while (to < keys.length && rowEnds[to]! - firstRow <= SLICE) to++
    const endRow = rowEnds[to - 1]!
    yield {
      ...entries,
      keys: keys.subarray(from, to),
      rowEnds: rowEnds.subarray(from, to).map(end => end - firstRow),
      rowIds: rowIds.subarray(firstRow, endRow),
    }
    from = to
    firstRow = endRow
  }
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const grown = new Uint32Array(2 * array.length)
  grown.set(array)
  return grown
}
