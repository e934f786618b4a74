import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { syncFolder } from '../../../base/sync-folder.ts'
import type { WireOptions } from '../../../catalog/dataclass.ts'
import type { Model } from '../../../catalog/model-schema.ts'
import type { StoreLocation } from '../../../data/store-options.ts'
import { BinaryFiles } from '../../../files/binary-files.ts'
import { DATA_FILE } from '../../data-file.ts'
import { type Environment, openEnvironment } from '../../environment.ts'
import { makeFolder } from '../../store-folder.ts'
import { syncFile } from '../../sync-file.ts'

/** Model to which the copy of a store is brought. */
export interface CopyTarget {
  /** As returned by `checkModel`. */
  readonly model: Model
  readonly wire: WireOptions
}

/** Content of the file that describes a copy. */
interface Described extends CopyTarget {
  /** Lets the model remove or break data that it does not allow. */
  readonly allowLoss: boolean
}

const DESCRIPTION = 'target.json'

/** The copy of a store that is brought to another model: a folder inside the folder of the store. */
export class CopyFolder {
  readonly path: string

  constructor(private readonly store: string) {
    this.path = join(store, 'migrating')
  }

  get exists(): boolean {
    return existsSync(this.path)
  }

  /** True when the data file has been copied. */
  get isCopied(): boolean {
    return existsSync(join(this.path, DATA_FILE))
  }

  /** Description of the copy; undefined if the copy does not exist or is not described yet. */
  get description(): Described | undefined {
    try {
      return JSON.parse(readFileSync(join(this.path, DESCRIPTION), 'utf8')) as Described
    } catch {
      return undefined
    }
  }

  isFor({ model, wire }: CopyTarget): boolean {
    const { description } = this
    // Both are compared as JSON, because JSON files have no undefined members.
    return (
      description !== undefined &&
      isDeepStrictEqual(jsonOf([description.model, description.wire]), jsonOf([model, wire]))
    )
  }

  /** Begins a copy: an empty folder with its description. */
  begin({ model, wire, allowLoss }: Described): void {
    this.clear()
    makeFolder(this.path)
    const description: Described = { model, wire, allowLoss }
    writeFileSync(join(this.path, DESCRIPTION), JSON.stringify(description), { mode: 0o600 })
  }

  /** Copies the data file, without its free pages. An interrupted copy begins again. */
  async copy({ root }: Environment): Promise<void> {
    const unfinishedFolder = join(this.path, 'unfinished')
    rmSync(unfinishedFolder, { recursive: true, force: true })
    mkdirSync(unfinishedFolder, { mode: 0o700 })
    await root.backup(unfinishedFolder, true)
    const copy = join(unfinishedFolder, DATA_FILE)
    chmodSync(copy, statSync(join(this.store, DATA_FILE)).mode & 0o777)
    await syncFile(copy)
    renameSync(copy, join(this.path, DATA_FILE))
    rmSync(unfinishedFolder, { recursive: true })
    syncFolder(this.path)
  }

  /** Opens the copy. It shares the files of images and blobs with the store, and removes none. */
  open({ mapSizeBytes }: Pick<StoreLocation, 'mapSizeBytes'>): Environment {
    const files = new BinaryFiles(join(this.store, 'files'), () => false)
    return openEnvironment({ path: this.path, mapSizeBytes, files })
  }

  /** Makes the copy the data file of the store, in one step. No process may have either open. */
  moveIntoPlace(): void {
    renameSync(join(this.path, DATA_FILE), join(this.store, DATA_FILE))
    syncFolder(this.store)
    this.clear()
  }

  clear(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

const jsonOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
