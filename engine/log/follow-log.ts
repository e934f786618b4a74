import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { LogPosition } from './commit-log.ts'
import { segmentsOf, type SegmentFile } from './read-segments.ts'
import { decodeFrame, decodeHeader, frameBytes, HEADER_BYTES } from './segment.ts'

/** Position with the place of the next record, so that a reader that continues there does not search for it. */
export interface LogPlace extends LogPosition {
  /** Sequence of the first record of the segment. */
  readonly segment?: number | undefined
  /** Position of the next record in that segment. */
  readonly offset?: number | undefined
}

/** A record with the places before and after it. */
export interface FollowedRecord {
  readonly before: LogPlace
  readonly after: LogPlace
  /** Valid until the next one is read. */
  readonly record: Uint8Array
}

/** Thrown when the log has a gap between a position and its end. */
export class LogGapError extends Error {
  override readonly name = 'LogGapError'
  /** @param next start of the remaining records; undefined if they belong to another history of the store */
  constructor(
    readonly from: LogPosition,
    readonly next: LogPlace | undefined,
  ) {
    super(`the log does not continue record ${from.sequence}`)
  }
}

/** Number of bytes that are read with one system call, also for many small records. */
const WINDOW_BYTES = 64 * 1024

/**
 * Reads the records after `from` while another thread appends to the log, and only those of its segments that are needed.
 * @param last sequence of the last committed record: a record after it may still be taken back
 * @throws {LogGapError}
 */
export function* followLog(folder: string, from: LogPlace, last: number): Generator<FollowedRecord, void> {
  let before = from
  while (before.sequence < last) {
    const segments = segmentsOf(folder)
    // A record that was taken back may be in the segment before the segment of its successor.
    const at = segments.findLastIndex(({ first }) => first <= before.sequence + 1)
    if (at < 0) throw new LogGapError(before, segments[0] && placeOf(segments[0]))
    const next = segments[at + 1]?.first ?? Number.POSITIVE_INFINITY
    const segment = new OpenSegment(segments[at]!)
    try {
      const start = before.sequence
      before = segment.seek(before)
      while (before.sequence < last && before.sequence + 1 < next) {
        const entry = segment.next(before)
        if (!entry) break
        yield entry
        before = entry.after
      }
      // Neither this segment nor the next one continues the log.
      if (before.sequence < last && before.sequence === start) throw new LogGapError(before, undefined)
    } finally {
      segment.close()
    }
  }
}

function placeOf(file: SegmentFile): LogPlace {
  const segment = new OpenSegment(file)
  try {
    return segment.start
  } finally {
    segment.close()
  }
}

/** A segment that is read in windows of its file. */
class OpenSegment {
  private readonly file: number
  private readonly salt: Uint8Array
  /** Place of its first record. */
  readonly start: LogPlace
  private window: Buffer = Buffer.alloc(0)
  private windowStart = 0

  constructor({ path, first }: SegmentFile) {
    this.file = openSync(path, 'r')
    const header = decodeHeader(this.bytes(0, HEADER_BYTES))
    if (!header || header.first !== first) {
      this.close()
      throw new Error(`${path} has no readable header`)
    }
    this.salt = header.salt
    this.start = { sequence: first - 1, hash: header.previous, segment: first, offset: HEADER_BYTES }
  }

  /** The place of a position in this segment. @throws {LogGapError} */
  seek(from: LogPlace): LogPlace {
    const { start } = this
    if (from.segment === start.segment && from.offset !== undefined) return from
    let at: LogPlace = start
    while (at.sequence < from.sequence) {
      const entry = this.next(at)
      if (!entry) break
      at = entry.after
    }
    if (at.sequence !== from.sequence || Buffer.compare(at.hash, from.hash) !== 0)
      throw new LogGapError(from, undefined)
    return at
  }

  /** The record after a place. @returns undefined if no record continues it */
  next(before: LogPlace): FollowedRecord | undefined {
    const offset = before.offset!
    const head = this.bytes(offset, frameBytes(0))
    if (head.length < frameBytes(0)) return undefined
    const length = head.readUInt32LE(0)
    if (length === 0 || offset + frameBytes(length) > fstatSync(this.file).size) return undefined
    const bytes = this.bytes(offset, frameBytes(length))
    const frame = decodeFrame(bytes, 0, this.salt, before.hash, before.sequence + 1)
    if (!frame) return undefined
    const { sequence, hash, record, end } = frame
    return { before, after: { sequence, hash, segment: before.segment, offset: offset + end }, record }
  }

  close(): void {
    closeSync(this.file)
  }

  /** Bytes at a position; fewer at the end of the file. */
  private bytes(at: number, count: number): Buffer {
    const { windowStart, window } = this
    if (at < windowStart || at + count > windowStart + window.length) {
      const read = Buffer.allocUnsafe(Math.max(WINDOW_BYTES, count))
      let length = 0
      for (let byteCount = 1; length < read.length && byteCount > 0; length += byteCount) {
        byteCount = readSync(this.file, read, length, read.length - length, at + length)
      }
      this.window = read.subarray(0, length)
      this.windowStart = at
    }
    return this.window.subarray(at - this.windowStart, at - this.windowStart + count)
  }
}
