import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { TextDecoder } from 'node:util'
import { InputError } from '../base/input-error.ts'
import { excerpt } from '../base/text/excerpt.ts'
import { unpack } from './unpack.ts'

/** Marks bytes that are not UTF-8: a lone surrogate, which is never the result of decoding UTF-8. */
const UNDECODABLE = '\uDC80'

/** Reason for rejecting a text with such bytes. */
export const NOT_UTF8 =
  'it has bytes that are not UTF-8; save the file as UTF-8, or give its --encoding (over HTTP, $encoding)'

/** True if a part of the text of a file could not be decoded. */
export const hasUndecodable = (text: string): boolean => !text.isWellFormed()

/**
 * Reads the bytes of a file in parts, unpacked where it is packed.
 * @param onBytes called with the number of bytes read from the file, as they are read
 * @throws {Error} if the file cannot be read or unpacked
 */
export async function* readBytes(path: string, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 })
  file.on('data', chunk => onBytes(chunk.length))
  try {
    yield* unpack(path, file as AsyncIterable<Buffer>)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new InputError(`there is no file ${path}`, { cause: error })
    throw new Error(`${path} cannot be read: ${message}`, { cause: error })
  }
}

/**
 * Reads bytes as text, in parts, without a byte order mark. Bytes that are not UTF-8 become lone surrogates, so that they affect only
 * the row that contains them ({@link hasUndecodable}).
 * @param encoding a label that `TextDecoder` knows
 */
export async function* readText(bytes: AsyncIterable<Buffer>, encoding = 'utf-8'): AsyncGenerator<string> {
  const decoder = decoderOf(encoding)
  if (decoder.encoding === 'utf-8') {
    yield* decodeUtf8(bytes)
    return
  }
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

function decoderOf(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding)
  } catch (error) {
    const would = 'use utf-8, windows-1252, iso-8859-2 or utf-16le'
    throw new InputError(`there is no encoding "${excerpt(encoding)}"; ${would}`, { cause: error })
  }
}

async function* decodeUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let remainder: Buffer = Buffer.alloc(0)
  let isFirst = true
  for await (const chunk of chunks) {
    const bytes = remainder.length > 0 ? Buffer.concat([remainder, chunk]) : chunk
    if (isFirst && bytes.length < 2) {
      remainder = bytes
      continue
    }
    const end = afterLastCharacter(bytes)
    remainder = bytes.subarray(end)
    if (end > 0) {
      yield decode(bytes.subarray(0, end), isFirst)
      isFirst = false
    }
  }
  if (remainder.length > 0) yield decode(remainder, isFirst)
}

/** End of the last complete UTF-8 character. */
function afterLastCharacter(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return bytes.length - (length > back ? back : 0)
  }
  return bytes.length
}

function decode(bytes: Buffer, isFirst: boolean): string {
  if (isFirst && ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))) {
    throw new InputError(`the file is UTF-16; give --encoding ${bytes[0] === 0xff ? 'utf-16le' : 'utf-16be'}`)
  }
  const text = isUtf8(bytes) ? bytes.toString() : lines(bytes).map(decodeLine).join('')
  return isFirst && text.startsWith('\uFEFF') ? text.slice(1) : text
}

const decodeLine = (bytes: Buffer): string =>
  isUtf8(bytes) ? bytes.toString() : bytes.toString().replaceAll('\uFFFD', UNDECODABLE)

/** Lines with their line ends. */
function lines(bytes: Buffer): Buffer[] {
  const lineBuffers: Buffer[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start) + 1 || bytes.length
    lineBuffers.push(bytes.subarray(start, end))
    start = end
  }
  return lineBuffers
}
