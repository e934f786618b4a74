import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { DistinctBytes } from '../../base/distinct-bytes.ts'
import { isCutKey, keyBytes, writeIndexKey } from '../../row-format/index-key.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { type EncodedRows, NO_VALUE } from '../contract/encoded-rows.ts'

const WORD = 4
/** Maximum number of bytes of a UTF-16 code unit. */
const UNIT_BYTES = 3
/** Number of rows from which the size of all rows is estimated, and how much larger that of the others may be. */
const MEASURED = 64
const MARGIN = 1.1

/**
 * Collects encoded rows with their index keys and foreign keys. For each element, these are put first; then {@link addRow} or
 * {@link addNothing} completes the element.
 */
export class RowsBuilder {
  /** End of the last complete row. */
  end = 0
  /** Memory of the rows. */
  private rows = Buffer.alloc(0)
  private view = viewOf(this.rows)
  /** End of what has been written of the next row. */
  private at = 0
  /** Number of complete elements. */
  private count = 0
  /** Number of elements for which there is room: one more than are complete, at least. */
  private capacity: number
  private ends: Uint32Array
  private keyDigits: Uint8Array
  private readonly indexes: readonly { readonly attribute: StorageAttribute; readonly keys: DistinctBytes }[]
  private readonly indexNumbers: Uint32Array[]
  private readonly foreignKeys: readonly Map<Value, number>[]
  private readonly foreignNumbers: Uint32Array[]

  /** @param indexes see `indexesOf` @param elements expected number of elements */
  constructor({ references }: RowLayout, indexes: readonly StorageAttribute[], elements: number) {
    this.capacity = elements + 1
    const { capacity } = this
    this.ends = new Uint32Array(capacity)
    this.keyDigits = new Uint8Array(capacity)
    this.indexes = indexes.map(attribute => ({ attribute, keys: new DistinctBytes() }))
    this.indexNumbers = indexes.map(() => noNumbers(capacity))
    this.foreignKeys = references.map(() => new Map())
    this.foreignNumbers = references.map(() => noNumbers(capacity))
  }

  /** Number of bytes that have been written of the next row. */
  get written(): number {
    return this.at - this.end
  }

  /** Writes bytes of a row. */
  write(source: DataView, start = 0, end = source.byteLength): void {
    this.reserve(end - start)
    const { view } = this
    let i = start
    let { at } = this
    for (; i + WORD <= end; i += WORD, at += WORD) view.setUint32(at, source.getUint32(i))
    for (; i < end; i++) view.setUint8(at++, source.getUint8(i))
    this.at = at
  }

  writeText(text: string): void {
    this.reserve(UNIT_BYTES * text.length)
    this.at += this.rows.write(text, this.at)
  }

  writeByte(byte: number): void {
    this.reserve(1)
    this.view.setUint8(this.at++, byte)
  }

  /** Replaces a word of 32 bits. @param place its distance from the start of the row */
  setWord(place: number, word: number): void {
    this.view.setUint32(this.end + place, word, true)
  }

  /** Puts the value of the element in an index. @returns false if the writer has to compare the value itself */
  putIndexed(index: number, value: Value): boolean {
    const { attribute } = this.indexes[index]!
    const end = writeIndexKey(attribute, value, 0)
    if (attribute.unique && typeof value === 'string' && isCutKey(0, end)) return false
    this.putIndexKey(index, keyBytes, end)
    return true
  }

  /** Puts the key of the element in an index, which is at the beginning of `bytes`. */
  putIndexKey(index: number, bytes: Uint8Array, end: number): void {
    this.putIndexNumber(index, this.indexes[index]!.keys.numberOf(bytes, 0, end))
  }

  /** Puts the key of the element in an index by its number. */
  putIndexNumber(index: number, number: number): void {
    this.indexNumbers[index]![this.count] = number
  }

  /** Number of the key that has been put in an index for this element. */
  indexNumber(index: number): number {
    return this.indexNumbers[index]![this.count]!
  }

  /** Puts a foreign key of the element. */
  putForeignKey(reference: number, value: Value): void {
    if (value !== null) this.putForeignNumber(reference, this.foreignNumber(reference, value))
  }

  /** Number of a foreign key that is not null. */
  foreignNumber(reference: number, value: Value): number {
    const keys = this.foreignKeys[reference]!
    const knownNumber = keys.get(value)
    if (knownNumber !== undefined) return knownNumber
    keys.set(value, keys.size)
    return keys.size - 1
  }

  /** Puts a foreign key of the element by its number. */
  putForeignNumber(reference: number, number: number): void {
    this.foreignNumbers[reference]![this.count] = number
  }

  /** Completes an element whose row has been written. @param keyDigits number of digits of its automatic key, or 0 */
  addRow(keyDigits: number): void {
    this.end = this.at
    this.addElement(keyDigits)
  }

  /** Leaves an element to the writer. */
  addNothing(): void {
    this.addElement(0)
  }

  finish(): EncodedRows {
    const { ends, rows, end, keyDigits, indexNumbers, foreignNumbers, count } = this
    return {
      ends: ends.slice(0, count),
      rows: rows.subarray(0, end),
      keyDigits: keyDigits.slice(0, count),
      indexes: this.indexes.map(({ keys }, index) => {
        const { bytes, ends, places } = keys.sorted()
        const numbers = indexNumbers[index]!.slice(0, count)
        for (let i = 0; i < count; i++) if (numbers[i] !== NO_VALUE) numbers[i] = places[numbers[i]!]!
        return { values: { bytes, ends }, numbers }
      }),
      foreignKeys: this.foreignKeys.map((keys, reference) => ({
        values: [...keys.keys()],
        numbers: foreignNumbers[reference]!.slice(0, count),
      })),
    }
  }

  private addElement(keyDigits: number): void {
    this.keyDigits[this.count] = keyDigits
    this.ends[this.count] = this.end
    this.count++
    if (this.count === this.capacity) this.growElements()
  }

  private growElements(): void {
    const { indexNumbers, foreignNumbers } = this
    this.capacity = 2 * this.capacity
    const grown = <A extends Uint8Array | Uint32Array>(to: A, from: A): A => {
      to.set(from)
      return to
    }
    this.ends = grown(new Uint32Array(this.capacity), this.ends)
    this.keyDigits = grown(new Uint8Array(this.capacity), this.keyDigits)
    for (const columns of [indexNumbers, foreignNumbers])
      for (const [i, numbers] of columns.entries()) columns[i] = grown(noNumbers(this.capacity), numbers)
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.rows.length) return
    // Once some rows are known, all of them probably fit without being copied again.
    const expected = this.count < MEASURED ? 0 : Math.ceil((this.at / this.count) * this.capacity * MARGIN)
    const grown = Buffer.allocUnsafe(Math.max(2 * (this.at + bytes), expected))
    this.rows.copy(grown, 0, 0, this.at)
    this.rows = grown
    this.view = viewOf(grown)
  }
}

/** Bytes that {@link RowsBuilder.write} takes: words are copied several times as fast as bytes. */
export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

const noNumbers = (length: number): Uint32Array => new Uint32Array(length).fill(NO_VALUE)
