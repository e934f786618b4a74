import type { BinaryFile } from '../catalog/value.ts'
import { type Environment, getBytes } from '../storage/environment.ts'
import { isInUse } from '../storage/store-lock.ts'
import { eachUpload } from '../binary/upload-table.ts'

/** Who refers to each file, by its id. */
export type FileUses = Map<string, { size: number; by: string[] }>

export function use(uses: FileUses, { id, size }: BinaryFile, by: string): void {
  const known = uses.get(id)
  if (known) known.by.push(by)
  else uses.set(id, { size, by: [by] })
}

/**
 * What contradicts each other among files, the table that counts their uses, and who uses them. Files that nobody uses are
 * left out while a server runs: they may be uploads on their way.
 * @param uses of the binaries; those of the uploads are added
 */
export function* checkFiles(environment: Environment, uses: FileUses): Generator<string> {
  const { files, fileReferences } = environment
  for (const [id, { value }] of eachUpload(environment)) {
    if (!(value.content instanceof Uint8Array)) use(uses, value.content, `upload ${id}`)
  }
  for (const [id, { size, by }] of uses) {
    const found = files.size(id)
    if (found === undefined) yield `${by[0]} are in file ${id}, which does not exist`
    else if (found !== size) yield `file ${id} has ${found} bytes, ${by[0]} says ${size}`
    const counted = getBytes(fileReferences, Buffer.from(id, 'hex'))
    const count = counted ? Buffer.from(counted).readUInt32BE() : 0
    if (count !== by.length) yield `file ${id} is used ${by.length} times, the store counts ${count}`
  }
  for (const key of fileReferences.getKeys({ start: Buffer.alloc(1) })) {
    const id = key.toString('hex').toUpperCase()
    if (!uses.has(id)) yield `the store counts uses of file ${id}, which nothing uses`
  }
  if (isInUse(environment)) return
  for (const id of files.list()) if (!uses.has(id)) yield `file ${id} is an orphan; the next start removes it`
}
