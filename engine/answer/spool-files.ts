import { randomBytes } from 'node:crypto'
import {
  close,
  closeSync,
  fstatSync,
  ftruncate,
  mkdirSync,
  openSync,
  read,
  readdirSync,
  rmSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ByteSource } from '../files/binary-reader.ts'
import type { ByteBudget } from './byte-budget.ts'

const readFile = promisify(read)
const truncateFile = promisify(ftruncate)

/** Bytes sent to a client at a time, and the memory that its answer takes. */
const SPOOL_PIECE_BYTES = 64 * 1024
/**
 * Maximum number of empty files that are kept open: one for each task that threads usually hold, including tasks that wait for databases.
 */
const MAX_SPARE = 64

/**
 * Files of answers that are too large for memory. They are unlinked as soon as they are made, so a process that is killed leaves
 * none behind; and the kernel thread opens and closes them all, so a thread that ends leaks none.
 */
export class SpoolFiles {
  private readonly spare: number[] = []
  private isReady = false
  private isClosed = false
  private hasFailed = false

  constructor(
    private readonly folder: string,
    /** Budget of the bytes in all of these files. */
    readonly disk: ByteBudget,
    private readonly onInternalError: (text: string) => void,
  ) {}

  /** Takes an empty file for a thread to write to. @returns undefined when none can be opened; large answers are refused */
  take(): number | undefined {
    return this.spare.pop() ?? this.open()
  }

  /** Returns a file that its thread has not used, or has emptied again. */
  giveBack(file: number | undefined): void {
    if (file === undefined) return
    if (this.isClosed || this.spare.length >= MAX_SPARE) close(file)
    else this.spare.push(file)
  }

  /** Releases a file whose thread has ended, whatever was written to it. */
  abandon(file: number | undefined): void {
    if (file === undefined) return
    this.disk.release(fstatSync(file).size)
    close(file)
  }

  /** Source of an answer of `size` bytes, to be closed when it has been sent. */
  source(file: number, size: number): ByteSource {
    let piece: Uint8Array | undefined
    let isReading = false
    let isClosed = false
    return {
      size,
      bufferBytes: SPOOL_PIECE_BYTES,
      read: async start => {
        piece ??= Buffer.allocUnsafeSlow(SPOOL_PIECE_BYTES)
        isReading = true
        try {
          const { bytesRead } = await readFile(file, piece, 0, piece.length, start)
          if (bytesRead === 0) throw new Error('the file of an answer is shorter than it was when it was written')
          return piece.subarray(0, bytesRead)
        } finally {
          isReading = false
          if (isClosed) this.empty(file, size)
        }
      },
      close: () => {
        isClosed = true
        if (!isReading) this.empty(file, size)
      },
    }
  }

  close(): void {
    this.isClosed = true
    for (const file of this.spare.splice(0)) close(file)
  }

  private empty(file: number, size: number): void {
    truncateFile(file, 0)
      .then(
        () => this.giveBack(file),
        () => close(file),
      )
      .finally(() => this.disk.release(size))
  }

  private open(): number | undefined {
    try {
      if (!this.isReady) this.prepare()
      const path = join(this.folder, randomBytes(8).toString('hex'))
      const file = openSync(path, 'wx+', 0o600)
      try {
        unlinkSync(path)
      } catch (error) {
        closeSync(file)
        throw error
      }
      this.hasFailed = false
      return file
    } catch (error) {
      if (!this.hasFailed) this.onInternalError(`large answers cannot be sent: ${(error as Error).message}`)
      this.hasFailed = true
      return undefined
    }
  }

  /** A process that was killed between two system calls may have left a name. */
  private prepare(): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(this.folder)) rmSync(join(this.folder, name), { force: true })
    this.isReady = true
  }
}
