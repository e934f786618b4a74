import type { StorageAttribute } from '../catalog/attribute.ts'
import type { IndexEntries } from './store-transaction.ts'

/** Keys of an index as `index-key.ts` writes them: ascending, one after the other. */
export interface IndexKeys {
  readonly bytes: Uint8Array
  /** End of each key in `bytes`. */
  readonly ends: Uint32Array
}

/**
 * Groups the rows of an index by their keys.
 * @param places place of each row's key; a place beyond all keys for a row without an entry
 * @param rowIds ascending
 */
export function entriesByKey(
  attribute: StorageAttribute,
  { bytes, ends }: IndexKeys,
  places: Uint32Array,
  rowIds: Uint32Array,
): IndexEntries {
  const keyLimit = ends.length
  const counts = new Uint32Array(keyLimit)
  let count = 0
  let keyCount = 0
  for (let i = 0; i < places.length; i++) {
    const place = places[i]!
    if (place >= keyLimit) continue
    if (counts[place]!++ === 0) keyCount++
    count++
  }
  const keys = new Uint32Array(keyCount)
  const rowEnds = new Uint32Array(keyCount)
  const nextRows = counts
  for (let place = 0, key = 0, end = 0; key < keyCount; place++) {
    const rowCount = counts[place]!
    if (rowCount === 0) continue
    nextRows[place] = end
    end += rowCount
    keys[key] = place
    rowEnds[key++] = end
  }
  const grouped = new Uint32Array(count)
  for (let i = 0; i < places.length; i++) {
    const place = places[i]!
    if (place < keyLimit) grouped[nextRows[place]!++] = rowIds[i]!
  }
  return { attribute, bytes, ends, keys, rowEnds, rowIds: grouped }
}
