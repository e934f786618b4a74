import type { Database, PutOptions } from 'lmdb'
import { getBytes } from './environment.ts'
import { postingKey, prefixEnd, rowIdOfKey } from './keys.ts'
import { NO_ROW } from '../row-format/row-layout.ts'

/**
 * The rows of each indexed value: a posting list, cut into chunks that are cheap to rewrite.
 *
 * ```
 * key     prefix (table, attribute, value; see `keys.ts`), u32 bound
 * value   u32 number of row ids in the chunks below, of the last chunk of a value; 0 in others
 *         u32 row ids, ascending
 * ```
 *
 * A chunk has the row ids up to its bound and above the bound of the chunk below. The last one has the bound NO_ROW and exists as
 * long as the value has rows. So one get returns the number of rows of a value, and most values are this one chunk; an LMDB entry
 * for each row would take five times as many bytes, and ten times as many pages for a commit to write.
 */
type Table = Database<Buffer, Buffer>

/** Maximum row ids of a chunk, which is rewritten as a whole when it changes. */
const CHUNK_ROWS = 256
const MAX_BYTES = 4 * (2 + 2 * CHUNK_ROWS)

/** Puts a key after all others. */
const APPEND: PutOptions = { append: true }

/** Number of chunks sampled for the average number of rows in a chunk of a range. */
const SAMPLED_CHUNKS = 32

/** Buffer in which chunks are assembled: lmdb-js looks up the address of every new buffer, which takes longer. */
const scratch = Buffer.from(new ArrayBuffer(MAX_BYTES))
const scratchWords = new Uint32Array(scratch.buffer)
/** The first words of {@link scratch}, by their number. */
const chunks = Array.from({ length: MAX_BYTES / 4 }, (_, words) => scratch.subarray(0, 4 * words))

interface Chunk {
  /** Number of row ids in the chunks below, in the last chunk of a value. */
  readonly below: number
  readonly rowIds: Uint32Array
}

/** Number of rows of a value. */
export function postingCount(table: Table, prefix: Buffer): number {
  const bytes = getBytes(table, postingKey(prefix, NO_ROW))
  return bytes ? readWord(bytes, 0) + bytes.length / 4 - 1 : 0
}

/** The first row of a value, or undefined. */
export const firstPosting = (table: Table, prefix: Buffer): number | undefined =>
  firstRow(table, postingKey(prefix, NO_ROW))

/** The first row of a value, or undefined. @param key of the last chunk of the value */
export function firstRow(table: Table, key: Buffer): number | undefined {
  const bytes = getBytes(table, key)
  if (!bytes) return undefined
  return readWord(bytes, 0) === 0 ? readWord(bytes, 4) : postings(table, key.subarray(0, -4))[0]
}

/** The rows of a value, ascending. */
export function postings(table: Table, prefix: Buffer): Uint32Array {
  const last = readChunk(table, postingKey(prefix, NO_ROW))
  if (!last || last.below === 0) return last?.rowIds ?? new Uint32Array(0)
  return postingsInRange(table, prefix, prefixEnd(prefix))
}

/** The rows of all values whose keys are from `start` up to, not including, `end`: by value, then row id. */
export function postingsInRange(table: Table, start: Buffer, end: Buffer): Uint32Array {
  let rowIds = new Uint32Array(CHUNK_ROWS)
  let length = 0
  for (const { value } of table.getRange({ start, end })) {
    const count = value.length / 4 - 1
    if (length + count > rowIds.length) {
      const grown = new Uint32Array(2 * (length + count))
      grown.set(rowIds)
      rowIds = grown
    }
    for (let i = 1; i <= count; i++) rowIds[length++] = readWord(value, 4 * i)
  }
  return rowIds.subarray(0, length)
}

/** Estimated number of rows of {@link postingsInRange}, at most `limit`. Exact for some dozens of values. */
export function estimatePostings(table: Table, start: Buffer, end: Buffer, limit: number): number {
  // LMDB counts a range to its end, so first check whether it exceeds the limit.
  for (const _ of table.getKeys({ start, end, offset: limit - 1, limit: 1 })) return limit
  const chunks = table.getKeysCount({ start, end })
  let rows = 0
  for (const { value } of table.getRange({ start, end, limit: SAMPLED_CHUNKS })) rows += value.length / 4 - 1
  return Math.min(limit, chunks <= SAMPLED_CHUNKS ? rows : Math.round((rows / SAMPLED_CHUNKS) * chunks))
}

