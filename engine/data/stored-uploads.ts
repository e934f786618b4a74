import type { BinaryValue } from '../catalog/value.ts'

/** Change of one upload for the writer thread. */
export interface UploadChange {
  /** 32 upper-case hex digits. */
  readonly id: string
  /** Undefined ends the upload. */
  readonly upload: EncodedUpload | undefined
}

export interface EncodedUpload {
  /** In milliseconds since 1970. */
  readonly expires: number
  readonly owner: UploadOwner
  /** As encoded by `encodeBinary`. */
  readonly value: Uint8Array
}

/**
 * Owner of an upload. An upload belongs to its session. If the client had no session, other clients without a session may use
 * it too, since such a client may not keep cookies at all. An id has 128 random bits.
 */
export interface UploadOwner {
  /** Handle of the session. */
  readonly handle: string
  /** True if the session was created for this request. */
  readonly isNew: boolean
  /** Network of a guest; undefined for others. */
  readonly guestNetwork?: string | undefined
}

export interface Upload {
  readonly expires: number
  readonly owner: UploadOwner
  readonly value: BinaryValue
}

/** Uploads in the store. */
export interface StoredUploads {
  /** An upload that has not been removed yet. */
  get(id: string): Upload | undefined
  /** Ids of the uploads that have ended at `now`, the oldest first. */
  expiredIds(now: number, limit: number): string[]
  all(): Iterable<[id: string, upload: Upload]>
}
