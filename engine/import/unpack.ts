import { pipeline, Readable, type Transform } from 'node:stream'
import zlib from 'node:zlib'
import { sampleBytes } from './sample-bytes.ts'

interface Packing {
  readonly extension: string
  /** Bytes at the beginning of a packed file, with which a UTF-8 or UTF-16 text never begins. */
  readonly magic: Buffer
  unpack(bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer>
}

const PACKINGS: readonly Packing[] = [
  {
    extension: '.gz',
    magic: Buffer.of(0x1f, 0x8b),
    unpack: bytes => through(bytes, zlib.createGunzip()),
  },
  {
    extension: '.zst',
    magic: Buffer.of(0x28, 0xb5, 0x2f, 0xfd),
    unpack: unpackZstd,
  },
]

/** Support for Zstandard, which Node.js has from 22.15 and 23.8 on, but its types for older versions lack. */
const zstd = zlib as { createZstdCompress?: () => Transform }

/**
 * Stream that packs in the format of a file name; undefined for a file that is not packed, `unable` if Node.js does not support the format.
 */
export function packer(path: string): Transform | 'unable' | undefined {
  if (path.endsWith('.gz')) return zlib.createGzip()
  return path.endsWith('.zst') ? (zstd.createZstdCompress?.() ?? 'unable') : undefined
}

/**
 * Unpacks bytes in parts, in the format shown by the file name or the first bytes: memory does not grow with the unpacked size.
 * @throws {Error} they cannot be unpacked
 */
export async function* unpack(path: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { sample, all } = await sampleBytes(bytes, 4)
  const packing = PACKINGS.find(
    ({ extension, magic }) => path.endsWith(extension) || sample.bytes.subarray(0, magic.length).equals(magic),
  )
  yield* packing ? packing.unpack(all) : all
}

/** The callback is required, but not its error: iteration throws the same one. */
const through = (bytes: AsyncIterable<Buffer>, decoder: Transform): AsyncIterable<Buffer> =>
  pipeline(Readable.from(bytes), decoder, () => {})

/**
 * Number of packed bytes that are unpacked together, few enough for the result to fit into memory: a block of 4 bytes can become 128 KiB.
 */
const PACKED_AT_ONCE = 1024

/**
 * Unpacks Zstandard. The decoder of Node.js 22 silently ignores all frames after the first one, and treats a truncated file as complete.
 */
async function* unpackZstd(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { Decompress } = await import('fzstd')
  let unpackedParts: Uint8Array[] = []
  const decoder = new Decompress(part => void unpackedParts.push(part))
  const take = (): Buffer[] => {
    const parts = unpackedParts.map(part => Buffer.from(part.buffer, part.byteOffset, part.length))
    unpackedParts = []
    return parts
  }
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.length; at += PACKED_AT_ONCE) {
      decoder.push(chunk.subarray(at, at + PACKED_AT_ONCE))
      yield* take()
    }
  }
  decoder.push(new Uint8Array(), true)
  yield* take()
}