export function hasPosting(table: Table, prefix: Buffer, rowId: number): boolean {
  const chunk = readChunk(table, chunkKey(table, prefix, rowId))
  return chunk?.rowIds.includes(rowId) ?? false
}

/** Adds rows, ascending, to a value. Rows that the value already has stay. */
export const addPostings = (table: Table, prefix: Buffer, rowIds: ArrayLike<number>): void =>
  addRows(table, postingKey(prefix, NO_ROW), rowIds, 0, rowIds.length)

/**
 * Adds the rows `rowIds[start…end]`, ascending, to a value.
 * @param key of the last chunk of the value
 */
export function addRows(table: Table, key: Buffer, rowIds: ArrayLike<number>, start: number, end: number): void {
  const last = getBytes(table, key)
  if (last) scratch.set(last)
  const count = last ? last.length / 4 - 1 : 0
  const below = last ? scratchWords[0]! : 0
  if (count > 0 && rowIds[start]! <= scratchWords[count]!) {
    const prefix = Buffer.from(key.subarray(0, -4))
    for (let i = start; i < end; i++) insertPosting(table, prefix, rowIds[i]!)
    return
  }
  // The usual case: new rows come after the existing ones.
  fillChunks(table, key, rowIds, start, end, { below, count })
}

/**
 * Writes the rows `rowIds[start…end]`, ascending, of a value without rows.
 * @param key of the last chunk of the value
 * @param isLast true if the table has no keys after those of the value
 */
export const putRows = (
  table: Table,
  key: Buffer,
  rowIds: ArrayLike<number>,
  start: number,
  end: number,
  isLast: boolean,
): void => fillChunks(table, key, rowIds, start, end, { below: 0, count: 0 }, isLast ? APPEND : undefined)

/** Adds rows to the last chunk, which is in the scratch memory, and puts full chunks below it. */
function fillChunks(
  table: Table,
  key: Buffer,
  rowIds: ArrayLike<number>,
  start: number,
  end: number,
  last: { below: number; count: number },
  options?: PutOptions,
): void {
  let { below, count } = last
  for (let i = start; i < end; i++) {
    if (count === CHUNK_ROWS) {
      putChunk(table, postingKey(key.subarray(0, -4), scratchWords[count]!), 0, count, options)
      below += count
      count = 0
    }
    scratchWords[++count] = rowIds[i]!
  }
  putChunk(table, key, below, count, options)
}

/** Writes the first row of a value without rows. @param key of the last chunk of the value */
export function putFirstRow(table: Table, key: Buffer, rowId: number): void {
  scratchWords[1] = rowId
  putChunk(table, key, 0, 1)
}

/** Removes a row from a value. */
export function removePosting(table: Table, prefix: Buffer, rowId: number): void {
  const key = chunkKey(table, prefix, rowId)
  const chunk = readChunk(table, key)
  const at = chunk ? chunk.rowIds.indexOf(rowId) : -1
  if (!chunk || at < 0) return
  scratchWords.set(chunk.rowIds.subarray(0, at), 1)
  scratchWords.set(chunk.rowIds.subarray(at + 1), 1 + at)
  const count = chunk.rowIds.length - 1
  if (rowIdOfKey(key) !== NO_ROW) {
    if (count > 0) putChunk(table, key, 0, count)
    else table.removeSync(key)
    addBelow(table, prefix, -1)
  } else if (count > 0) putChunk(table, key, chunk.below, count)
  else raiseLast(table, prefix, chunk.below)
}

/** Inserts a row between others. */
function insertPosting(table: Table, prefix: Buffer, rowId: number): void {
  const key = chunkKey(table, prefix, rowId)
  const { below, rowIds } = readChunk(table, key)!
  const index = rowIds.findIndex(other => other >= rowId)
  const at = index < 0 ? rowIds.length : index
  if (rowIds[at] === rowId) return
  scratchWords.set(rowIds.subarray(0, at), 1)
  scratchWords[1 + at] = rowId
  scratchWords.set(rowIds.subarray(at), 2 + at)
  const count = rowIds.length + 1
  const isLast = rowIdOfKey(key) === NO_ROW
  const movedCount = count > CHUNK_ROWS ? count >>> 1 : 0
  if (movedCount > 0) {
    putChunk(table, postingKey(prefix, scratchWords[movedCount]!), 0, movedCount)
    scratchWords.copyWithin(1, 1 + movedCount, 1 + count)
  }
  putChunk(table, key, isLast ? below + movedCount : 0, count - movedCount)
  if (!isLast) addBelow(table, prefix, 1)
}

