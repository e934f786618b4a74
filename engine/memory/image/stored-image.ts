import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { WritableStore } from '../../data/writable-store.ts'
import { layoutFingerprint } from '../../row-format/row-layout.ts'
import type { TableShape } from '../heap/directory.ts'
import { ImageWriter } from './image-writer.ts'
import { readImage } from './read-image.ts'
import type { SharedHeap } from '../heap/shared-heap.ts'

/** Description of an image, stored with the memory. */
interface ImageDescription<State> {
  readonly id: string
  /** Fingerprint of its model and options: see {@link fingerprintOf}. */
  readonly fingerprint: string
  /** Global stamp of the newest commit in it. */
  readonly globalStamp: number
  readonly state: State
}

const FILE = /^memory-[0-9a-f-]+\.image$/
const fileName = (id: string): string => `memory-${id}.image`

/**
 * The image of the shared memory that belongs to a store: a file beside the store, named in it. A file is valid only when the
 * store names it, which happens after it was written. So a file that is incomplete, from another history of the store (a restored
 * backup), or from another store is never read. It is not synced to the disk: checksums detect what a power failure has lost.
 */
export class StoredImage<State> {
  /** Global stamp of the newest image; 0 when there is none. */
  globalStamp = 0

  constructor(
    private readonly store: Pick<WritableStore, 'memoryImage'>,
    /** Folder of the store. */
    private readonly folder: string,
    private readonly fingerprint: string,
  ) {}

  /**
   * Reads the image into a memory without readers.
   * @returns undefined when there is none
   * @throws {Error} saying why it cannot be used
   */
  async load(heap: SharedHeap): Promise<ImageDescription<State> | undefined> {
    const id = this.store.memoryImage
    this.removeOthers(id)
    if (id === undefined) return undefined
    const description = await readImage<ImageDescription<State>>(join(this.folder, fileName(id)), heap, image => {
      if (image.id !== id) throw new Error('it is of another store')
      if (image.fingerprint !== this.fingerprint) throw new Error('it was made for another model or size of the memory')
    })
    this.globalStamp = description.globalStamp
    return description
  }

  /**
   * Writes an image of the memory as it is when this is called.
   * @param end address after the last block of the memory
   * @throws {ImageGivenUp} and errors of the disk; the previous image then stays the newest one
   */
  async save(
    heap: SharedHeap,
    end: number,
    { globalStamp, state }: Pick<ImageDescription<State>, 'globalStamp' | 'state'>,
    bytesPerSecond: number,
    signal: AbortSignal,
  ): Promise<void> {
    const id = randomUUID()
    const description: ImageDescription<State> = { id, fingerprint: this.fingerprint, globalStamp, state }
    const image = new ImageWriter(heap, end, description)
    const path = join(this.folder, fileName(id))
    try {
      const file = await open(path, 'wx', 0o600)
      try {
        await image.write(file, bytesPerSecond, signal)
      } finally {
        await file.close()
      }
    } catch (error) {
      rmSync(path, { force: true })
      throw error
    } finally {
      image.release()
    }
    this.store.memoryImage = id
    this.globalStamp = globalStamp
    this.removeOthers(id)
  }

  private removeOthers(id: string | undefined): void {
    for (const name of readdirSync(this.folder)) {
      if (FILE.test(name) && (id === undefined || name !== fileName(id)))
        rmSync(join(this.folder, name), { force: true })
    }
  }
}

/** Hash of everything besides the rows that decides what the memory holds. */
export function fingerprintOf(formatVersion: number, heap: SharedHeap, shapes: readonly TableShape[]): string {
  const tables = shapes.map(({ layout, columns, kinds, indexed }) => [
    layout.dataClass.tableNumber,
    layout.version,
    layoutFingerprint(layout),
    layout.references.map(relation => [relation.name, relation.foreignKey.name]),
    // The layout has the types of attributes, but not those of properties inside them.
    columns.map(({ name, ...column }) =>
      'source' in column && column.source ? `${name} ${column.source.type}` : name,
    ),
    kinds,
    indexed.map(({ name }) => name),
  ])
  // The size is included: an image that did not fit another size may fit this one.
  return createHash('sha256')
    .update(JSON.stringify([formatVersion, heap.size, tables]))
    .digest('hex')
}
