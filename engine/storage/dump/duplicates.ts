import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { IndexEntries } from '../../data/store-transaction.ts'
import { isCutKey, isNullKey } from '../../row-format/index-key.ts'

/** An entity with a value that has to be unique and that another one has. */
export interface Duplicate {
  readonly attribute: StorageAttribute
  readonly rowId: number
}

interface CheckedKey {
  readonly attribute: StorageAttribute
  readonly bytes: Buffer
  /** Folds of the texts of its rows, if the index holds only their beginning. */
  readonly texts: Set<string> | undefined
}

/** Finds duplicates among the entries of indexes, which arrive in the order of their keys and then of rows. */
export class DuplicateFinder {
  /** The last key of the entries so far: the rows of one key may be in several entries. */
  private lastKey: CheckedKey | undefined

  /** @param foldOf returns the fold of a text in a row */
  constructor(private readonly foldOf: (attribute: StorageAttribute, rowId: number) => string) {}

  /** The entities of the next entries whose value an entity before them has. */
  *among({ attribute, bytes, ends, keys, rowEnds, rowIds }: IndexEntries): Generator<Duplicate> {
    if (!attribute.unique) return
    for (let i = 0, start = 0; i < keys.length; start = rowEnds[i++]!) {
      const place = keys[i]!
      const keyStart = place === 0 ? 0 : ends[place - 1]!
      const keyEnd = ends[place]!
      if (isNullKey(keyStart, keyEnd)) continue
      const isLast = i === keys.length - 1
      const earlier = i === 0 ? this.earlier(attribute, bytes.subarray(keyStart, keyEnd)) : undefined
      if (!isLast && !earlier && rowEnds[i] === start + 1) continue
      const texts = earlier ? earlier.texts : isCutKey(keyStart, keyEnd) ? new Set<string>() : undefined
      for (let row = start; row < rowEnds[i]!; row++) {
        const rowId = rowIds[row]!
        const text = texts && this.foldOf(attribute, rowId)
        if (texts ? texts.has(text!) : earlier || row > start) yield { attribute, rowId }
        texts?.add(text!)
      }
      if (isLast) this.lastKey = { attribute, bytes: Buffer.from(bytes.subarray(keyStart, keyEnd)), texts }
    }
  }

  /** The same key at the end of the entries before. */
  private earlier(attribute: StorageAttribute, key: Uint8Array): CheckedKey | undefined {
    const { lastKey } = this
    return lastKey?.attribute === attribute && lastKey.bytes.equals(key) ? lastKey : undefined
  }
}
