import { randomBytes } from 'node:crypto'
import type { BinaryValue } from '../catalog/value.ts'
import { ProtocolError } from '../errors.ts'
import { Sweeper } from '../sweeper.ts'
import { encodeBinary } from '../storage/encode-binary.ts'
import type { Environment } from '../storage/environment.ts'
import type { UploadAccess } from '../write/requests.ts'
import { WriterErrors } from '../write/write-errors.ts'
import { BinaryErrors } from './binary-errors.ts'
import { type ByteStream, receiveBinary } from './receive-binary.ts'
import { eachUpload, expiredUploads, type UploadChange, type UploadOwner } from './upload-table.ts'

export interface UploadLimits {
  /** Of one upload. */
  maxBytes: number
  /** For one to arrive. */
  maxReceiveMs: number
  lifetimeSeconds: number
  /** A greater `$timeout` counts as this. */
  maxLifetimeSeconds: number
  /** Uploads that are being received at a time. */
  maxConcurrent: number
  /** Bytes that are being received, and of uploads that have not expired. */
  maxPendingBytes: number
}

/** For whoever brings the bytes. */
export interface ReceiveLimits {
  bodyBytes: number
  totalTimeoutMs: number
}

export interface UploadsOptions {
  environment: Environment
  write: (changes: UploadChange[]) => Promise<unknown>
  limits: UploadLimits
  /** Milliseconds since 1970. */
  now: () => number
  onInternalError?: ((text: string) => void) | undefined
}

const SWEEP_INTERVAL_MS = 1_000
const SLICE = 500

/**
 * Files that clients have sent and not attached yet, or not only. They are in the store, so that they outlive a restart;
 * memory has only what the limits need.
 */
export class Uploads {
  readonly limits: Readonly<UploadLimits>
  private readonly sizes = new Map<string, number>()
  /** Of the uploads, and of what is being received. */
  private pendingBytes = 0
  private receiving = 0
  private readonly sweeper: Sweeper

  constructor(private readonly options: UploadsOptions) {
    this.limits = options.limits
    for (const [id, { value }] of eachUpload(options.environment)) this.count(id, value.size)
    this.sweeper = new Sweeper(
      () => this.sweepSlices(),
      SWEEP_INTERVAL_MS,
      error => options.onInternalError?.(`uploads could not be ended: ${error.stack}`),
    )
  }

  /**
   * Takes bytes in that belong to nothing yet. They end as an upload, as the value of an attribute, or in {@link discard}.
   * @throws {BinaryErrors} when there is no room; what the stream throws
   */
  async receive(
    stream: (take: Parameters<ByteStream>[0], limits: ReceiveLimits) => ReturnType<ByteStream>,
  ): Promise<BinaryValue> {
    const { limits, environment } = this.options
    if (this.receiving >= limits.maxConcurrent) throw BinaryErrors.TOO_MANY_UPLOADS(limits.maxConcurrent).retryAfter(1)
    if (this.pendingBytes >= limits.maxPendingBytes) throw this.tooMuch()
    const { maxBytes, maxReceiveMs } = limits
    let received = 0
    const count = (size: number): void => {
      if (this.pendingBytes + size > limits.maxPendingBytes) throw this.tooMuch()
      received += size
      this.pendingBytes += size
    }
    this.receiving++
    try {
      return await receiveBinary(environment.files, take => {
        const takeCounted: typeof take = piece => {
          count(piece.length)
          return take(piece)
        }
        return stream(takeCounted, { bodyBytes: maxBytes, totalTimeoutMs: maxReceiveMs })
      })
    } finally {
      this.receiving--
      this.pendingBytes -= received
    }
  }

  /** Keeps what was received for `timeoutSeconds`. Resolves when it is durable. @returns the id of the upload */
  async add(value: BinaryValue, owner: UploadOwner, timeoutSeconds?: number): Promise<string> {
    const { limits, now } = this.options
    const seconds = Math.min(timeoutSeconds ?? limits.lifetimeSeconds, limits.maxLifetimeSeconds)
    const id = newUploadId()
    const upload = { expires: now() + seconds * 1000, owner, value: encodeBinary(value) }
    this.count(id, value.size)
    try {
      await this.options.write([{ id, upload }])
    } catch (error) {
      this.uncount(id)
      await this.discardUnless(error, value)
      throw error
    }
    return id
  }

  /** What a save of this client may refer to. */
  access(owner: UploadOwner): UploadAccess {
    return { owner, now: this.options.now() }
  }

  /** Removes what was received and is not going to be used. */
  async discard({ content }: BinaryValue): Promise<void> {
    if (!(content instanceof Uint8Array)) await this.options.environment.files.remove(content.id)
  }

  /** The same after a write that failed; one that may have happened after all keeps its file until the next start. */
  async discardUnless(error: unknown, value: BinaryValue): Promise<void> {
    if (error instanceof ProtocolError && error.name === WriterErrors.OUTCOME_UNKNOWN().name) return
    await this.discard(value)
  }

  /** Ends what has expired. */
  sweep(): Promise<void> {
    return this.sweeper.run()
  }

  close(): Promise<void> {
    return this.sweeper.close()
  }

  private async sweepSlices(): Promise<void> {
    const { environment, now, write } = this.options
    // Nothing is pending in most seconds.
    while (this.sizes.size > 0) {
      environment.root.resetReadTxn()
      const ids = expiredUploads(environment, now(), SLICE)
      if (ids.length === 0) return
      await write(ids.map(id => ({ id, upload: undefined })))
      for (const id of ids) this.uncount(id)
    }
  }

  private tooMuch(): ProtocolError {
    return BinaryErrors.TOO_MUCH_UPLOADED(this.limits.maxPendingBytes).retryAfter(10)
  }

  private count(id: string, size: number): void {
    this.sizes.set(id, size)
    this.pendingBytes += size
  }

  private uncount(id: string): void {
    this.pendingBytes -= this.sizes.get(id) ?? 0
    this.sizes.delete(id)
  }
}

export const newUploadId = (): string => randomBytes(16).toString('hex').toUpperCase()
