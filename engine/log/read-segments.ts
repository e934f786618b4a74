import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { DamagedLogError, type LogEntry, type LogPosition } from './commit-log.ts'
import { decodeFrame, decodeHeader, findLaterFrame, HEADER_BYTES } from './segment.ts'

const NAME = /^\d{16}\.log$/
const NO_BYTES = new Uint8Array(0)

/** A segment as a file. */
export interface SegmentFile {
  /** Sequence of its first record. */
  readonly first: number
  readonly path: string
}

/** The end of the last segment. */
export interface Tail {
  readonly path: string
  readonly bytes: Buffer
  readonly salt: Uint8Array
  /** Position after the last record. The bytes that follow were never acknowledged. */
  readonly end: number
}

/** A record as it is in a segment. */
export interface SegmentEntry extends LogEntry {
  /** All bytes of the record's frame, see `segment.ts`; empty for a position without a record. Valid until the next entry is read. */
  readonly frame: Uint8Array
  readonly salt: Uint8Array
}

export const segmentName = (first: number): string => `${String(first).padStart(16, '0')}.log`

/** The segments of a folder, in order. */
export function segmentsOf(folder: string): SegmentFile[] {
  const names = readdirSync(folder).filter(name => NAME.test(name))
  return names.sort().map(name => ({ first: Number.parseInt(name, 10), path: join(folder, name) }))
}

/**
 * Reads the records from a given one on, without changing anything.
 * @param withStart also yields, without a record, the position before the first record of the segment in which reading begins, and of each
 * segment in which another history begins; without it, such a segment ends the reading like a missing record
 * @returns undefined without segments
 * @throws {DamagedLogError} when a record is missing or has changed
 */
export function* readSegments(
  segments: readonly SegmentFile[],
  sequence: number,
  { withStart = false } = {},
): Generator<SegmentEntry, Tail | undefined> {
  const start = segments.findLastIndex(({ first }) => first <= sequence + (withStart ? 1 : 0))
  const [oldest] = segments
  if (!oldest) return undefined
  if (start < 0) throw damagedLog(oldest.path, `begins with record ${oldest.first}; record ${sequence} is missing`)
  let last: LogPosition | undefined
  for (let i = start; ; i++) {
    const { path, first } = segments[i]!
    const next = segments[i + 1]
    const bytes = readWhole(path)
    const header = decodeHeader(bytes)
    if (!header || header.first !== first) throw damagedLog(path, 'has no readable header')
    const begins = i === start || (header.isAnew && withStart)
    if (last && !begins && last.sequence + 1 !== first) {
      throw damagedLog(path, `begins with record ${first}; record ${last.sequence + 1} is missing`)
    }
    if (last && !begins && Buffer.compare(last.hash, header.previous) !== 0)
      throw damagedLog(path, 'does not continue the file before it')
    let at = HEADER_BYTES
    last = { sequence: first - 1, hash: header.previous }
    const { salt } = header
    if (withStart && begins) yield { ...last, record: NO_BYTES, frame: NO_BYTES, salt }
    // A record that was taken back may be followed by the start of another segment.
    while (!next || last.sequence + 1 < next.first) {
      const frame = decodeFrame(bytes, at, salt, last.hash, last.sequence + 1)
      if (!frame) break
      at = frame.end
      last = { sequence: frame.sequence, hash: frame.hash }
      yield { ...frame, salt }
    }
    const where = `is damaged at byte ${at}, in record ${last.sequence + 1}`
    const isShort = next && last.sequence + 1 < next.first
    if (isShort && !(withStart && decodeHeader(readWhole(next.path))?.isAnew)) throw damagedLog(path, where)
    if (next && !isShort) continue
    if (findLaterFrame(bytes, at, salt, last.sequence + 1) !== undefined) {
      throw damagedLog(path, `${where}; there are records behind it`)
    }
    if (next) continue
    return { path, bytes, salt, end: at }
  }
}

/** Reads the records after a position as long as each continues the previous one, whatever is damaged before or after them. */
export function* readBehind(segments: readonly SegmentFile[], from: LogPosition): Generator<LogEntry> {
  let last = from
  for (const [i, { path }] of segments.entries()) {
    // A record that was taken back may be followed by the start of another segment.
    const next = segments[i + 1]?.first ?? Number.POSITIVE_INFINITY
    if (next <= last.sequence + 1) continue
    const bytes = readWhole(path)
    const header = decodeHeader(bytes)
    let at = header && findLaterFrame(bytes, HEADER_BYTES, header.salt, last.sequence)
    while (at !== undefined && last.sequence + 1 < next) {
      const frame = decodeFrame(bytes, at, header!.salt, last.hash, last.sequence + 1)
      if (frame) yield frame
      last = frame ?? last
      at = frame?.end
    }
  }
}

/** @param path of the file or the folder */
export const damagedLog = (path: string, what: string): DamagedLogError =>
  new DamagedLogError(
    `the log of the store, ${path}, ${what}. Put the file back from a backup; ` +
      'without it, changes that were acknowledged after the last checkpoint are lost, and only --allow-loss goes on.',
  )

function readWhole(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.allocUnsafe(fstatSync(file).size)
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(file, bytes, at, bytes.length - at, at)
      if (count === 0) return bytes.subarray(0, at)
      at += count
    }
    return bytes
  } finally {
    closeSync(file)
  }
}
