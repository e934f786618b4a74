import { randomBytes } from 'node:crypto'
import type { BinaryValue } from '../catalog/value.ts'
import { ProtocolError } from '../base/errors.ts'
import { Sweeper } from '../base/sweeper.ts'
import { diskProblem } from '../base/disk-problem.ts'
import { encodeBinary } from '../files/encode-binary.ts'
import type { RecordStore } from '../data/record-store.ts'
import type { UploadAccess } from '../write/contract/requests.ts'
import { WriterErrors } from '../write/contract/writer-errors.ts'
import { BinaryErrors } from './binary-errors.ts'
import { type ByteStream, receiveBinary } from './receive-binary.ts'
import type { UploadChange, UploadOwner } from '../data/stored-uploads.ts'

export interface UploadLimits {
  /** Maximum bytes of one upload. */
  maxBytes: number
  /** Maximum time for an upload to arrive. */
  maxReceiveMs: number
  lifetimeSeconds: number
  /** Maximum of `$timeout`; larger values are reduced to it. */
  maxLifetimeSeconds: number
  /** Maximum number of uploads that are being received. */
  maxConcurrent: number
  /** Maximum bytes of uploads that are being received or have not expired. */
  maxPendingBytes: number
  /** The same bound for the guests of one network. */
  guestBytesPerAddress: number
  /** The same bound for all guests. */
  maxGuestBytes: number
}

/** Limits for the sender of the bytes. */
interface ReceiveLimits {
  bodyBytes: number
  totalTimeoutMs: number
}

interface UploadsOptions {
  store: Pick<RecordStore, 'refresh' | 'uploads' | 'files'>
  write: (changes: UploadChange[]) => Promise<unknown>
  limits: UploadLimits
  /** Milliseconds since 1970. */
  now: () => number
  onInternalError?: ((text: string) => void) | undefined
}

const SWEEP_INTERVAL_MS = 1_000
const SLICE = 500
/** Disk and memory that an upload takes besides its bytes. */
const OVERHEAD_BYTES = 4096
const RETRY_SECONDS = 10

/**
 * Files that clients have uploaded, attached to entities or not. They are in the store, so that they survive a restart; memory has
 * only the counts for the limits.
 */
export class Uploads {
  readonly limits: Readonly<UploadLimits>
  private readonly pending = new Map<string, { bytes: number; network: string | undefined }>()
  /** Bytes of uploads, received or being received, like the next two counts. */
  private pendingBytes = 0
  private guestBytes = 0
  private readonly networkBytes = new Map<string, number>()
  private receiving = 0
  private readonly sweeper: Sweeper

  constructor(private readonly options: UploadsOptions) {
    this.limits = options.limits
    for (const [id, { value, owner }] of options.store.uploads.all()) this.count(id, value.size, owner)
    this.sweeper = new Sweeper(
      () => this.sweepSlices(),
      SWEEP_INTERVAL_MS,
      error => options.onInternalError?.(`uploads could not be ended: ${error.stack}`),
    )
  }

  /**
   * Receives bytes that belong to nothing yet. They become an upload or a value, or are passed to {@link discard}.
   * @throws {BinaryErrors} if there is no room; what the stream throws
   */
  async receive(
    stream: (take: Parameters<ByteStream>[0], limits: ReceiveLimits) => ReturnType<ByteStream>,
    { guestNetwork }: UploadOwner,
  ): Promise<BinaryValue> {
    const { limits, store } = this.options
    if (this.receiving >= limits.maxConcurrent) throw BinaryErrors.TOO_MANY_UPLOADS(limits.maxConcurrent).retryAfter(1)
    const { maxBytes, maxReceiveMs } = limits
    let receivedBytes = 0
    const count = (size: number): void => {
      this.demandRoom(size, guestNetwork)
      receivedBytes += size
      this.hold(size, guestNetwork)
    }
    count(OVERHEAD_BYTES)
    this.receiving++
    try {
      return await receiveBinary(store.files, take => {
        const takeCounted: typeof take = piece => {
          count(piece.length)
          return take(piece)
        }
        return stream(takeCounted, { bodyBytes: maxBytes, totalTimeoutMs: maxReceiveMs })
      })
    } catch (error) {
      const problem = diskProblem(error)
      if (problem === undefined) throw error
      this.options.onInternalError?.(`an upload could not be kept: ${(error as Error).stack}`)
      throw BinaryErrors.DISK(problem)
    } finally {
      this.receiving--
      this.hold(-receivedBytes, guestNetwork)
    }
  }

