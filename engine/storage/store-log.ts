import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CommitLog, LogPosition } from '../log/commit-log.ts'
import { type CommitRecord, encodeRecord } from '../log/record.ts'
import { describeState, removeCheckpoint, writeCheckpoint } from './checkpoint.ts'
import { DATA_FILE } from './data-file.ts'
import { type Environment, getBytes } from './environment.ts'

interface StoreLogOptions {
  readonly environment: Environment
  readonly log: CommitLog
  /** Identifies the writer. */
  readonly token: string
  /** Receives texts for the log of the server. */
  readonly onNote: (text: string) => void
}

/** A checkpoint begins after this many bytes of records. It bounds what a start applies, and by how much the data file grows. */
const CHECKPOINT_BYTES = 4 * 2 ** 20
/** Time after which a checkpoint begins, if anything was written. */
const CHECKPOINT_MS = 2_000
/** Commits wait for the disk when a checkpoint is behind by this factor. */
const BEHIND = 8

const POSITION = Buffer.from('log')
const sync = promisify(fdatasync)

/** Last commit of the log that LMDB contains. */
export function readPosition({ state }: Environment): LogPosition {
  const bytes = getBytes(state, POSITION)
  if (!bytes) return { sequence: 0, hash: new Uint8Array(16) }
  const copy = Buffer.from(bytes)
  return { sequence: copy.readDoubleBE(0), hash: new Uint8Array(copy.subarray(8)) }
}

/** Inside the open write transaction. */
export function writePosition({ state }: Environment, { sequence, hash }: LogPosition): void {
  const bytes = Buffer.allocUnsafe(8 + hash.length)
  bytes.writeDoubleBE(sequence)
  bytes.set(hash, 8)
  state.putSync(POSITION, bytes)
}

/**
 * The log of a store that this thread writes to, and the checkpoints of its data file. LMDB does not sync the file: a commit is durable
 * by its record. From time to time the file is synced beside the commits, and a read transaction keeps LMDB from overwriting the pages
 * of that state until the next one is complete.
 */
export class StoreLog {
  private readonly file: number
  /** Ends the read transaction that keeps the pages of the checkpoint. */
  private unpin: (() => void) | undefined
  private bytes = 0
  private timer: NodeJS.Timeout | undefined
  private running: Promise<void> | undefined
  /** The error of a sync after which the data file can no longer be trusted to be what was written. */
  private failure: unknown
  private isClosed = false

  /** Makes the first checkpoint. Nothing may have been written to LMDB since it was opened. */
  constructor(private readonly options: StoreLogOptions) {
    const { environment, token } = options
    this.file = openSync(join(environment.path, DATA_FILE), 'r+')
    this.unpin = pin(environment)
    const state = describeState(environment.path, { token, log: readPosition(environment) })
    fdatasyncSync(this.file)
    writeCheckpoint(environment.path, state)
  }

  /** Appends the record of a commit, inside its open write transaction. @throws the system error of a disk that refuses it */
  append(record: CommitRecord): void {
    const { environment, log } = this.options
    if (this.failure !== undefined) throw this.failure
    // The growth of the data file is bounded even if its disk is slower than the log.
    if (this.bytes > BEHIND * CHECKPOINT_BYTES) this.syncNow()
    const bytes = encodeRecord(record)
    writePosition(environment, log.append(bytes))
    this.bytes += bytes.length
  }

  /** Called when the transaction of the last record has been committed. */
  committed(): void {
    if (this.bytes >= CHECKPOINT_BYTES) void this.start()
    else this.timer ??= setTimeout(() => void this.start(), CHECKPOINT_MS).unref()
  }

  /** Called when the transaction of the last record has failed: removes it. @throws the system error of a disk that refuses it */
  takeBack(): void {
    this.options.log.takeBack()
  }

  /** Makes a checkpoint of the newest state, after one that is being made. */
  async checkpoint(): Promise<void> {
    await this.running
    await this.start()
  }

  private async start(): Promise<void> {
    if (this.isClosed) return
    this.running ??= this.makeCheckpoint().finally(() => {
      this.running = undefined
    })
    await this.running
  }

  /** Makes the data file durable and complete, so that it is the store without the log. No commit may follow. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.running
    clearTimeout(this.timer)
    const { environment, log, onNote } = this.options
    try {
      if (this.failure === undefined) {
        await sync(this.file)
        removeCheckpoint(environment.path)
      }
    } catch (error) {
      onNote(`the data file could not be made durable; the next start uses the log: ${(error as Error).message}`)
    }
    this.unpin?.()
    closeSync(this.file)
    await log.close()
  }

  private syncNow(): void {
    try {
      fdatasyncSync(this.file)
    } catch (error) {
      this.failure = error
      throw error
    }
  }

  private async makeCheckpoint(): Promise<void> {
    const { environment, log, token, onNote } = this.options
    clearTimeout(this.timer)
    this.timer = undefined
    const bytes = this.bytes
    this.bytes = 0
    let unpin: (() => void) | undefined
    try {
      unpin = pin(environment)
      const state = describeState(environment.path, { token, log: readPosition(environment) })
      await sync(this.file).catch(error => {
        // The system may have dropped pages that it could not write, and does not write them again.
        this.failure = error
        throw error
      })
      writeCheckpoint(environment.path, state)
      this.unpin?.()
      this.unpin = unpin
      unpin = undefined
      log.trim(state.log.sequence)
    } catch (error) {
      unpin?.()
      this.bytes += bytes
      const then =
        this.failure === undefined ? 'it is tried again' : 'writes are refused until a restart, which uses the log'
      onNote(`the data file could not be made durable, ${then}: ${(error as Error).message}`)
    }
  }
}

/** Keeps the pages of the newest state from being used again. @returns a function that ends it */
export function pin({ root, state }: Environment): () => void {
  root.resetReadTxn()
  const transaction = root.useReadTransaction()
  // The transaction of LMDB begins with the first read.
  state.get(POSITION, { transaction })
  let isOver = false
  return () => {
    if (!isOver) transaction.done()
    isOver = true
  }
}
