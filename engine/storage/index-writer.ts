import type { StorageAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import type { Environment } from './environment.ts'
import { attributeRange, indexPrefix, LastChunkKey, postingKey } from './keys.ts'
import { isCut } from '../row-format/index-key.ts'
import {
  addPostings,
  addRows,
  firstPosting,
  firstRow,
  postings,
  putFirstRow,
  putRows,
  removePosting,
} from './postings.ts'
import { NO_ROW } from '../row-format/row-layout.ts'
import { fold } from '../base/text/fold.ts'
import type { IndexEntries } from '../data/store-transaction.ts'

/** Rows of one value that are still to be written. */
interface PendingPostings {
  /** Prefix of their keys, a byte in each character. */
  readonly prefix: string
  readonly rowIds: number[]
}

/**
 * The indexes inside a write transaction. Entries of unique attributes are written immediately, because later entities look them up; all
 * others are collected and written by {@link flush}, which every reader of them must call first.
 */
export class IndexWriter {
  /** Postings of attributes that are not unique, by the values as indexes compare them. */
  private readonly pending = new Map<StorageAttribute, Map<Value, PendingPostings>>()
  /** Upper bound of the keys of a unique attribute: a key above it needs no search. Read from the open transaction. */
  private readonly highest = new Map<StorageAttribute, Buffer>()

  private readonly key = new LastChunkKey()

  constructor(private readonly table: Environment['index']) {}

  /**
   * Row that holds `value` (by fold) in a unique attribute, or undefined.
   * @param textOf returns the text of that attribute in a row
   */
  holder(attribute: StorageAttribute, value: Value, textOf: (rowId: number) => string): number | undefined {
    const prefix = indexPrefix(attribute, value)
    const highest = this.highestOf(attribute)
    if (prefix.compare(highest) > 0) return undefined
    const foldedText = typeof value === 'string' ? fold(value) : ''
    // The index holds only the beginning of a very long text.
    if (!isCut(foldedText)) return firstPosting(this.table, prefix)
    return postings(this.table, prefix).find(rowId => fold(textOf(rowId)) === foldedText)
  }

  /** Row that holds the value of an index key in a unique attribute, or undefined. Not for texts that the index cuts. */
  holderOf(attribute: StorageAttribute, bytes: Uint8Array, start: number, end: number): number | undefined {
    const key = this.key.set(attribute, bytes, start, end)
    const highest = this.highestOf(attribute)
    return key.compare(highest) > 0 ? undefined : firstRow(this.table, key)
  }

  put(attribute: StorageAttribute, value: Value, rowId: number): void {
    if (!attribute.unique) {
      this.gather(attribute, value, rowId)
      return
    }
    const prefix = indexPrefix(attribute, value)
    const highest = this.highest.get(attribute)
    if (!highest || prefix.compare(highest) <= 0) addPostings(this.table, prefix, [rowId])
    else {
      const key = postingKey(prefix, NO_ROW)
      putFirstRow(this.table, key, rowId)
      this.highest.set(attribute, key)
    }
  }

  /**
   * Writes entries in the order of their keys. Keys above all others of their index are not looked up, and are appended if there are no
   * entries of other indexes after them.
   */
  putEntries(entries: IndexEntries): void {
    const { table } = this
    const { attribute, keys, rowEnds, rowIds } = entries
    if (keys.length === 0) return
    const highest = this.highest.get(attribute) ?? this.findHighest(attribute)
    const raises = this.keyOf(entries, keys.length - 1).compare(highest) > 0
    let isAbove = false
    let isLast = false
    for (let i = 0, start = 0; i < keys.length; i++) {
      const key = this.keyOf(entries, i)
      const end = rowEnds[i]!
      if (raises && !isAbove && key.compare(highest) > 0) {
        isAbove = true
        isLast = this.isLast(key)
      }
      if (isAbove) putRows(table, key, rowIds, start, end, isLast)
      else addRows(table, key, rowIds, start, end)
      start = end
      if (raises && attribute.unique && i === keys.length - 1) this.highest.set(attribute, Buffer.from(key))
    }
  }

  remove(attribute: StorageAttribute, value: Value, rowId: number): void {
    this.flush()
    removePosting(this.table, indexPrefix(attribute, value), rowId)
  }

  /** Writes collected entries in the order of keys, the rows of one value together. */
  flush(): void {
    if (this.pending.size === 0) return
    const lists = [...this.pending.values()].flatMap(byValue => [...byValue.values()])
    lists.sort((a, b) => (a.prefix < b.prefix ? -1 : 1))
    for (const { prefix, rowIds } of lists) addPostings(this.table, Buffer.from(prefix, 'latin1'), rowIds)
    this.pending.clear()
  }

  /** Drops collected entries. */
  discard(): void {
    this.pending.clear()
  }

  /** Drops all state after a rollback: removed entries exist again, perhaps above the highest key known. */
  forget(): void {
    this.discard()
    this.highest.clear()
  }

  /** Collects an index entry. Bulk data has the same few values again and again, so a key is created once for each of them. */
  private gather(attribute: StorageAttribute, value: Value, rowId: number): void {
    let byValue = this.pending.get(attribute)
    if (!byValue) {
      byValue = new Map()
      this.pending.set(attribute, byValue)
    }
    const comparedValue = typeof value === 'string' ? fold(value) : value
    const postings = byValue.get(comparedValue)
    if (postings) postings.rowIds.push(rowId)
    else byValue.set(comparedValue, { prefix: indexPrefix(attribute, value).toString('latin1'), rowIds: [rowId] })
  }

  private keyOf({ attribute, bytes, ends, keys }: IndexEntries, index: number): Buffer {
    const place = keys[index]!
    return this.key.set(attribute, bytes, place === 0 ? 0 : ends[place - 1]!, ends[place]!)
  }

  private isLast(key: Buffer): boolean {
    const [last] = this.table.getKeys({ reverse: true, limit: 1 })
    return last === undefined || key.compare(last) > 0
  }

  private highestOf(attribute: StorageAttribute): Buffer {
    const knownKey = this.highest.get(attribute)
    if (knownKey) return knownKey
    const highest = this.findHighest(attribute)
    this.highest.set(attribute, highest)
    return highest
  }

  private findHighest(attribute: StorageAttribute): Buffer {
    const { start, end } = attributeRange(attribute.dataClass.tableNumber, attribute.position)
    // Reverse ranges start above and end below.
    const [highest = start] = this.table.getKeys({ start: end, end: start, reverse: true, limit: 1 })
    return highest
  }
}
