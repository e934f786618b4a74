import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { DistinctBytes } from '../../base/distinct-bytes.ts'
import { keyBytes, MAX_TEXT_BYTES, writeIndexKey } from '../../row-format/index-key.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { type EncodedRows, NO_VALUE } from '../contract/encoded-rows.ts'

/** Bytes of a tag and the end of a text in a key. */
const TEXT_KEY_BYTES = 2

/**
 * Collects encoded rows with their index keys and foreign keys. For each element, these are put first; then {@link addRow} or
 * {@link addNothing} completes the element.
 */
export class RowsBuilder {
  /** Memory of the rows; a new row is written at {@link end}. */
  rows = Buffer.alloc(0)
  /** End of the last row. */
  end = 0
  private readonly ends: number[] = []
  private readonly keyDigits: number[] = []
  private readonly indexes: readonly { readonly attribute: StorageAttribute; readonly keys: DistinctBytes }[]
  private readonly indexNumbers: number[][]
  private readonly foreignKeys: readonly Map<Value, number>[]
  private readonly foreignNumbers: number[][]

  /** @param indexes see `indexesOf` */
  constructor({ references }: RowLayout, indexes: readonly StorageAttribute[]) {
    this.indexes = indexes.map(attribute => ({ attribute, keys: new DistinctBytes() }))
    this.indexNumbers = indexes.map(() => [])
    this.foreignKeys = references.map(() => new Map())
    this.foreignNumbers = references.map(() => [])
  }

  /** Makes room for a row of up to `bytes` bytes at {@link end}. */
  reserve(bytes: number): Buffer {
    if (this.end + bytes > this.rows.length) {
      const grown = Buffer.allocUnsafe(2 * (this.end + bytes))
      this.rows.copy(grown, 0, 0, this.end)
      this.rows = grown
    }
    return this.rows
  }

  /** Puts the value of the element in an index. @returns false if the writer has to compare the value itself */
  putIndexed(index: number, value: Value): boolean {
    const { attribute } = this.indexes[index]!
    const end = writeIndexKey(attribute, value, 0)
    if (attribute.unique && typeof value === 'string' && end >= TEXT_KEY_BYTES + MAX_TEXT_BYTES) return false
    this.putIndexKey(index, keyBytes, end)
    return true
  }

  /** Puts the key of the element in an index, which is at the beginning of `bytes`. */
  putIndexKey(index: number, bytes: Uint8Array, end: number): void {
    this.indexNumbers[index]![this.ends.length] = this.indexes[index]!.keys.numberOf(bytes, 0, end)
  }

  /** Puts a foreign key of the element. */
  putForeignKey(reference: number, value: Value): void {
    if (value === null) return
    const keys = this.foreignKeys[reference]!
    const number = keys.get(value) ?? keys.size
    if (number === keys.size) keys.set(value, number)
    this.foreignNumbers[reference]![this.ends.length] = number
  }

  /** Completes an element whose row is at {@link end}. @param keyDigits number of digits of its automatic key, or 0 */
  addRow(length: number, keyDigits: number): void {
    this.end += length
    this.keyDigits.push(keyDigits)
    this.ends.push(this.end)
  }

  /** Leaves an element to the writer. */
  addNothing(): void {
    this.keyDigits.push(0)
    this.ends.push(this.end)
  }

  finish(): EncodedRows {
    const { ends, rows, end, keyDigits, indexNumbers, foreignNumbers } = this
    const numbersOf = (numbers: readonly number[], places?: Uint32Array): Uint32Array =>
      Uint32Array.from(ends, (_, i) => {
        const number = numbers[i]
        return number === undefined ? NO_VALUE : places ? places[number]! : number
      })
    return {
      ends: Uint32Array.from(ends),
      rows: rows.subarray(0, end),
      keyDigits: Uint8Array.from(keyDigits),
      indexes: this.indexes.map(({ keys }, index) => {
        const { bytes, ends: keyEnds, places } = keys.sorted()
        return { values: { bytes, ends: keyEnds }, numbers: numbersOf(indexNumbers[index]!, places) }
      }),
      foreignKeys: this.foreignKeys.map((keys, reference) => ({
        values: [...keys.keys()],
        numbers: numbersOf(foreignNumbers[reference]!),
      })),
    }
  }
}
