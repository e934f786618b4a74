import type { StorageAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import type { Environment } from '../storage/environment.ts'
import { attributeRange, indexPrefix, isCut, postingKey } from '../storage/keys.ts'
import { addPostings, firstPosting, postings, putFirstPosting, removePosting } from '../storage/postings.ts'
import { NO_ROW } from '../storage/row-layout.ts'
import { fold } from '../text/fold.ts'

/**
 * The indexes inside a write transaction. Entries of unique attributes are put at once, because later entities look for
 * them; those of others are gathered and put by {@link flush}, which whoever reads them has to call before.
 */
export class IndexWriter {
  /** Rows of attributes that are not unique, by the prefix of their keys, a byte in each character. */
  private readonly pending = new Map<string, number[]>()
  /** Upper bound of the keys of a unique attribute: what is above it needs no search. */
  private readonly highest = new Map<StorageAttribute, Buffer>()

  constructor(private readonly table: Environment['index']) {}

  /**
   * Row that holds `value` (by fold) in a unique attribute, or undefined.
   * @param textOf the text of that attribute in a row
   */
  holder(attribute: StorageAttribute, value: Value, textOf: (rowId: number) => string): number | undefined {
    const prefix = indexPrefix(attribute, value)
    const highest = this.highest.get(attribute) ?? this.findHighest(attribute)
    if (prefix.compare(highest) > 0) return undefined
    const folded = typeof value === 'string' ? fold(value) : ''
    // The index holds only the beginning of a very long text.
    if (!isCut(folded)) return firstPosting(this.table, prefix)
    return postings(this.table, prefix).find(rowId => fold(textOf(rowId)) === folded)
  }

  put(attribute: StorageAttribute, value: Value, rowId: number): void {
    const prefix = indexPrefix(attribute, value)
    if (!attribute.unique) {
      const name = prefix.toString('latin1')
      const rowIds = this.pending.get(name)
      if (rowIds) rowIds.push(rowId)
      else this.pending.set(name, [rowId])
      return
    }
    const highest = this.highest.get(attribute)
    if (!highest || prefix.compare(highest) <= 0) addPostings(this.table, prefix, [rowId])
    else {
      putFirstPosting(this.table, prefix, rowId)
      this.highest.set(attribute, postingKey(prefix, NO_ROW))
    }
  }

  remove(attribute: StorageAttribute, value: Value, rowId: number): void {
    this.flush()
    removePosting(this.table, indexPrefix(attribute, value), rowId)
  }

  /** Puts what has been gathered, the rows of one value together, and neighbours behind each other. */
  flush(): void {
    if (this.pending.size === 0) return
    for (const name of [...this.pending.keys()].sort()) {
      addPostings(this.table, Buffer.from(name, 'latin1'), this.pending.get(name)!)
    }
    this.pending.clear()
  }

  /** Forgets what has been gathered. */
  discard(): void {
    this.pending.clear()
  }

  private findHighest(attribute: StorageAttribute): Buffer {
    const { start, end } = attributeRange(attribute.dataClass.tableNumber, attribute.position)
    // Reverse ranges start above and end below.
    const [highest = start] = this.table.getKeys({ start: end, end: start, reverse: true, limit: 1 })
    this.highest.set(attribute, highest)
    return highest
  }
}
