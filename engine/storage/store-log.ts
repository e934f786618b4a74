import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Note } from '../data/store-options.ts'
import type { CommitLog, LogPosition } from '../log/commit-log.ts'
import { type CommitRecord, encodeRecord } from '../log/record.ts'
import { type LogEffect, type LogEvent, type LogState, initialState, step } from '../log/protocol.ts'
import { type Checkpoint, describeState, removeCheckpoint, writeCheckpoint } from './checkpoint.ts'
import { DATA_FILE } from './data-file.ts'
import { type Environment, getBytes } from './environment.ts'

interface StoreLogOptions {
  readonly environment: Environment
  readonly log: CommitLog
  /** Record after which the log continues. Later records are applied before anything is written. */
  readonly from: LogPosition
  /** Identifies the writer. */
  readonly token: string
  /** True if records of deletions include the deleted rows, for followers. */
  readonly logsDeletedRows: boolean
  /** Receives messages for the server log. */
  readonly onNote: Note
}

/** Time after which a checkpoint begins, if anything was written. */
const CHECKPOINT_MS = 2_000

/** A state whose pages LMDB does not reuse until `end` is called. */
interface Pinned {
  readonly checkpoint: Checkpoint
  end(): void
}

type LogFailure = Extract<LogEvent['kind'], `${string}Failed`>

const HASH_BYTES = 16
const POSITION = Buffer.from('log')
const sync = promisify(fdatasync)

/** Last commit of the log that LMDB contains. */
export function readPosition({ state }: Environment): LogPosition {
  const bytes = getBytes(state, POSITION)
  if (!bytes) return { sequence: 0, hash: new Uint8Array(HASH_BYTES) }
  const copy = Buffer.from(bytes)
  return { sequence: copy.readDoubleBE(0), hash: new Uint8Array(copy.subarray(8)) }
}

/** Must be called inside the open write transaction. */
export function writePosition({ state }: Environment, { sequence, hash }: LogPosition): void {
  const bytes = Buffer.allocUnsafe(8 + hash.length)
  bytes.writeDoubleBE(sequence)
  bytes.set(hash, 8)
  state.putSync(POSITION, bytes)
}

/** Called when a store is used without its log: later records must not continue the log, which lacks these changes. */
export function leaveLog(environment: Environment): void {
  const { sequence } = readPosition(environment)
  if (sequence === 0) return
  environment.root.transactionSync(() => writePosition(environment, { sequence, hash: Buffer.alloc(HASH_BYTES, 0xff) }))
}

/**
 * The log of a store that this thread writes to, and the checkpoints of its data file. LMDB does not sync the file: a commit is durable by
 * its record. From time to time the file is synced while commits continue. A read transaction keeps LMDB from overwriting the pages of that
 * state until the next checkpoint is complete.
 */
export class StoreLog {
  private readonly file: number
  private state: LogState
  /** Last record that the data file contains, or the end of a log that the store no longer continues. */
  private position: LogPosition
  /** Record that the open transaction has appended. */
  private appended: LogPosition
  /** Record of the open transaction. */
  private record: Uint8Array = new Uint8Array(0)
  /** Error of the last write that the disk refused. */
  private failure: unknown
  /** Pages of the last checkpoint, and pages of the checkpoint in progress. */
  private pinned: Pinned
  private next: Pinned | undefined
  /** Settles when the checkpoint in progress is complete or abandoned. */
  private making = Promise.resolve()
  private timer: NodeJS.Timeout | undefined
  private isClosed = false
  /** True from a failed checkpoint to the next complete one: a full disk is logged once. */
  private isBehind = false

  /** Makes the first checkpoint. Nothing may have been written to LMDB since it was opened. */
  constructor(private readonly options: StoreLogOptions) {
    const { path } = options.environment
    this.file = openSync(join(path, DATA_FILE), 'r+')
    this.position = options.from
    this.appended = options.from
    this.pinned = this.pin()
    this.state = initialState(this.pinned.checkpoint.log.sequence)
    fdatasyncSync(this.file)
    writeCheckpoint(path, this.pinned.checkpoint)
  }

  get logsDeletedRows(): boolean {
    return this.options.logsDeletedRows
  }

  /** Allows the log to remove records up to `sequence`; later records are kept for followers. */
  followedTo(sequence: number): void {
    this.options.log.followedTo(sequence)
  }

  /** Called when records up to `position` have been applied. */
  applied(position: LogPosition): void {
    this.position = position
    this.state = { ...this.state, committed: position.sequence }
  }

