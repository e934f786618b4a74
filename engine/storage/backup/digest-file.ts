import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { Stored } from './backup-storage.ts'

/** Bytes and digest of a file, or of a part of it. @param part `end` is not included */
export async function digestFile(path: string, part?: { start: number; end: number }): Promise<Stored> {
  const hash = createHash('sha256')
  let bytes = 0
  if (part && part.end <= part.start) return { bytes, sha256: hash.digest('hex') }
  const range = part && { start: part.start, end: part.end - 1 }
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20, ...range })) {
    hash.update(chunk as Buffer)
    bytes += (chunk as Buffer).length
  }
  return { bytes, sha256: hash.digest('hex') }
}
