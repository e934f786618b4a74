import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../base/sync-folder.ts'
import type { CommitLog, LogEntry, LogPosition } from './commit-log.ts'
import { damagedLog, readSegments, type SegmentFile, segmentName, segmentsOf, type Tail } from './read-segments.ts'
import { decodeHeader, encodeFrame, encodeHeader, frameBytes, HEADER_BYTES, NO_HASH } from './segment.ts'

export interface LocalLogOptions {
  /** Folder of the log; created if missing. */
  readonly folder: string
  /** Last record that the store has. */
  readonly from?: LogPosition
  /** Refuses a log that does not contain that record: later ones may be missing. */
  readonly mustContinue?: boolean
  /** Segments that are no longer needed are kept up to this many bytes of the whole log. */
  readonly keepBytes?: number | undefined
  /** Maximum age of segments that are no longer needed, in milliseconds. */
  readonly keepMs?: number | undefined
  /** Records that a follower has not read are kept up to this many bytes of the whole log. */
  readonly followedBytes?: number | undefined
  /** Size of the first segment. Each is twice as large as the one before, up to {@link segmentBytes}. */
  readonly firstBytes?: number | undefined
  /** Maximum size of a segment, except for a record that needs more. */
  readonly segmentBytes?: number | undefined
  readonly now?: () => number
}

const FIRST_BYTES = 2 ** 18
const SEGMENT_BYTES = 8 * 2 ** 20
const ZEROS = Buffer.alloc(2 ** 20)
/** Files that are not segments yet: the next one, which is filled with zeros in advance, and one that is needed immediately. */
const NEXT = 'next.tmp'
const NEW = 'new.tmp'

/** The segment that is written to. */
interface OpenSegment {
  readonly descriptor: number
  readonly salt: Uint8Array
  readonly bytes: number
  /** Position of the next frame. */
  end: number
}

/**
 * The log in files of a folder, each of a fixed size that is filled with zeros before it is used, so that a sync writes only data. Used by
 * one thread.
 */
export class LocalLog implements CommitLog {
  private readonly folder: string
  private segments: SegmentFile[]
  private current: OpenSegment | undefined
  private end: LogPosition
  /** State before the last record, until it can no longer be taken back. */
  private before: { position: LogPosition; end: number } | undefined
  /** True from the failure of an append until its record has been taken back. */
  private hasFailed = false
  /** State of the file for the next segment. */
  private next: 'missing' | 'begun' | 'ready' | 'failed' = 'missing'
  private preparing: Promise<void> | undefined
  /** Last record that all followers have read. */
  private followed = 0

  /**
   * Opens the log of a folder after the last record that the store has, or after the records that follow that one.
   * @throws {DamagedLogError} when records after it are unreadable
   */
  constructor(private readonly options: LocalLogOptions) {
    this.folder = options.folder
    const { from = START, mustContinue = false } = options
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    for (const name of [NEXT, NEW]) rmSync(join(this.folder, name), { force: true })
    this.segments = segmentsOf(this.folder)
    const { end, continues } = this.findEnd(from)
    if (mustContinue && !continues)
      throw damagedLog(this.folder, `does not contain record ${from.sequence}, which the store has`)
    this.end = end
    if (!this.current) this.begin(0, !continues && this.segments.length > 0)
  }

  get last(): LogPosition {
    return this.end
  }

  append(record: Uint8Array): LogPosition {
    if (this.hasFailed) throw new Error('the record before has failed, and was not taken back')
    // Until the bytes of this record are written there is nothing to take back, and the previous record must stay.
    this.before = undefined
    const frameLength = frameBytes(record.length)
    if (!this.current || this.current.end + frameLength > this.current.bytes) this.begin(frameLength)
    const segment = this.current!
    const sequence = this.end.sequence + 1
    const { bytes, hash } = encodeFrame(segment.salt, this.end.hash, sequence, record)
    this.before = { position: this.end, end: segment.end }
    this.hasFailed = true
    writeAll(segment.descriptor, bytes, segment.end)
    fdatasyncSync(segment.descriptor)
    this.hasFailed = false
    segment.end += bytes.length
    this.end = { sequence, hash }
    if (segment.end > segment.bytes / 2 && this.next === 'missing') this.preparing = this.prepare(this.nextBytes())
    return this.end
  }

  takeBack(): void {
    if (!this.before) return
    const { position, end } = this.before
    const segment = this.current!
    writeAll(segment.descriptor, ZEROS.subarray(0, Math.min(HEADER_BYTES, segment.bytes - end)), end)
    fdatasyncSync(segment.descriptor)
    this.end = position
    // After a failed sync, the system may report a later sync as successful although it has not written everything.
    segment.end = this.hasFailed ? segment.bytes : end
    this.before = undefined
    this.hasFailed = false
  }

  *read(sequence: number): Generator<LogEntry> {
    for (const entry of readSegments(this.segments, sequence + 1)) if (entry.sequence > sequence) yield entry
  }

  followedTo(sequence: number): void {
    this.followed = sequence
  }

