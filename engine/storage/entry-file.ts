import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { StorageAttribute } from '../catalog/attribute.ts'
import type { IndexEntries } from '../data/store-transaction.ts'
import { MAX_KEY_BYTES } from '../row-format/index-key.ts'

/**
 * A sorted run is a sequence of records in the order of their keys: length of the key u16, number of rows u16, the key, row ids u32. A key
 * with many rows has several records.
 */
const HEAD_BYTES = 4
const MAX_RECORD_ROWS = 1024
const MAX_RECORD_BYTES = HEAD_BYTES + MAX_KEY_BYTES + 4 * MAX_RECORD_ROWS
const BUFFER_BYTES = 16 * MAX_RECORD_BYTES
/** Entries that are merged at a time. */
const MERGED_ROWS = 64 * 1024
const MERGED_BYTES = 2 ** 20

interface Run {
  readonly start: number
  readonly end: number
}

/** Sorted runs of index entries in a temporary file without a name, which the operating system removes with the process. */
export class EntryFile {
  private readonly descriptor: number
  private readonly runs = new Map<StorageAttribute, Run[]>()
  private readonly buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  private used = 0
  private end = 0

  constructor(folder: string) {
    const path = join(folder, 'index-entries.tmp')
    this.descriptor = openSync(path, 'w+', 0o600)
    rmSync(path)
  }

  /** Adds a run. @param entries of rows after those of the attribute's earlier runs */
  add({ attribute, bytes, ends, keys, rowEnds, rowIds }: IndexEntries): void {
    const start = this.end
    for (let i = 0, row = 0; i < keys.length; i++) {
      const place = keys[i]!
      const keyStart = place === 0 ? 0 : ends[place - 1]!
      while (row < rowEnds[i]!) {
        const rowEnd = Math.min(rowEnds[i]!, row + MAX_RECORD_ROWS)
        this.write(bytes, keyStart, ends[place]!, rowIds, row, rowEnd)
        row = rowEnd
      }
    }
    this.flush()
    const runs = this.runs.get(attribute)
    if (runs) runs.push({ start, end: this.end })
    else this.runs.set(attribute, [{ start, end: this.end }])
  }

  /** All entries of an attribute in the order of keys and then of rows, some at a time, which are valid until the next ones. */
  *merged(attribute: StorageAttribute): Generator<IndexEntries> {
    const heap = new RunHeap((this.runs.get(attribute) ?? []).map((run, i) => new RunReader(this.descriptor, run, i)))
    const batch = new EntryBatch()
    for (let run = heap.first; run; run = heap.first) {
      batch.add(run)
      heap.advance()
      if (!batch.isFull) continue
      yield batch.entries(attribute)
      batch.clear()
    }
    if (!batch.isEmpty) yield batch.entries(attribute)
  }

  close(): void {
    closeSync(this.descriptor)
  }

  private write(
    bytes: Uint8Array,
    keyStart: number,
    keyEnd: number,
    rowIds: Uint32Array,
    start: number,
    end: number,
  ): void {
    const { buffer } = this
    if (this.used + MAX_RECORD_BYTES > BUFFER_BYTES) this.flush()
    let at = buffer.writeUInt16LE(keyEnd - keyStart, this.used)
    at = buffer.writeUInt16LE(end - start, at)
    for (let i = keyStart; i < keyEnd; i++) buffer[at++] = bytes[i]!
    for (let i = start; i < end; i++) at = buffer.writeUInt32LE(rowIds[i]!, at)
    this.used = at
  }

  private flush(): void {
    for (let from = 0; from < this.used; )
      from += writeSync(this.descriptor, this.buffer, from, this.used - from, this.end + from)
    this.end += this.used
    this.used = 0
  }
}

/** Reads the records of one run. */
class RunReader {
  readonly buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  keyStart = 0
  keyEnd = 0
  rowCount = 0
  /** Position in the file after the bytes in the buffer. */
  private position: number
  private filled = 0

  /** @param number of the run: rows of later runs have higher ids */
  constructor(
    private readonly descriptor: number,
    private readonly run: Run,
    readonly number: number,
  ) {
    this.position = run.start
  }

  /** Reads the next record. @returns false at the end of the run */
  next(): boolean {
    const { buffer } = this
    let at = this.keyEnd + 4 * this.rowCount
    if (at + MAX_RECORD_BYTES > this.filled && this.position < this.run.end) {
      this.fill(at)
      at = 0
    }
    if (at === this.filled) return false
    this.keyStart = at + HEAD_BYTES
    this.keyEnd = this.keyStart + buffer.readUInt16LE(at)
    this.rowCount = buffer.readUInt16LE(at + 2)
    return true
  }

