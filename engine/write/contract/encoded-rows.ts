import { deserialize, serialize } from 'node:v8'
import type { Value } from '../../catalog/value.ts'
import type { IndexKeys } from '../../data/index-entries.ts'

/** Distinct values of an attribute, and the value of each element. */
interface DistinctValues<Values> {
  readonly values: Values
  /** Number of each element's value in `values`; {@link NO_VALUE} if it has none. */
  readonly numbers: Uint32Array
}

export const NO_VALUE = 0xffffffff

/**
 * New entities of a large body, encoded by a thread of the pool. Elements that it could not encode, for whatever reason, are left to
 * the writer.
 */
export interface EncodedRows {
  /** End of each element's row in `rows`; an element without a row has the end of the element before it. */
  readonly ends: Uint32Array
  /** Rows, one after the other, as `completeRow` expects them. */
  readonly rows: Buffer
  /** Number of digits of each element's automatic key; 0 for an element that came with a key. */
  readonly keyDigits: Uint8Array
  /** Keys of each index, in the order of `indexesOf`. An automatic key has none in its index. */
  readonly indexes: readonly DistinctValues<IndexKeys>[]
  /** Foreign keys of each relation, in the order of the layout's references. Null has no value. */
  readonly foreignKeys: readonly DistinctValues<readonly Value[]>[]
}

const WORD = Uint32Array.BYTES_PER_ELEMENT

/**
 * Packs rows into shared memory, which threads pass on without a copy: number of parts u32, length of each part in bytes u32, then the
 * parts, each at a multiple of 4: ends, digits, rows; numbers, ends and bytes of each index; numbers and values of each relation, the
 * latter as `v8.serialize` writes them.
 */
export function packRows({ ends, rows, keyDigits, indexes, foreignKeys }: EncodedRows): Uint8Array {
  const parts: Uint8Array[] = [bytesOf(ends), keyDigits, rows]
  for (const { values, numbers } of indexes) parts.push(bytesOf(numbers), bytesOf(values.ends), values.bytes)
  for (const { values, numbers } of foreignKeys) parts.push(bytesOf(numbers), serialize(values))
  const start = (1 + parts.length) * WORD
  const length = parts.reduce((sum, part) => sum + aligned(part.length), start)
  const packed = new Uint8Array(new SharedArrayBuffer(length))
  new Uint32Array(packed.buffer, 0, 1 + parts.length).set([parts.length, ...parts.map(part => part.length)])
  let at = start
  for (const part of parts) {
    packed.set(part, at)
    at += aligned(part.length)
  }
  return packed
}

const aligned = (bytes: number): number => Math.ceil(bytes / WORD) * WORD

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** Number of elements of packed rows. */
const elementCount = ({ buffer, byteOffset }: Uint8Array): number =>
  new Uint32Array(buffer, byteOffset + WORD, 1)[0]! / WORD

/**
 * Unpacks rows of {@link packRows}. The rows are copied, because they are completed in place.
 * @param indexCount number of indexes of the dataclass
 */
export function unpackRows(packed: Uint8Array, indexCount: number): EncodedRows {
  const parts = partsOf(packed)
  const [ends, keyDigits, rows] = [wordsOf(parts[0]!), parts[1]!, Buffer.from(parts[2]!.slice().buffer)]
  const indexes: EncodedRows['indexes'][number][] = []
  let at = 3
  for (; indexes.length < indexCount; at += 3) {
    const [numbers, ends, bytes] = [parts[at]!, parts[at + 1]!, parts[at + 2]!]
    indexes.push({ values: { bytes, ends: wordsOf(ends) }, numbers: wordsOf(numbers) })
  }
  const foreignKeys: EncodedRows['foreignKeys'][number][] = []
  for (; at < parts.length; at += 2) {
    const values = deserialize(Buffer.from(parts[at + 1]!)) as Value[]
    foreignKeys.push({ values, numbers: wordsOf(parts[at]!) })
  }
  return { ends, rows, keyDigits, indexes, foreignKeys }
}

function partsOf({ buffer, byteOffset }: Uint8Array): Uint8Array[] {
  const count = new Uint32Array(buffer, byteOffset, 1)[0]!
  let at = byteOffset + (1 + count) * WORD
  return Array.from(new Uint32Array(buffer, byteOffset + WORD, count), length => {
    const part = new Uint8Array(buffer, at, length)
    at += aligned(length)
    return part
  })
}

const wordsOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, byteLength / WORD)

/** The encoded elements of a body, packed in several pieces, of which one at a time is unpacked. */
export class EncodedBody {
  /** Index of the first element of each piece, then the number of all elements. */
  private readonly firsts: number[] = [0]
  private piece = 0
  private rows: EncodedRows | undefined

  constructor(
    private readonly pieces: readonly Uint8Array[],
    private readonly indexCount: number,
  ) {
    for (const bytes of pieces) this.firsts.push(this.firsts.at(-1)! + elementCount(bytes))
  }

  /** The rows that have an element, and its index among them. Cheap in ascending order. */
  at(index: number): { rows: EncodedRows; index: number } {
    const { firsts, pieces } = this
    if (index < firsts[this.piece]! || index >= firsts[this.piece + 1]!) {
      this.piece = firsts.findIndex(first => first > index) - 1
      this.rows = undefined
    }
    this.rows ??= unpackRows(pieces[this.piece]!, this.indexCount)
    return { rows: this.rows, index: index - firsts[this.piece]! }
  }
}