  trim(sequence: number): void {
    const { keepBytes = 0, keepMs = 0, followedBytes = 0, now = Date.now } = this.options
    const keptSegments: SegmentFile[] = []
    let bytes = 0
    for (const [i, segment] of [...this.segments.entries()].reverse()) {
      const { size, mtimeMs } = statSync(segment.path)
      bytes += size
      const next = this.segments[i + 1]
      const isNeeded = !next || next.first > sequence + 1
      const isRecent = bytes <= keepBytes && now() - mtimeMs <= keepMs
      const isFollowed = bytes <= followedBytes && (!next || next.first > this.followed + 1)
      // A gap would make all older segments useless.
      const isKept = isNeeded || (keptSegments.length === this.segments.length - 1 - i && (isRecent || isFollowed))
      if (isKept) keptSegments.unshift(segment)
      else rmSync(segment.path, { force: true })
    }
    this.segments = keptSegments
  }

  async close(): Promise<void> {
    if (this.current) closeSync(this.current.descriptor)
    this.current = undefined
    await this.preparing
    rmSync(join(this.folder, NEXT), { force: true })
  }

  /**
   * Reads to the end of the log, and clears what was never acknowledged. If the log does not continue the record `from`, because another
   * state replaced the store, it continues in a new segment.
   */
  private findEnd(from: LogPosition): { end: LogPosition; continues: boolean } {
    const start = Math.min(from.sequence, (this.segments.at(-1)?.first ?? 1) - 1)
    const entries = readSegments(this.segments, start, { withStart: true })
    let end = from
    let continues = false
    for (;;) {
      const { value, done } = entries.next()
      if (done) {
        if (value && continues) this.resume(value)
        return { end: continues ? end : { sequence: end.sequence, hash: from.hash }, continues }
      }
      const { sequence, hash, record } = value
      // A second history does not continue the record before it.
      if (sequence === from.sequence) continues = Buffer.compare(hash, from.hash) === 0
      else if (record.length === 0) continues = false
      if (sequence >= end.sequence) end = { sequence, hash }
    }
  }

  /** Continues the last segment. */
  private resume({ path, bytes, salt, end }: Tail): void {
    const descriptor = openSync(path, 'r+')
    let dataEnd = bytes.length
    while (dataEnd > end && bytes[dataEnd - 1] === 0) dataEnd--
    if (dataEnd > end) writeAll(descriptor, Buffer.alloc(dataEnd - end), end)
    // The thread that wrote the last record may have ended before its sync.
    fdatasyncSync(descriptor)
    this.current = { descriptor, salt, bytes: bytes.length, end }
  }

  /** Begins a segment with room for a frame. @param isAnew true if it does not continue the last segment */
  private begin(neededBytes: number, isAnew = false): void {
    const first = this.end.sequence + 1
    const size = Math.max(this.nextBytes(), HEADER_BYTES + neededBytes)
    const path = join(this.folder, segmentName(first))
    const file = join(this.folder, this.next === 'ready' ? NEXT : NEW)
    // A file that is still being filled is for the segment after this one.
    if (this.next !== 'begun') this.next = 'missing'
    const target = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600)
    try {
      const zeros = fstatSync(target).size
      for (let at = zeros; at < size; at += ZEROS.length) writeAll(target, ZEROS.subarray(0, size - at), at)
      const header = encodeHeader(first, this.end.hash, { isAnew })
      writeAll(target, header, 0)
      fsyncSync(target)
      renameSync(file, path)
      syncFolder(this.folder)
      if (this.current) closeSync(this.current.descriptor)
      this.current = {
        descriptor: target,
        salt: decodeHeader(header)!.salt,
        bytes: Math.max(size, zeros),
        end: HEADER_BYTES,
      }
      this.segments = [...this.segments.filter(segment => segment.first !== first), { first, path }]
    } catch (error) {
      closeSync(target)
      rmSync(file, { force: true })
      throw error
    }
  }

  /** Size of the next segment: small stores have small logs. */
  private nextBytes(): number {
    const { firstBytes = FIRST_BYTES, segmentBytes = SEGMENT_BYTES } = this.options
    return Math.min(segmentBytes, this.current ? 2 * this.current.bytes : firstBytes)
  }

  /**
   * Fills the file of the next segment with zeros, concurrently with the work of this thread. Without this, the file is created when it is
   * needed.
   */
  private async prepare(bytes: number): Promise<void> {
    const path = join(this.folder, NEXT)
    this.next = 'begun'
    try {
      const file = await open(path, 'w', 0o600)
      try {
        for (let at = 0; at < bytes; at += ZEROS.length)
          await file.write(ZEROS, 0, Math.min(ZEROS.length, bytes - at), at)
        await file.sync()
      } finally {
        await file.close()
      }
      this.next = 'ready'
    } catch {
      // The disk is full, or the folder is missing: the record that needs the segment will fail and report it.
      rmSync(path, { force: true })
      this.next = 'failed'
    }
  }
}

const START: LogPosition = { sequence: 0, hash: NO_HASH }
function writeAll(file: number, bytes: Uint8Array, position: number): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, position + at)
}