  /** Appends the record of a commit, inside its open write transaction. @throws the system error of a disk that refuses it */
  append(record: CommitRecord): void {
    this.record = encodeRecord(record)
    if (!this.advance({ kind: 'work', bytes: this.record.length })) throw this.failure
  }

  /** Called when the transaction of the last record has been committed. */
  committed(): void {
    this.position = this.appended
    this.advance({ kind: 'committed' })
  }

  /** Called when the transaction of the last record has failed. */
  failed(): void {
    this.advance({ kind: 'commitFailed' })
  }

  /** Makes a checkpoint of the newest state, after any checkpoint in progress. */
  async checkpoint(): Promise<void> {
    await this.making
    if (!this.isClosed) this.advance({ kind: 'due' })
    await this.making
  }

  /** Makes the data file durable and complete, so that the store can be read without the log. No commit may follow. */
  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    await this.making
    const { environment, log, onNote } = this.options
    try {
      if (this.state.health !== 'lost') {
        await sync(this.file)
        removeCheckpoint(environment.path)
      }
    } catch (error) {
      onNote(
        `the data file could not be made durable; the next start uses the log: ${(error as Error).message}`,
        'warn',
      )
    }
    this.pinned.end()
    closeSync(this.file)
    await log.close()
  }

  /** Performs the effects of an event. @returns false if an open transaction is refused */
  private advance(event: LogEvent): boolean {
    const [state, effects] = step(this.state, event)
    this.state = state
    for (const effect of effects) {
      if (effect === 'refuse') return false
      const failureKind = this.perform(effect)
      if (failureKind) return this.advance({ kind: failureKind })
    }
    return true
  }

  /** @returns the event that reports a failure; undefined on success */
  private perform(effect: Exclude<LogEffect, 'refuse'>): LogFailure | undefined {
    const { environment, log } = this.options
    switch (effect) {
      case 'append':
        return (
          this.attempt('appendFailed', () => {
            this.appended = log.append(this.record)
            writePosition(environment, this.appended)
          }) ?? this.report({ kind: 'appended' })
        )
      case 'takeBack':
        return this.attempt('takeBackFailed', () => log.takeBack()) ?? this.report({ kind: 'takenBack' })
      case 'wait':
        return this.attempt('waitFailed', () => fdatasyncSync(this.file))
      case 'pin':
        return this.attempt('saveFailed', () => {
          this.next = this.pin()
        })
      case 'sync':
        this.making = this.finish()
        return
      case 'unpin':
        this.next?.end()
        this.next = undefined
        this.noteFailure()
        return
      case 'save':
        return (
          this.attempt('saveFailed', () => writeCheckpoint(environment.path, this.next!.checkpoint)) ??
          this.report({ kind: 'saved' })
        )
      case 'release':
        this.isBehind = false
        this.pinned.end()
        this.pinned = this.next!
        this.next = undefined
        // The reader slot of a killed process would retain pages forever.
        environment.root.readerCheck()
        // The next checkpoint tries again.
        this.attempt('saveFailed', () => log.trim(this.state.checkpoint))
        return
      case 'schedule':
        this.timer ??= setTimeout(() => {
          this.timer = undefined
          if (!this.isClosed) this.advance({ kind: 'due' })
        }, CHECKPOINT_MS).unref()
        return
      // The transaction continues, or is answered, when the caller returns.
      case 'commit':
      case 'acknowledge':
    }
  }

  private attempt(kind: LogFailure, work: () => void): LogFailure | undefined {
    try {
      work()
      return undefined
    } catch (error) {
      this.failure = error
      return kind
    }
  }

  private report(event: LogEvent): undefined {
    this.advance(event)
  }

  private async finish(): Promise<void> {
    try {
      await sync(this.file)
    } catch (error) {
      this.failure = error
      this.advance({ kind: 'syncFailed' })
      return
    }
    this.advance({ kind: 'synced' })
  }

  private noteFailure(): void {
    const isLost = this.state.health === 'lost'
    if (this.isBehind && !isLost) return
    this.isBehind = true
    const then = isLost ? 'writes are refused until a restart, which uses the log' : 'it is tried again'
    this.options.onNote(`the data file could not be made durable, ${then}: ${(this.failure as Error).message}`, 'warn')
  }

  /** Keeps the pages of the newest state from being reused, and describes that state. */
  private pin(): Pinned {
    const { environment, token } = this.options
    const end = pin(environment)
    try {
      return { checkpoint: describeState(environment.path, { token, log: this.position }), end }
    } catch (error) {
      end()
      throw error
    }
  }
}

/** Keeps the pages of the newest state from being reused. @returns a function that releases them */
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
