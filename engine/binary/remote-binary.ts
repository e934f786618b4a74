import { strict as assert } from 'node:assert'
import type { Backend } from '../backend/backend.ts'
import { BinaryValue } from '../catalog/value.ts'
import type { ByteSource } from '../files/binary-reader.ts'
import type { ReadRequest } from '../query/contract/request.ts'
import { SNIFFED_BYTES, sniffMediaType } from './media-type.ts'
import type { BinaryAttribute, StoredBinary } from './stored-binary.ts'

/** Bytes that are read at a time. */
const PIECE_BYTES = 2 ** 22
const BLOB = 'application/octet-stream'
const NOTHING = new Uint8Array(0)

/** Finds a value of a database with its first bytes. */
export async function findRemote(
  read: ReadRequest,
  attribute: BinaryAttribute,
  readBytes: NonNullable<Backend['readBytes']>,
): Promise<StoredBinary | null> {
  const { key, value } = await readBytes({ read, attribute: attribute.name, start: 0, end: PIECE_BYTES })
  if (!value) return null
  const { bytes, size, stamp, version } = value
  const mediaType = attribute.type === 'image' ? await sniffMediaType(bytes.subarray(0, SNIFFED_BYTES)) : BLOB
  const id = JSON.stringify([attribute.dataClass.name, attribute.name, key, version])
  if (bytes.length === size) return { attribute, value: new BinaryValue(mediaType, bytes), stamp, id, version }
  const again: ReadRequest = { ...read, source: { kind: 'keys', keys: [key] } }
  const content = { id: '', size, digests: undefined, read: () => assert.fail('these bytes are in a database') }
  return {
    attribute,
    value: new BinaryValue(mediaType, content),
    stamp,
    id,
    version,
    async read(start, end) {
      if (end <= bytes.length) return bytes.subarray(start, end)
      const result = await readBytes({ read: again, attribute: attribute.name, start, end })
      return result.value?.version === version ? result.value.bytes : undefined
    },
  }
}

/** Opens bytes from `start` to before `end`. @returns undefined if the value has been replaced since it was found */
export async function openRemote(
  read: NonNullable<StoredBinary['read']>,
  start: number,
  end: number,
): Promise<ByteSource | undefined> {
  const piece = (at: number) => read(start + at, Math.min(end, start + at + PIECE_BYTES))
  const first = start < end ? await piece(0) : NOTHING
  if (!first) return undefined
  return {
    size: end - start,
    bufferBytes: PIECE_BYTES,
    async read(at) {
      const bytes = at < first.length ? first.subarray(at) : await piece(at)
      if (!bytes) throw new Error('a value of a database has been replaced while it was sent')
      return bytes
    },
    close() {},
  }
}
