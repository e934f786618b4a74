import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'

/**
 * Text of a file in parts, unpacked when its name ends in `.gz`, without a byte order mark.
 * @param onBytes called with the number of bytes read from the file, as they are read
 * @throws {Error} when it cannot be read or unpacked, or is not UTF-8
 */
export async function* readText(path: string, onBytes: (count: number) => void): AsyncGenerator<string> {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 })
  file.on('data', chunk => onBytes(chunk.length))
  // The callback is needed, but not what it reports: iteration throws the same error.
  const bytes = path.endsWith('.gz') ? pipeline(file, createGunzip(), () => {}) : file
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk as Uint8Array, { stream: true })
    yield decoder.decode()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new Error(`there is no file ${path}`, { cause: error })
    const reason = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : message
    throw new Error(`${path} cannot be read: ${reason}`, { cause: error })
  }
}
