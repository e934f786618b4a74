import { RowSet } from '../row-set/row-set.ts'
import { type Environment, keyRange } from './environment.ts'
import { rowIdOfKey, rowKey } from './keys.ts'
import { NO_ROW } from '../row-format/row-layout.ts'
import { readTableState } from './store-state.ts'

/** Existing rows of one dataclass, updated commit by commit. */
export class LiveRows {
  private words: Uint32Array
  private size = 0
  private derived: RowSet | undefined

  constructor(environment: Environment, tableNumber: number) {
    const { nextRowId, rowCount } = readTableState(environment, tableNumber)
    this.words = new Uint32Array((nextRowId + 31) >>> 5)
    if (rowCount === nextRowId) {
      // No row was ever deleted, so the row keys need not be read.
      for (let rowId = 0; rowId < nextRowId; rowId++) this.insert(rowId)
    } else {
      for (const key of keyRange(environment.rows, rowKey(tableNumber, 0), rowKey(tableNumber, NO_ROW))) {
        this.insert(rowIdOfKey(key))
      }
    }
  }

  insert(rowId: number): void {
    const word = rowId >>> 5
    if (word >= this.words.length) {
      const grown = new Uint32Array(Math.max(word + 1, Math.ceil(this.words.length * 1.25)))
      grown.set(this.words)
      this.words = grown
    }
    const bit = 1 << (rowId & 31)
    if (this.words[word]! & bit) return
    this.words[word]! |= bit
    this.size++
    this.derived = undefined
  }

  delete(rowId: number): void {
    const bit = 1 << (rowId & 31)
    if (!((this.words[rowId >>> 5] ?? 0) & bit)) return
    this.words[rowId >>> 5]! &= ~bit
    this.size--
    this.derived = undefined
  }

  /** Rows as an immutable set; copied only after rows were added or deleted: 125 kB for a million. */
  get rows(): RowSet {
    this.derived ??= RowSet.fromWords(this.words.slice(), this.size)
    return this.derived
  }
}
