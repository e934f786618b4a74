import { deserialize, serialize } from 'node:v8'
import type { Value } from '../../catalog/value.ts'

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
  /** Values of each index, in the order of `indexesOf`, then by element. */
  readonly indexed: readonly (readonly Value[])[]
  /** Foreign keys of each relation, in the order of the layout's references, then by element. */
  readonly foreignKeys: readonly (readonly Value[])[]
}

type Values = Pick<EncodedRows, 'keyDigits' | 'indexed' | 'foreignKeys'>

const WORD = Uint32Array.BYTES_PER_ELEMENT
/**
 * Packs rows into shared memory, which threads pass on without a copy: two words (number of elements, bytes of rows), ends, rows, and
 * the values as `v8.serialize` writes them.
 */
export function packRows({ ends, rows, ...values }: EncodedRows): Uint8Array {
  const valueBytes = serialize(values)
  const start = (2 + ends.length) * WORD
  const bytes = new Uint8Array(new SharedArrayBuffer(start + rows.length + valueBytes.length))
  const words = new Uint32Array(bytes.buffer, 0, 2 + ends.length)
  words.set([ends.length, rows.length])
  words.set(ends, 2)
  bytes.set(rows, start)
  bytes.set(valueBytes, start + rows.length)
  return bytes
}

/** Number of elements of packed rows. */
const elementCount = ({ buffer, byteOffset }: Uint8Array): number => new Uint32Array(buffer, byteOffset, 1)[0]!

/** Unpacks rows of {@link packRows} into separate memory. */
export function unpackRows(bytes: Uint8Array): EncodedRows {
  const { buffer, byteOffset } = bytes
  const [count, rowBytes] = new Uint32Array(buffer, byteOffset, 2) as unknown as [number, number]
  const start = (2 + count) * WORD
  return {
    ends: new Uint32Array(buffer, byteOffset + 2 * WORD, count).slice(),
    rows: Buffer.from(bytes.slice(start, start + rowBytes).buffer),
    ...(deserialize(Buffer.from(bytes.slice(start + rowBytes))) as Values),
  }
}

/** The encoded elements of a body, packed in several pieces, of which one at a time is unpacked. */
export class EncodedBody {
  /** Index of the first element of each piece, then the number of all elements. */
  private readonly firsts: number[] = [0]
  private piece = 0
  private rows: EncodedRows | undefined

  constructor(private readonly pieces: readonly Uint8Array[]) {
    for (const bytes of pieces) this.firsts.push(this.firsts.at(-1)! + elementCount(bytes))
  }

  /** The rows that have an element, and its index among them. Cheap in ascending order. */
  at(index: number): { rows: EncodedRows; index: number } {
    const { firsts, pieces } = this
    if (index < firsts[this.piece]! || index >= firsts[this.piece + 1]!) {
      this.piece = firsts.findIndex(first => first > index) - 1
      this.rows = undefined
    }
    this.rows ??= unpackRows(pieces[this.piece]!)
    return { rows: this.rows, index: index - firsts[this.piece]! }
  }
}