  /** Keeps the bytes from `start` on, and reads more. */
  private fill(start: number): void {
    const { buffer } = this
    buffer.copy(buffer, 0, start, this.filled)
    this.filled -= start
    while (this.filled < BUFFER_BYTES && this.position < this.run.end) {
      const length = Math.min(BUFFER_BYTES - this.filled, this.run.end - this.position)
      const count = readSync(this.descriptor, buffer, this.filled, length, this.position)
      if (count === 0) throw new Error('the temporary file of index entries has become shorter')
      this.filled += count
      this.position += count
    }
  }

  isBefore(other: RunReader): boolean {
    const { buffer, keyEnd } = this
    let [i, j] = [this.keyStart, other.keyStart]
    for (; i < keyEnd && j < other.keyEnd; i++, j++) {
      const difference = buffer[i]! - other.buffer[j]!
      if (difference !== 0) return difference < 0
    }
    const difference = keyEnd - i - (other.keyEnd - j)
    return difference === 0 ? this.number < other.number : difference < 0
  }
}

/** Runs in a binary heap: the one with the lowest record is the first. */
class RunHeap {
  private readonly runs: RunReader[]

  constructor(runs: readonly RunReader[]) {
    this.runs = runs.filter(run => run.next())
    for (let i = (this.runs.length >> 1) - 1; i >= 0; i--) this.sink(i)
  }

  get first(): RunReader | undefined {
    return this.runs[0]
  }

  /** Moves the first run to its next record. */
  advance(): void {
    const { runs } = this
    if (!runs[0]!.next()) {
      const last = runs.pop()!
      if (runs.length === 0) return
      runs[0] = last
    }
    this.sink(0)
  }

  private sink(start: number): void {
    const { runs } = this
    const run = runs[start]!
    let at = start
    for (let child = 2 * at + 1; child < runs.length; child = 2 * at + 1) {
      if (child + 1 < runs.length && runs[child + 1]!.isBefore(runs[child]!)) child++
      if (!runs[child]!.isBefore(run)) break
      runs[at] = runs[child]!
      at = child
    }
    runs[at] = run
  }
}

/** Records of several runs as entries. */
class EntryBatch {
  private readonly bytes = Buffer.allocUnsafeSlow(MERGED_BYTES + MAX_KEY_BYTES)
  private readonly ends = new Uint32Array(MERGED_ROWS)
  private readonly rowEnds = new Uint32Array(MERGED_ROWS)
  private readonly rowIds = new Uint32Array(MERGED_ROWS + MAX_RECORD_ROWS)
  private keyCount = 0
  private rowCount = 0
  private byteCount = 0

  get isEmpty(): boolean {
    return this.rowCount === 0
  }

  get isFull(): boolean {
    return this.rowCount >= MERGED_ROWS || this.byteCount >= MERGED_BYTES
  }

  add({ buffer, keyStart, keyEnd, rowCount }: RunReader): void {
    if (!this.isLastKey(buffer, keyStart, keyEnd)) {
      let at = this.byteCount
      for (let i = keyStart; i < keyEnd; i++) this.bytes[at++] = buffer[i]!
      this.byteCount = at
      this.ends[this.keyCount++] = at
    }
    for (let i = 0, at = keyEnd; i < rowCount; i++, at += 4) this.rowIds[this.rowCount++] = buffer.readUInt32LE(at)
    this.rowEnds[this.keyCount - 1] = this.rowCount
  }

  clear(): void {
    this.keyCount = 0
    this.rowCount = 0
    this.byteCount = 0
  }

  entries(attribute: StorageAttribute): IndexEntries {
    const { bytes, ends, rowEnds, rowIds, keyCount, rowCount } = this
    return {
      attribute,
      bytes,
      ends: ends.subarray(0, keyCount),
      keys: Uint32Array.from({ length: keyCount }, (_, i) => i),
      rowEnds: rowEnds.subarray(0, keyCount),
      rowIds: rowIds.subarray(0, rowCount),
    }
  }

  private isLastKey(buffer: Buffer, keyStart: number, keyEnd: number): boolean {
    const { keyCount, ends, bytes } = this
    if (keyCount === 0) return false
    let at = keyCount === 1 ? 0 : ends[keyCount - 2]!
    if (ends[keyCount - 1]! - at !== keyEnd - keyStart) return false
    for (let i = keyStart; i < keyEnd; i++) if (buffer[i] !== bytes[at++]) return false
    return true
  }
}
