import { createWriteStream, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InputError } from '../../engine/base/input-error.ts'
import { openTemporaryFolder, type TemporaryFolder } from '../../engine/base/temporary-folder.ts'
import { describeSize } from './describe-size.ts'

/** Maximum bytes that are kept in a temporary file; users must download larger files themselves, to a place with enough room. */
const MAX_BYTES = 4 * 2 ** 30

const isAddress = (source: string): boolean => /^https?:\/\//i.test(source)

/** True for the standard input and for a web address. */
export const isRemote = (source: string): boolean => source === '-' || isAddress(source)

/** Name of the file of a source, which determines its format. */
export function nameOf(source: string): string {
  if (!isAddress(source)) return source === '-' ? 'stdin' : basename(source)
  return basename(new URL(source).pathname) || 'download'
}

/**
 * Bytes of the standard input or of an address.
 * @throws {Error} the address does not answer
 */
export async function remoteBytes(source: string, signal?: AbortSignal): Promise<AsyncIterable<Buffer>> {
  if (source === '-') return process.stdin as AsyncIterable<Buffer>
  const response = await fetch(source, signal && { signal }).catch((error: Error) => {
    const { cause } = error
    throw new Error(`${source} cannot be reached: ${cause instanceof Error ? cause.message : error.message}`, { cause })
  })
  if (response.ok && response.body) return Readable.fromWeb(response.body as never) as AsyncIterable<Buffer>
  const message = `${source} answers with status ${response.status}`
  throw response.status < 500 ? new InputError(message) : new Error(message)
}

/** A source as a file, which can be read several times. */
export interface SourceFile {
  readonly path: string
  readonly size: number
  /** 0 for a temporary file. */
  readonly modifiedMs: number
  /** Closes the source, and removes a temporary file. */
  close(): void
}

/**
 * The file of a source; the standard input and an address are first copied into a temporary file that only this user can read.
 * @throws {Error} there is no such file, or it is too large to be copied
 */
export async function openSource(source: string, signal?: AbortSignal, maxBytes = MAX_BYTES): Promise<SourceFile> {
  if (!isRemote(source)) {
    const stats = statSync(source, { throwIfNoEntry: false })
    if (!stats) throw new InputError(`there is no file ${source}`)
    return { path: source, size: stats.size, modifiedMs: stats.mtimeMs, close() {} }
  }
  const bytes = await remoteBytes(source, signal)
  const folder = openTemporaryFolder('tesser-source-')
  const close = removedAtExit(folder)
  try {
    const path = join(folder.path, nameOf(source))
    await pipeline(limitBytes(source, bytes, maxBytes), createWriteStream(path, { mode: 0o600 }), { signal })
    return { path, size: statSync(path).size, modifiedMs: 0, close }
  } catch (error) {
    close()
    throw error
  }
}

async function* limitBytes(source: string, bytes: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > maxBytes) {
      const name = source === '-' ? 'the standard input' : source
      throw new InputError(
        `${name} has more than ${describeSize(maxBytes)}, the limit for a temporary file; save it as a file and name that file`,
      )
    }
    yield chunk
  }
}

/** Removes a folder when the process ends, if not before. @returns a function that removes it now */
function removedAtExit(folder: TemporaryFolder): () => void {
  const remove = (): void => folder.close()
  const onSignal = (_: NodeJS.Signals, number: number): void => {
    // Other listeners end the process themselves.
    if (process.listenerCount('SIGINT') === 1) process.exit(128 + number)
  }
  process.on('exit', remove)
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  return () => {
    process.off('exit', remove)
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
    remove()
  }
}
