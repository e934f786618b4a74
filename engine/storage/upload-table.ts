import type { EncodedUpload, StoredUploads, Upload } from '../data/stored-uploads.ts'
import { decodeBinary } from '../files/encode-binary.ts'
import { type Environment, getBytes } from './environment.ts'
import { idOfExpiryKey, expiryKey, uploadKey } from './keys.ts'

const ID = /^[0-9A-F]{32}$/
const HEADER_BYTES = 10
const IS_NEW = 1
const OF_GUEST = 2

/**
 * Encodes an upload: expiry (f64), flags for a new session and for a guest's session (u8), length of the session's handle (u8), handle, and
 * for a guest the length of the network (u8) and the network, binary.
 */
export function writeUpload({ expires, owner, value }: EncodedUpload): Buffer {
  const { handle, isNew, guestNetwork } = owner
  const header = Buffer.allocUnsafe(HEADER_BYTES)
  header.writeDoubleBE(expires)
  header[8] = (isNew ? IS_NEW : 0) | (guestNetwork === undefined ? 0 : OF_GUEST)
  header[9] = handle.length
  const parts = [header, Buffer.from(handle, 'latin1')]
  if (guestNetwork !== undefined) parts.push(Buffer.of(guestNetwork.length), Buffer.from(guestNetwork, 'latin1'))
  return Buffer.concat([...parts, value])
}

/** Uploads in LMDB, with an index by expiry. */
export class UploadTable implements StoredUploads {
  constructor(private readonly environment: Pick<Environment, 'uploads' | 'files'>) {}

  get(id: string): Upload | undefined {
    const { uploads, files } = this.environment
    const storedBytes = ID.test(id) ? getBytes(uploads, uploadKey(id)) : undefined
    if (!storedBytes) return undefined
    const bytes = Buffer.from(storedBytes)
    const flags = bytes[8]!
    const end = HEADER_BYTES + bytes[9]!
    const start = (flags & OF_GUEST) === 0 ? end : end + 1 + bytes[end]!
    const value = decodeBinary(bytes.subarray(start), files)
    const guestNetwork = start === end ? undefined : bytes.toString('latin1', end + 1, start)
    const owner = { handle: bytes.toString('latin1', HEADER_BYTES, end), isNew: (flags & IS_NEW) !== 0, guestNetwork }
    return value && { expires: bytes.readDoubleBE(), owner, value }
  }

  expiredIds(now: number, limit: number): string[] {
    const { uploads } = this.environment
    return [...uploads.getKeys({ start: expiryKey(0), end: expiryKey(now + 1), limit }).map(idOfExpiryKey)]
  }

  *all(): Generator<[id: string, upload: Upload]> {
    for (const key of this.environment.uploads.getKeys({ start: expiryKey(0) })) {
      const id = idOfExpiryKey(key)
      const upload = this.get(id)
      if (upload) yield [id, upload]
    }
  }
}
