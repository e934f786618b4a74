import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Transaction } from 'lmdb'
import { syncFolder } from '../../base/sync-folder.ts'
import type { Fingerprints } from '../../catalog/calculated.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { TableState } from '../../data/record-store.ts'
import type { Note, StoreLocation } from '../../data/store-options.ts'
import { decodeBinary } from '../../files/encode-binary.ts'
import { NO_ROW, type RowLayout } from '../../row-format/row-layout.ts'
import type { BackupStep } from '../backup/make-backup.ts'
import type { Environment } from '../environment.ts'
import { readFingerprints } from '../fingerprints.ts'
import { damagedPages } from '../inspect/inspect-store.ts'
import { binaryKey, rowIdOfKey, rowKey } from '../keys.ts'
import { openBeside } from '../open-beside.ts'
import { readGlobalStamp, readTableState } from '../store-state.ts'
import { loadSchema, readSchema, type StoredSchema } from '../stored-schema.ts'
import { BlobWriter } from './blob-writer.ts'
import {
  ACCOUNT_FILES,
  ACCOUNT_FOLDER,
  type Accounts,
  type ClassDescription,
  DATA_FOLDER,
  type Description,
  DESCRIPTION_FILE,
  DumpError,
  encodeDescription,
  MODEL_FILE,
} from './dump-form.ts'
import { dumpedModel } from './dump-models.ts'
import { PackedFile } from './packed-file.ts'
import { RowWriter } from './row-writer.ts'
import { syncAll } from './sync-all.ts'

/** Number of rows that are read in one slice. */
const SLICE = 2_000
/** Number of bytes of lines that are packed in one chunk. */
const CHUNK_BYTES = 256 * 1024

interface DumpOptions extends StoreLocation {
  /** Folder of the dump, which does not exist or is empty. */
  readonly folder: string
  /** Version of Tesser, for people who read the dump. */
  readonly version: string
  readonly accounts?: Accounts | undefined
  readonly onNote?: Note
  readonly onProgress?: (step: BackupStep) => void
}

/** Result of a dump. */
interface Dumped {
  readonly stamp: number
  readonly entities: number
  readonly bytes: number
}

/**
 * Writes the whole content of a store at one commit into a folder, even while a server uses the store. The folder appears when it is
 * complete.
 * @throws {DumpError} {@link DamagedStoreError}
 */
export async function writeDump(options: DumpOptions): Promise<Dumped> {
  const folder = resolve(options.folder)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new DumpError(`${folder} is not empty; name another folder, or move what is in it`)
  const { environment, close } = await openBeside(options, options.onNote ?? (() => {}))
  const part = `${folder}.part`
  try {
    rmSync(part, { recursive: true, force: true })
    mkdirSync(join(part, DATA_FOLDER), { recursive: true, mode: 0o700 })
    const [damage] = damagedPages(environment, {
      ...options,
      onCheckProgress: step => options.onProgress?.({ ...step, what: 'checking the data file' }),
    })
    if (damage !== undefined) throw new DumpError(`the store in ${options.path} is damaged: ${damage}`)
    const result = await new DumpWriter(part, environment, options).write()
    options.onProgress?.({ what: 'syncing files', done: 0, total: 1 })
    await syncAll(part)
    if (existsSync(folder)) rmdirSync(folder)
    renameSync(part, folder)
    syncFolder(dirname(folder))
    return result
  } catch (error) {
    rmSync(part, { recursive: true, force: true })
    throw error
  } finally {
    await close()
  }
}

/** State of a store at one commit, and the transaction that reads the rest of it. */
interface State {
  readonly schema: StoredSchema
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  readonly globalStamp: number
  readonly tables: ReadonlyMap<DataClass, TableState & { readonly calculated: Fingerprints }>
  readonly transaction: Transaction
}

class DumpWriter {
  private readonly blobs: BlobWriter
  private done = 0
  private total = 0

  constructor(
    private readonly folder: string,
    private readonly environment: Environment,
    private readonly options: DumpOptions,
  ) {
    this.blobs = new BlobWriter(folder, environment.files)
  }