/** Replaces the last chunk, which has become empty, by the one below, if it exists. */
function raiseLast(table: Table, prefix: Buffer, below: number): void {
  const key = postingKey(prefix, NO_ROW)
  if (below === 0) {
    table.removeSync(key)
    return
  }
  const [previousKey] = table.getKeys({ start: key, end: prefix, reverse: true, offset: 1, limit: 1 })
  const chunk = readChunk(table, previousKey!)!
  scratchWords.set(chunk.rowIds, 1)
  putChunk(table, key, below - chunk.rowIds.length, chunk.rowIds.length)
  table.removeSync(previousKey!)
}

/** Changes the number of row ids in the chunks below, which the last chunk holds. */
function addBelow(table: Table, prefix: Buffer, difference: number): void {
  const key = postingKey(prefix, NO_ROW)
  const { below, rowIds } = readChunk(table, key)!
  scratchWords.set(rowIds, 1)
  putChunk(table, key, below + difference, rowIds.length)
}

/** Key of the chunk that has a row or would have it. */
function chunkKey(table: Table, prefix: Buffer, rowId: number): Buffer {
  const key = postingKey(prefix, NO_ROW)
  const bytes = getBytes(table, key)
  // The row belongs to the last chunk: either there is no chunk below, or the row does not come before the first row of the last
  // chunk.
  if (!bytes || readWord(bytes, 0) === 0 || readWord(bytes, 4) <= rowId) return key
  const [nextKey] = table.getKeys({ start: postingKey(prefix, rowId), limit: 1 })
  return nextKey!
}

/** Decodes a stored chunk. From a damaged one, decodes the row ids that can be read. */
function decodeChunk(bytes: Uint8Array): Chunk {
  const words = new Uint32Array(bytes.slice(0, bytes.length & ~3).buffer)
  return { below: words[0] ?? 0, rowIds: words.subarray(1) }
}

function readChunk(table: Table, key: Buffer): Chunk | undefined {
  const bytes = getBytes(table, key)
  return bytes && decodeChunk(bytes)
}

/** Writes the `count` row ids in the scratch memory from word 1 on. */
function putChunk(table: Table, key: Buffer, below: number, count: number, options?: PutOptions): void {
  scratchWords[0] = below
  if (options) table.putSync(key, chunks[1 + count]!, options)
  else table.putSync(key, chunks[1 + count]!)
}

function readWord(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0
}

interface PostingList {
  readonly prefix: Buffer
  readonly rowIds: number[]
  /** Contradiction in the layout; undefined if the layout is valid. */
  readonly problem: string | undefined
}

/** The values whose keys are from `start` up to `end`, with their rows, for checks of a store. */
export function* postingLists(table: Table, start: Buffer, end: Buffer): Generator<PostingList> {
  let rowIds: number[] = []
  let problem: string | undefined
  for (const { key, value } of table.getRange({ start, end })) {
    const chunk = decodeChunk(value)
    const lastRow = rowIdOfKey(key)
    const isLast = lastRow === NO_ROW
    const isDamaged = value.length % 4 !== 0 || value.length < 8 || chunk.below !== (isLast ? rowIds.length : 0)
    if (isDamaged) problem = `a chunk of ${value.length} bytes up to row ${lastRow} with ${rowIds.length} rows below it`
    for (const rowId of chunk.rowIds) {
      if (rowId <= (rowIds.at(-1) ?? -1) || rowId > lastRow) problem = `row ${rowId} is out of order`
      rowIds.push(rowId)
    }
    if (!isLast) continue
    yield { prefix: key.subarray(0, -4), rowIds, problem }
    rowIds = []
    problem = undefined
  }
  if (rowIds.length > 0)
    yield { prefix: Buffer.from(start), rowIds, problem: `the last chunk after row ${rowIds.at(-1)} is missing` }
}
