import { closeSync, readSync } from 'node:fs'
import type { BinaryFile } from '../../catalog/value.ts'
import { digestsOf, isDigestOf, PIECE_BYTES } from '../../files/binary-digest.ts'
import type { BinaryFiles } from '../../files/binary-files.ts'
import { type Environment, getBytes } from '../environment.ts'
import { isInUse } from '../store-owner.ts'
import { pendingRemovals } from '../binary-table.ts'
import { UploadTable } from '../upload-table.ts'
import { orUnreadable } from './or-unreadable.ts'

/** References to each file, by its id. */
export type FileUses = Map<string, { file: BinaryFile; by: string[] }>

export function use(uses: FileUses, file: BinaryFile, by: string): void {
  const fileUse = uses.get(file.id)
  if (fileUse) fileUse.by.push(by)
  else uses.set(file.id, { file, by: [by] })
}

/**
 * Contradictions between files, the table that counts their uses, and the rows that use them. Every file is read and compared with its
 * digests. Unused files are not reported while a server runs: they may be uploads in progress.
 * @param uses uses by the binaries; uses by the uploads are added
 */
export function* checkFiles(
  environment: Environment,
  uses: FileUses,
  onProgress: (checkedFiles: number, total: number) => void = () => {},
): Generator<string> {
  const { files, fileReferences } = environment
  for (const [id, { value }] of new UploadTable(environment).all()) {
    if (!(value.content instanceof Uint8Array)) use(uses, value.content, `upload ${id}`)
  }
  let checkedCount = 0
  for (const [id, { file, by }] of uses) {
    onProgress(checkedCount++, uses.size)
    const size = files.size(id)
    if (size === undefined) yield `${by[0]} are in file ${id}, which does not exist`
    else if (size !== file.size) yield `file ${id} has ${size} bytes, ${by[0]} says ${file.size}`
    else yield* orUnreadable(`file ${id}`, damagedPieces(files, file, by[0]!))
    const countBytes = getBytes(fileReferences, Buffer.from(id, 'hex'))
    const count = countBytes ? Buffer.from(countBytes).readUInt32BE() : 0
    if (count !== by.length) yield `file ${id} is used ${by.length} times, the store counts ${count}`
  }
  for (const key of fileReferences.getKeys({ start: Buffer.alloc(1) })) {
    const id = key.toString('hex').toUpperCase()
    if (!uses.has(id)) yield `the store counts uses of file ${id}, which nothing uses`
  }
  if (isInUse(environment)) return
  for (const id of files.list('incoming')) {
    if (!uses.has(id)) yield `file incoming/${id} is of an upload that did not end; the next start removes it`
  }
  const removedIds = new Set(pendingRemovals(environment))
  for (const id of files.list('settled')) {
    if (uses.has(id) || removedIds.has(id)) continue
    yield `file ${id} is not known to this store; it stays, because it may belong to another state of it, as a backup`
  }
}

/** Yields at most one problem: a single damaged piece proves that the disk is faulty. */
function* damagedPieces(files: BinaryFiles, { id, size, digests }: BinaryFile, by: string): Generator<string> {
  const descriptor = files.open(id)
  try {
    const piece = Buffer.alloc(Math.min(size, PIECE_BYTES))
    for (let position = 0; position < size; position += PIECE_BYTES) {
      const bytes = piece.subarray(0, Math.min(PIECE_BYTES, size - position))
      readSync(descriptor, bytes, 0, bytes.length, position)
      if (!digests || isDigestOf(digestsOf(bytes), digests, position / PIECE_BYTES)) continue
      yield `file ${id} is damaged: ${by} are not what was written, from byte ${position} on`
      return
    }
  } finally {
    closeSync(descriptor)
  }
}
