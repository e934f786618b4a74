import { BinaryValue } from '../catalog/value.ts'

/** Stored form of an image or a blob: length of the media type (u8), media type, bytes. */
export function encodeBinary({ mediaType, bytes }: BinaryValue): Buffer {
  const type = Buffer.from(mediaType, 'latin1')
  if (type.length > 0xff) throw new RangeError(`a media type of ${type.length} bytes; at most 255 are kept`)
  return Buffer.concat([Buffer.of(type.length), type, bytes])
}

/** A copy: the stored bytes may belong to the store. */
export function decodeBinary(stored: Uint8Array): BinaryValue {
  const start = 1 + stored[0]!
  return new BinaryValue(
    Buffer.from(stored.subarray(1, start)).toString('latin1'),
    new Uint8Array(stored.subarray(start)),
  )
}