  /** Keeps received bytes for `timeoutSeconds`. Resolves when this is durable. @returns the id of the upload */
  async add(value: BinaryValue, owner: UploadOwner, timeoutSeconds?: number): Promise<string> {
    const { limits, now } = this.options
    const seconds = Math.min(timeoutSeconds ?? limits.lifetimeSeconds, limits.maxLifetimeSeconds)
    const id = newUploadId()
    const upload = { expires: now() + seconds * 1000, owner, value: encodeBinary(value) }
    this.count(id, value.size, owner)
    try {
      await this.options.write([{ id, upload }])
    } catch (error) {
      this.uncount(id)
      await this.discardUnless(error, value)
      throw error
    }
    return id
  }

  /** Uploads that a save of this client may refer to. */
  access(owner: UploadOwner): UploadAccess {
    return { owner, now: this.options.now() }
  }

  /** Removes received bytes that are not used. */
  async discard({ content }: BinaryValue): Promise<void> {
    if (!(content instanceof Uint8Array)) await this.options.store.files.remove(content.id)
  }

  /** {@link discard} after a failed write. If its outcome is unknown, the file is kept until the next start. */
  async discardUnless(error: unknown, value: BinaryValue): Promise<void> {
    if (error instanceof ProtocolError && error.name === WriterErrors.OUTCOME_UNKNOWN().name) return
    await this.discard(value)
  }

  /** Number of uploads that are kept or being received, their bytes, and the part of guests. */
  get load(): { kept: number; receiving: number; bytes: number; guestBytes: number } {
    const { receiving, pendingBytes, guestBytes } = this
    return { kept: this.pending.size, receiving, bytes: pendingBytes, guestBytes }
  }

  /** Removes expired uploads. */
  sweep(): Promise<void> {
    return this.sweeper.run()
  }

  close(): Promise<void> {
    return this.sweeper.close()
  }

  private async sweepSlices(): Promise<void> {
    const { store, now, write } = this.options
    // Usually there is nothing to do.
    while (this.pending.size > 0) {
      store.refresh()
      const ids = store.uploads.expiredIds(now(), SLICE)
      if (ids.length === 0) return
      await write(ids.map(id => ({ id, upload: undefined })))
      for (const id of ids) this.uncount(id)
    }
  }

  /** @throws {BinaryErrors} no room for `size` more bytes */
  private demandRoom(size: number, guestNetwork: string | undefined): void {
    const { maxPendingBytes, guestBytesPerAddress, maxGuestBytes } = this.limits
    if (guestNetwork !== undefined) {
      const ofNetwork = this.networkBytes.get(guestNetwork) ?? 0
      if (ofNetwork + size > guestBytesPerAddress) {
        throw BinaryErrors.TOO_MUCH_OF_NETWORK(guestBytesPerAddress).retryAfter(RETRY_SECONDS)
      }
      if (this.guestBytes + size > maxGuestBytes) {
        throw BinaryErrors.TOO_MUCH_OF_GUESTS(maxGuestBytes).retryAfter(RETRY_SECONDS)
      }
    }
    if (this.pendingBytes + size > maxPendingBytes) {
      throw BinaryErrors.TOO_MUCH_UPLOADED(maxPendingBytes).retryAfter(RETRY_SECONDS)
    }
  }

  private hold(bytes: number, guestNetwork: string | undefined): void {
    this.pendingBytes += bytes
    if (guestNetwork === undefined) return
    this.guestBytes += bytes
    const ofNetwork = (this.networkBytes.get(guestNetwork) ?? 0) + bytes
    if (ofNetwork === 0) this.networkBytes.delete(guestNetwork)
    else this.networkBytes.set(guestNetwork, ofNetwork)
  }

  private count(id: string, size: number, { guestNetwork: network }: UploadOwner): void {
    const bytes = size + OVERHEAD_BYTES
    this.pending.set(id, { bytes, network })
    this.hold(bytes, network)
  }

  private uncount(id: string): void {
    const pendingUpload = this.pending.get(id)
    if (!pendingUpload) return
    this.pending.delete(id)
    this.hold(-pendingUpload.bytes, pendingUpload.network)
  }
}

export const newUploadId = (): string => randomBytes(16).toString('hex').toUpperCase()
