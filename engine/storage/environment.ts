import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase, type RootDatabaseOptionsWithPath } from 'lmdb'
import { BinaryFiles } from '../files/binary-files.ts'
import { requireAddressSpace } from './address-space.ts'
import { DATA_FILE } from './data-file.ts'
import { isReadByOthers } from './store-lock.ts'
import { unusable } from './store-folder.ts'
import type { StoreLocation } from '../data/store-options.ts'

/** The LMDB tables of a store. Their keys and values are described in `keys.ts`, `row-layout.ts`, `store-state.ts`. */
export interface Environment {
  /** Folder of the store. */
  readonly path: string
  readonly root: RootDatabase<unknown, string>
  /** Model, layouts, table numbers: JSON, read at start. */
  readonly meta: Database<unknown, string>
  /** Global stamp and the counters of each table: small binary values that change with every commit. */
  readonly state: Database<Buffer, Buffer>
  readonly rows: Database<Buffer, Buffer>
  readonly index: Database<Buffer, Buffer>
  readonly binaries: Database<Buffer, Buffer>
  readonly fileReferences: Database<Buffer, Buffer>
  readonly uploads: Database<Buffer, Buffer>
  readonly changes: Database<Buffer, Buffer>
  readonly entitySets: Database<Buffer, Buffer>
  /** Records of the server itself: sessions, secrets. JSON. */
  readonly records: Database<unknown, string>
  /** Files for values that are too large for the tables. */
  readonly files: BinaryFiles
  close(): Promise<void>
}

interface EnvironmentOptions extends StoreLocation {
  /** True if commits are durable by a log: LMDB does not sync them. The first thread of a process decides for all of its threads. */
  isLogged?: boolean | undefined
  /** Files of images and blobs, if they belong to another store. */
  files?: BinaryFiles
}

/** @throws {Error} naming the folder, when LMDB cannot open it; {@link InputError} the address space is too small */
export function openEnvironment(options: EnvironmentOptions): Environment {
  requireAddressSpace(options)
  try {
    // LMDB does not name the file, and ends the process when the lock file is read-only.
    for (const name of [DATA_FILE, 'lock.mdb']) {
      const path = join(options.path, name)
      if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK)
    }
    return openTables(options)
  } catch (error) {
    throw unusable(options.path, error)
  }
}

function openTables({ path, mapSizeBytes, isLogged = false, ...overrides }: EnvironmentOptions): Environment {
  const options: RootDatabaseOptionsWithPath & { permissionsMode: number } = {
    path,
    // Mode of new files. The types of lmdb-js leave it out.
    permissionsMode: 0o600,
    // Otherwise a name such as `store.tesser` would make it a file.
    noSubdir: false,
    maxDbs: 16,
    mapSize: mapSizeBytes,
    // A commit must be on the disk before it is answered. Overlapping sync returns before that.
    overlappingSync: false,
    noSync: isLogged,
    encoding: 'json',
  }
  const root = open<unknown, string>(options)
  const binary = (name: string): Database<Buffer, Buffer> =>
    root.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' })
  const files = overrides.files ?? new BinaryFiles(join(path, 'files'), () => !isReadByOthers(path))
  return {
    path,
    root,
    meta: root.openDB<unknown, string>({ name: 'meta', encoding: 'json' }),
    state: binary('state'),
    rows: binary('rows'),
    index: binary('index'),
    binaries: binary('binaries'),
    fileReferences: binary('fileReferences'),
    uploads: binary('uploads'),
    changes: binary('changes'),
    entitySets: binary('entitySets'),
    records: root.openDB<unknown, string>({ name: 'records', encoding: 'json' }),
    files,
    async close() {
      await files.awaitRemovals()
      await root.close()
    },
  }
}

/**
 * A value as bytes, valid until the next read from any table of this thread: `getBinaryFast` of lmdb-js copies values into one
 * buffer that it reuses, and only patches the length of the Buffer that it returns. 0.5 µs, where a range with values takes 1.9 a row.
 */
export function getBytes(table: Database<Buffer, Buffer>, key: Buffer): Uint8Array | undefined {
  const value = table.getBinaryFast(key)
  return value === undefined ? undefined : new Uint8Array(value.buffer, value.byteOffset, value.length)
}

/** Keys from `start` up to, not including, `end`, in order. */
export function keyRange(table: Database<Buffer, Buffer>, start: Buffer, end: Buffer): Iterable<Buffer> {
  return table.getKeys({ start, end })
}