  async write(): Promise<Dumped> {
    const time = new Date().toISOString()
    const state = this.begin()
    const { schema, globalStamp, tables, transaction } = state
    try {
      const model = this.put(MODEL_FILE, `${JSON.stringify(dumpedModel(schema.model), undefined, 2)}\n`)
      const accounts = this.copyAccounts()
      this.total = [...tables.values()].reduce((sum, { rowCount }) => sum + rowCount, 0)
      const dataClasses: Record<string, ClassDescription> = {}
      const names = new Set<string>()
      for (const dataClass of tables.keys()) {
        // File systems may not distinguish names by case.
        const lower = dataClass.name.toLowerCase()
        const name = names.has(lower) ? `${dataClass.name}.${dataClass.tableNumber}` : dataClass.name
        names.add(lower)
        dataClasses[dataClass.name] = await this.writeClass(dataClass, state, `${DATA_FOLDER}/${name}.ndjson.gz`)
      }
      const { count, bytes } = this.blobs
      const description: Omit<Description, 'form' | 'digest'> = {
        tesser: this.options.version,
        time,
        globalStamp,
        model,
        dataClasses,
        blobs: { count, bytes },
        tableNumbers: schema.numbers,
        ...accounts,
      }
      this.put(DESCRIPTION_FILE, encodeDescription(description))
      const files = Object.values(dataClasses).flatMap(({ files = [] }) => files)
      const size = files.reduce((sum, file) => sum + file.bytes!, bytes)
      return { stamp: globalStamp, entities: this.done, bytes: size }
    } finally {
      transaction.done()
    }
  }

  /** Selects the newest commit. All later reads in the same turn, and all reads by its transaction, see this commit. */
  private begin(): State {
    const { environment } = this
    const { root, meta, path } = environment
    root.resetReadTxn()
    const transaction = root.useReadTransaction()
    try {
      // The transaction of LMDB begins with the first read.
      if (meta.get('migration') !== undefined)
        throw new DumpError(`a change of the model of the store in ${path} was interrupted; the next start finishes it`)
      const { layouts } = loadSchema(environment)
      const tables = [...layouts.keys()].map(dataClass => {
        const { tableNumber } = dataClass
        const fingerprints = readFingerprints(environment, tableNumber)
        return [dataClass, { ...readTableState(environment, tableNumber), calculated: fingerprints }] as const
      })
      return {
        schema: readSchema(environment),
        layouts,
        globalStamp: readGlobalStamp(environment),
        tables: new Map(tables),
        transaction,
      }
    } catch (error) {
      transaction.done()
      throw error
    }
  }

  private async writeClass(dataClass: DataClass, state: State, file: string): Promise<ClassDescription> {
    const { tableNumber, name, attributes } = dataClass
    const { rowCount, nextAutoIncrement, calculated } = state.tables.get(dataClass)!
    const { rows } = this.environment
    const { transaction } = state
    const writer = new RowWriter(state.layouts.get(dataClass)!, (rowId, { position }) => {
      const storedBytes = this.environment.binaries.get(binaryKey(tableNumber, rowId, position), { transaction })
      const value = storedBytes && decodeBinary(storedBytes, this.environment.files)
      if (!value) throw new DumpError(`${name}, row ${rowId}: an image or a blob is missing in the store`)
      return this.blobs.put(value)
    })
    const packedFile = new PackedFile(join(this.folder, file))
    let entities = 0
    try {
      for (let first = 0, isOver = false; !isOver; ) {
        const range = { start: rowKey(tableNumber, first), end: rowKey(tableNumber, NO_ROW), limit: SLICE, transaction }
        let lines: Buffer[] = []
        let length = 0
        let count = 0
        for (const { key, value } of rows.getRange(range)) {
          const rowId = rowIdOfKey(key)
          first = rowId + 1
          count++
          const line = writer.write(rowId, value)
          lines.push(line)
          length += line.length
          if (length < CHUNK_BYTES) continue
          await packedFile.write(Buffer.concat(lines, length))
          lines = []
          length = 0
        }
        if (length > 0) await packedFile.write(Buffer.concat(lines, length))
        isOver = count < SLICE
        entities += count
        this.done += count
        this.options.onProgress?.({ what: 'writing entities', done: this.done, total: this.total })
      }
      if (entities !== rowCount)
        throw new DumpError(`${name} has ${entities} rows, the store counts ${rowCount}; tesser check says more`)
      const hasCounter = attributes.some(each => each.kind === 'storage' && each.autoFill === 'increment')
      return {
        entities,
        ...(hasCounter && { nextAutoIncrement }),
        ...(Object.keys(calculated).length > 0 && { calculated }),
        files: [{ file, ...(await packedFile.end()) }],
      }
    } catch (error) {
      await packedFile.abort()
      throw error
    }
  }

  private copyAccounts(): Pick<Description, 'accounts'> {
    const { accounts } = this.options
    if (!accounts) return {}
    mkdirSync(join(this.folder, ACCOUNT_FOLDER))
    const accountFiles: NonNullable<Description['accounts']> = {}
    for (const kind of ['roles', 'directory'] as const) {
      const path = accounts[kind]
      if (path === undefined || !existsSync(path)) continue
      accountFiles[kind] = this.put(`${ACCOUNT_FOLDER}/${ACCOUNT_FILES[kind]}`, readFileSync(path, 'utf8'))
    }
    return { accounts: accountFiles }
  }

  private put(name: string, text: string): { bytes: number; sha256: string } {
    const bytes = Buffer.from(text)
    writeFileSync(join(this.folder, name), bytes, { flag: 'wx', mode: 0o600 })
    return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  }
}
