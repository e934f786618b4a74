import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DamagedLogError } from '../../log/commit-log.ts'
import { readSegments, type SegmentEntry, segmentName, segmentsOf } from '../../log/read-segments.ts'
import { decodeRecord } from '../../log/record.ts'
import { encodeHeader } from '../../log/segment.ts'
import { decodeBinary } from '../../files/encode-binary.ts'
import type { BinaryFiles } from '../../files/binary-files.ts'
import { LOG_FOLDER } from '../store-folder.ts'
import type { Backups } from './backups.ts'
import type { BackupFile, LogPlace } from './manifest.ts'

/** Size of a file of records in a backup, which a restore reads as a whole. */
const SEGMENT_BYTES = 64 * 2 ** 20

/** Records of a store between two positions, as files of a backup. */
interface CopiedLog {
  readonly files: readonly BackupFile[]
  /** Ids of the files of images and blobs that the records refer to. */
  readonly blobs: ReadonlySet<string>
}

/**
 * Copies the records of a store that a server may be writing to.
 * @returns undefined when the log does not connect the two positions: it was trimmed, or the store was in another state
 */
export async function copyLog(
  { path, files }: { readonly path: string; readonly files: BinaryFiles },
  { backups, backup, from, to }: { backups: Backups; backup: string; from: LogPlace; to: LogPlace },
): Promise<CopiedLog | undefined> {
  const records = recordsBetween(join(path, LOG_FOLDER), from, to)
  const blobs = new Set<string>()
  const copiedFiles: BackupFile[] = []
  let last = from
  let next = records.next()
  while (!next.done) {
    const name = `${LOG_FOLDER}/${segmentName(last.sequence + 1)}`
    const file = await backups.put(backup, name, unfinishedPath => {
      const descriptor = openSync(unfinishedPath, 'w', 0o600)
      try {
        // Hashes depend on the salt, so each file of the log becomes one or more of its own.
        const { salt } = next.value as SegmentEntry
        let size = writeSync(descriptor, encodeHeader(last.sequence + 1, Buffer.from(last.hash, 'hex'), { salt }))
        for (; !next.done && next.value.salt === salt && size < SEGMENT_BYTES; next = records.next()) {
          const { sequence, hash, record, frame } = next.value
          for (const id of filesOf(record, files)) blobs.add(id)
          for (let at = 0; at < frame.length; ) at += writeSync(descriptor, frame, at)
          size += frame.length
          last = { sequence, hash: Buffer.from(hash).toString('hex') }
        }
      } finally {
        closeSync(descriptor)
      }
    })
    copiedFiles.push(file)
  }
  return last.sequence === to.sequence && last.hash === to.hash ? { files: copiedFiles, blobs } : undefined
}

/** Records after `from`, up to `to`; fewer when some of them are missing. */
export function* recordsBetween(
  folder: string,
  from: LogPlace,
  to?: Pick<LogPlace, 'sequence'>,
): Generator<SegmentEntry, undefined> {
  let continues = false
  try {
    for (const entry of readSegments(segmentsOf(folder), from.sequence, { withStart: true })) {
      if (entry.sequence === from.sequence) continues = Buffer.from(entry.hash).toString('hex') === from.hash
      else if (entry.record.length === 0) continues = false
      else if (continues && entry.sequence > from.sequence) yield entry
      // A server may be writing what follows.
      if (to && entry.sequence >= to.sequence) return
    }
  } catch (error) {
    // The server may have removed a file, or begun another history.
    if (!(error instanceof DamagedLogError) && (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function filesOf(record: Uint8Array, files: BinaryFiles): string[] {
  return decodeRecord(record).effects.flatMap(effect => {
    const binaryBytes =
      effect.kind === 'binary' ? effect.value : effect.kind === 'upload' ? effect.change.upload?.value : undefined
    const content = binaryBytes && decodeBinary(binaryBytes, files)?.content
    return content && !(content instanceof Uint8Array) ? [content.id] : []
  })
}
