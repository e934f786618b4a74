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

/** Header of an image, beside the memory. */
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
 * The image of the shared memory that belongs to a store: a file beside it, named in the store. A file counts only when that
 * names it, which happens after it was written. So one that is half written, that was left by another history of the
 * store (a backup that was put back), or that belongs to another store is never looked at. It is not synced to the disk:
 * what a loss of power has taken from it is found by its checksums.
 */
export class Checkpoint<State> {
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
   * @throws {Error} why it cannot be used
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
   * @param end no block of the memory ends behind it
   * @throws {ImageGivenUp}; errors of the disk. The image before is the newest one then
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

/** Everything that decides what the memory holds besides the rows. */
export function fingerprintOf(formatVersion: number, heap: SharedHeap, shapes: readonly TableShape[]): string {
  const tables = shapes.map(({ layout, columns, kinds, indexed }) => [
    layout.dataClass.tableNumber,
    layout.version,
    layoutFingerprint(layout),
    layout.references.map(relation => [relation.name, relation.foreignKey.name]),
    // The layout tells the types of attributes, not those of properties inside of them.
    columns.map(({ name, ...column }) =>
      'source' in column && column.source ? `${name} ${column.source.type}` : name,
    ),
    kinds,
    indexed.map(({ name }) => name),
  ])
  // An image that did not fit another size may fit this one.
  return createHash('sha256')
    .update(JSON.stringify([formatVersion, heap.size, tables]))
    .digest('hex')
}
