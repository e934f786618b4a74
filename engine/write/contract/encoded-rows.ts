import { deserialize, serialize } from 'node:v8'
import type { Value } from '../../catalog/value.ts'
import type { BodyParts } from './requests.ts'

/**
 * New entities of a large body, encoded by a thread of the pool. Elements that it could not encode, for whatever reason, are left to
 * the writer.
 */
export interface EncodedRows {
  /** For each element the end of its row in `rows`: that of the element before if it has none. */
  readonly ends: Uint32Array
  /** Rows, one after the other, as `completeRow` expects them. */
  readonly rows: Buffer
  /** For each element the number of digits of its automatic key; 0 for one with a key of its own. */
  readonly keyDigits: Uint8Array
  /** Values of each index, in the order of `indexesOf`, then by element. */
  readonly indexed: readonly (readonly Value[])[]
  /** Foreign keys of each relation, in the order of the layout's references, then by element. */
  readonly foreignKeys: readonly (readonly Value[])[]
}

type Values = Pick<EncodedRows, 'keyDigits' | 'indexed' | 'foreignKeys'>

const WORD = Uint32Array.BYTES_PER_ELEMENT
const HEADER_WORDS = 4

/**
 * Packs the outcome of splitting a body into shared memory, which threads pass on without a copy: four words (1 for an array of
 * entities, numbers of words of ranges and of ends, bytes of rows), ranges, ends, rows, and the values as `v8.serialize` writes them.
 */
export function packSplitBody({ many, ranges }: BodyParts, encoded: EncodedRows | undefined): Uint8Array {
  const { ends = [], rows = [], keyDigits, indexed, foreignKeys } = encoded ?? {}
  const values = encoded ? serialize({ keyDigits, indexed, foreignKeys }) : Buffer.alloc(0)
  const words = HEADER_WORDS + ranges.length + ends.length
  const bytes = new Uint8Array(new SharedArrayBuffer(words * WORD + rows.length + values.length))
  const head = new Uint32Array(bytes.buffer, 0, words)
  head.set([many ? 1 : 0, ranges.length, ends.length, rows.length])
  head.set(ranges, HEADER_WORDS)
  head.set(ends, HEADER_WORDS + ranges.length)
  bytes.set(rows, words * WORD)
  bytes.set(values, words * WORD + rows.length)
  return bytes
}

const wordsOf = ({ buffer, byteOffset }: Uint8Array, start: number, count: number): Uint32Array =>
  new Uint32Array(buffer, byteOffset + start * WORD, count)

/** Elements of a body that {@link packSplitBody} has packed. */
export function unpackParts(bytes: Uint8Array): BodyParts {
  const [many, rangeWords] = wordsOf(bytes, 0, HEADER_WORDS) as unknown as [number, number]
  return { many: many === 1, ranges: wordsOf(bytes, HEADER_WORDS, rangeWords).slice() }
}

/** Rows of a body that {@link packSplitBody} has packed, in memory of their own; undefined if none were encoded. */
export function unpackRows(bytes: Uint8Array): EncodedRows | undefined {
  const [, rangeWords, endWords, rowBytes] = wordsOf(bytes, 0, HEADER_WORDS) as unknown as [
    number,
    number,
    number,
    number,
  ]
  if (endWords === 0) return undefined
  const ends = wordsOf(bytes, HEADER_WORDS + rangeWords, endWords).slice()
  const start = (HEADER_WORDS + rangeWords + endWords) * WORD
  const rows = Buffer.from(bytes.slice(start, start + rowBytes).buffer)
  return { ends, rows, ...(deserialize(Buffer.from(bytes.slice(start + rowBytes))) as Values) }
}
