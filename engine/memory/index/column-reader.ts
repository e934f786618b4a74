import { propertyReader } from '../../row-format/read-property.ts'
import { readBoolean, readDate, readInteger, readNumber } from '../../row-format/read-value.ts'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import { FIXED_HEADER_BYTES, headerBytes, NO_ROW, type RowLayout } from '../../row-format/row-layout.ts'
import type { ColumnAttribute, TextPool } from '../../data/snapshot.ts'
import { type Address, wordAt } from '../heap/address.ts'
import type { SharedHeap } from '../heap/shared-heap.ts'
import { TextKey } from '../text/text-key.ts'

/** A value of a column: a number, or the {@link Address} of a text or a vector; undefined for null. */
export type ColumnValue = number | bigint | undefined

/** Comparisons that order texts. */
export type TextOrder = Pick<TextPool, 'head' | 'compare'>

/** Compares two values of one column; null is lowest. @param texts set for a column of texts */
export function compareValues(a: ColumnValue, b: ColumnValue, texts: TextOrder | undefined): number {
  if (a === b) return 0
  if (a === undefined) return -1
  if (b === undefined) return 1
  if (texts) return texts.compare(a as number, b as number)
  return a < b ? -1 : a > b ? 1 : 0
}

/** Reads a column's value from the bytes of a row, which are found by their address. */
export interface ColumnReader {
  read(row: Address): ColumnValue
  /** True if two rows certainly have the same value, found without reading it. */
  isSame(a: Address, b: Address): boolean
}

/** Stores values that do not fit into a column. Both methods return the address of the value. */
interface ValueStore {
  /** Interns a text, and counts one more row that has it. */
  putText(key: TextKey): Address
  /** @param start start of its JSON text in the memory */
  putVector(start: number, end: number): Address
}

export function columnReader(
  attribute: ColumnAttribute,
  layout: RowLayout,
  heap: SharedHeap,
  { putText, putVector }: ValueStore,
): ColumnReader {
  const { bytes, words } = heap
  if (attribute.kind === 'relatedEntity') {
    const word = FIXED_HEADER_BYTES / 4 + layout.referenceOf.get(attribute)!
    const reference = (row: Address): number => wordAt(words, row, word)
    return {
      read: row => (reference(row) === NO_ROW ? undefined : reference(row)),
      isSame: (a, b) => reference(a) === reference(b),
    }
  }
  const slot = layout.slotOf.get(attribute.source?.object ?? attribute)!
  const text = headerBytes(layout)
  const word = FIXED_HEADER_BYTES / 4 + layout.references.length + slot
  const prefix = text + layout.prefixes[slot]!.length
  const start = (row: Address): number => row + prefix + wordAt(words, row, word)
  const end = (row: Address): number => row + text + wordAt(words, row, word + 1)
  return { read: valueReader(), isSame }

  /** Compares bytes. The link of an image changes with the stamp of its row, so images are read again. */
  function isSame(a: Address, b: Address): boolean {
    const startA = start(a)
    const startB = start(b)
    const length = end(a) - startA
    if (length !== end(b) - startB) return false
    for (let i = 0; i < length; i++) if (bytes[startA + i] !== bytes[startB + i]) return false
    return true
  }

  function valueReader(): (row: Address) => ColumnValue {
    const { type, simpleDate, source } = attribute as Exclude<ColumnAttribute, { kind: 'relatedEntity' }>
    if (source) {
      const key = new TextKey()
      const readText = (_: Buffer, from: number, to: number) => putText(key.setJson(heap, from + 1, to - 1))
      const readProperty = propertyReader(attribute as StorageAttribute, readText)
      return row => readProperty(bytes, start(row))
    }
    switch (TYPES[type].cell) {
      case 'text': {
        const key = new TextKey()
        return row => {
          const at = start(row)
          return bytes[at] === QUOTE ? putText(key.setJson(heap, at + 1, end(row) - 1)) : undefined
        }
      }
      case 'vector':
        return row => (bytes[start(row)] === LETTER_N ? undefined : putVector(start(row), end(row)))
      case 'presence':
        return row => (bytes[start(row)] === LETTER_N ? undefined : 1)
      case 'bit':
        return row => readBoolean(bytes, start(row))
      case 'date':
        return row => readDate(bytes, start(row), end(row), simpleDate, layout.wire)
      case 'integer':
        return row => readInteger(bytes, start(row), end(row))
      case 'double':
        return row => readNumber(bytes, start(row), end(row))
      case 'json':
        throw new Error(`${attribute.name} is an object: only its properties have columns`)
    }
  }
}

const QUOTE = 0x22
const LETTER_N = 0x6e
