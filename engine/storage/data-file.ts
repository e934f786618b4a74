import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { endianness } from 'node:os'
import { join } from 'node:path'

/**
 * The data file of LMDB, read as bytes. LMDB maps it and follows its contents without a check, so that a missing or damaged page ends the
 * process by a signal. This class checks the file first. Source: `mdb.c` of LMDB, data version 2, on 64-bit little-endian machines:
 * `MDB_meta`, `MDB_db`, `MDB_page_header`.
 */

export const DATA_FILE = 'data.mdb'

/** True if data files of this machine have the layout that is read here. */
export const canReadDataFile = endianness() === 'LE' && !['arm', 'ia32', 'mips', 'ppc'].includes(process.arch)

export const PAGE_HEADER_BYTES = 24
export const PAGE = { BRANCH: 0x01, LEAF: 0x02, OVERFLOW: 0x04, META: 0x08 } as const
const MAGIC = 0xbeefc0de
const DATA_VERSION = 2
const NO_PAGE = 0xffff_ffff_ffff_ffffn
/** Maximum depth of a tree in LMDB. */
const MAX_DEPTH = 32

/** A B-tree of the file: `MDB_db`. */
export interface Tree {
  /** 0 for an empty tree. */
  readonly depth: number
  readonly branchPages: number
  readonly leafPages: number
  readonly overflowPages: number
  readonly entries: number
  /** Undefined for an empty tree. */
  readonly root: number | undefined
}

/** Root of a snapshot: one of the first two pages. */
export interface Meta {
  readonly transaction: number
  readonly lastPage: number
  /** Pages that may be reused, by the transaction that freed them. */
  readonly free: Tree
  /** The named tables. */
  readonly main: Tree
}

/** Thrown when the data file cannot be used. The message gives the reason and a remedy. */
export class DamagedStoreError extends Error {
  override readonly name = 'DamagedStoreError'
}

export class DataFile {
  /** Size of the file in bytes; after a call of {@link meta}, the size that the newest snapshot needs. */
  size: number
  readonly pageBytes: number
  private readonly file: number
  private readonly single: Buffer

  /** @throws {DamagedStoreError} when the file does not have the beginning of a data file */
  constructor(readonly path: string) {
    this.file = openSync(path, 'r')
    try {
      this.size = fstatSync(this.file).size
      const start = Buffer.alloc(PAGE_HEADER_BYTES + 28)
      if (this.read(start, 0) < start.length) throw this.damaged(`has ${this.size} bytes, less than a page`)
      const [magic, version] = [start.readUInt32LE(24), start.readUInt32LE(28) & 0xffff]
      if ((start.readUInt16LE(18) & PAGE.META) === 0 || magic !== MAGIC) {
        throw this.damaged('does not begin with a meta page of LMDB')
      }
      if (version !== DATA_VERSION) {
        throw this.damaged(`has format ${version} of LMDB, this version reads format ${DATA_VERSION}`)
      }
      this.pageBytes = start.readUInt32LE(48)
      if (!isPageSize(this.pageBytes)) throw this.damaged(`says that its pages have ${this.pageBytes} bytes`)
      if (this.size < 2 * this.pageBytes) throw this.damaged(`has ${this.size} bytes, less than its two meta pages`)
      this.single = Buffer.alloc(this.pageBytes)
    } catch (error) {
      this.close()
      throw error
    }
  }

  static in(folder: string): DataFile {
    return new DataFile(join(folder, DATA_FILE))
  }

  /** Number of whole pages in the file. */
  get pages(): number {
    return Math.floor(this.size / this.pageBytes)
  }

  /** The newest snapshot, which is the one that LMDB opens. @throws {DamagedStoreError} when it is inconsistent */
  meta(): Meta {
    const [first, second] = [this.metaAt(0), this.metaAt(1)]
    // A server may write: the pages of a snapshot are in the file before its meta page is.
    this.size = fstatSync(this.file).size
    const index = first.transaction >= second.transaction ? 0 : 1
    const meta = index === 0 ? first : second
    const isInPlace = meta.transaction === 0 || meta.transaction % 2 === index
    const trees = [meta.free, meta.main]
    if (!isInPlace || meta.lastPage < 1 || !trees.every(tree => isPlausible(tree, meta))) {
      throw this.damaged(`has a damaged meta page ${index}`)
    }
    return meta
  }

  /** A page, valid until the next call; undefined when the file ends before it. */
  page(number: number): Buffer | undefined {
    return this.read(this.single, number * this.pageBytes) === this.pageBytes ? this.single : undefined
  }

  /** Fills `target` with the bytes from `position` on. @returns number of bytes read */
  read(target: Buffer, position: number): number {
    let at = 0
    while (at < target.length) {
      const count = readSync(this.file, target, at, target.length - at, position + at)
      if (count === 0) break
      at += count
    }
    return at
  }

  damaged(what: string): DamagedStoreError {
    return new DamagedStoreError(
      `${this.path} ${what}: the data of this store are damaged. Put ${DATA_FILE} back from a backup; the files beside it can stay.`,
    )
  }

  close(): void {
    closeSync(this.file)
  }

  private metaAt(index: 0 | 1): Meta {
    const page = this.page(index)!
    if (page.readUInt32LE(24) !== MAGIC || (page.readUInt32LE(28) & 0xffff) !== DATA_VERSION) {
      throw this.damaged(`has a damaged meta page ${index}`)
    }
    return {
      transaction: Number(page.readBigUInt64LE(152)),
      lastPage: Number(page.readBigUInt64LE(144)),
      free: readTree(page, 48),
      main: readTree(page, 96),
    }
  }
}

/** Reads an `MDB_db` at an offset. */
export function readTree(page: Buffer, at: number): Tree {
  const number = (offset: number): number => Number(page.readBigUInt64LE(at + offset))
  const root = page.readBigUInt64LE(at + 40)
  return {
    depth: page.readUInt16LE(at + 6),
    branchPages: number(8),
    leafPages: number(16),
    overflowPages: number(24),
    entries: number(32),
    root: root === NO_PAGE ? undefined : Number(root),
  }
}

/** True if a tree can belong to the snapshot. */
export const isPlausible = ({ depth, root }: Tree, { lastPage }: Pick<Meta, 'lastPage'>): boolean =>
  root === undefined ? depth === 0 : depth > 0 && depth <= MAX_DEPTH && root > 1 && root <= lastPage

const isPageSize = (bytes: number): boolean => bytes >= 256 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0
