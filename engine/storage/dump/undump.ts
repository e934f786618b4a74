import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFolder } from '../../base/sync-folder.ts'
import { storedCalculated } from '../../catalog/calculated.ts'
import type { Catalog, DataClass, WireOptions } from '../../catalog/dataclass.ts'
import type { StoreLocation } from '../../data/store-options.ts'
import type { BackupStep } from '../backup/make-backup.ts'
import { openEnvironment } from '../environment.ts'
import { writeFingerprints } from '../fingerprints.ts'
import { prepareStore } from '../migration/prepare-store.ts'
import { BlobReader } from './blob-reader.ts'
import { type Accounts, type ClassDescription, DumpError, list } from './dump-form.ts'
import { DumpFolder, type Lines } from './dump-folder.ts'
import { type Models, readModels } from './dump-models.ts'
import { StoreFiller } from './fill-store.ts'
import { type DumpRow, DumpRowReader } from './row-reader.ts'
import { syncAll } from './sync-all.ts'

/** Approximate number of characters of the lines that are put in one transaction. */
const BATCH_CHARACTERS = 16 * 2 ** 20
const MAX_PROBLEMS = 20

interface UndumpOptions extends StoreLocation {
  /** Folder of the dump. */
  readonly folder: string
  readonly wire: WireOptions
  /** Model of the store as JSON, instead of the model of the dump. */
  readonly model?: unknown
  /** Leaves out everything that the other model does not have. */
  readonly leaveOutUnknown?: boolean
  /** Takes the contents of the files of roles, users and keys. @returns a function that writes them, called when the store is complete */
  readonly takeAccounts?: ((accounts: Accounts) => () => void) | undefined
  readonly onProgress?: (step: BackupStep) => void
}

/** A store that was created from a dump. */
interface Undumped {
  readonly stamp: number
  /** Number of entities by dataclass. */
  readonly entities: Readonly<Record<string, number>>
}

/**
 * Creates a store from a dump, in a folder that does not exist or is empty. The folder appears when the store is complete. Stamps are those
 * of the dump, so that clients that follow changes by stamps can continue.
 * @throws {DumpError} the dump is damaged or contradicts its model; {@link ModelError}
 */
export async function undump(options: UndumpOptions): Promise<Undumped> {
  const path = existsSync(options.path) ? realpathSync(options.path) : options.path
  if (existsSync(path) && readdirSync(path).length > 0)
    throw new DumpError(`${path} is not empty; name another folder, or move what is in it`)
  const dump = new DumpFolder(options.folder)
  const classes = readModels(dump, options)
  const putAccounts = options.takeAccounts?.(dump.accounts())
  const folder = `${path}.restoring`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'files'), { recursive: true, mode: 0o700 })
  let result: Undumped
  try {
    result = await fill(dump, classes, { ...options, path: folder })
    options.onProgress?.({ what: 'syncing files', done: 0, total: 1 })
    await syncAll(folder)
    putAccounts?.()
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  if (existsSync(path)) rmdirSync(path)
  renameSync(folder, path)
  syncFolder(dirname(path))
  return result
}

async function fill(
  dump: DumpFolder,
  { model, classes, formerNames, leftOut }: Models,
  { path, mapSizeBytes, wire, onProgress = () => {} }: UndumpOptions,
): Promise<Undumped> {
  const { description } = dump
  // An unfinished store is removed by the next attempt, so LMDB need not sync.
  const environment = openEnvironment({ path, mapSizeBytes, isLogged: true })
  let filler: StoreFiller | undefined
  try {
    const { catalog, layouts } = prepareStore({
      environment,
      model,
      wire,
      numbers: description.tableNumbers,
      allowLoss: false,
    })
    filler = new StoreFiller(environment, layouts, description.globalStamp ?? 0)
    const blobs = new BlobReader(dump.path, environment.files)
    const problems = new Problems()
    const namesInDump = new Map([...classes].map(([name, now]) => [now, name]))
    const descriptionOf = (name: string | undefined): ClassDescription =>
      (name !== undefined && Object.hasOwn(description.dataClasses ?? {}, name) && description.dataClasses![name]) || {}
    const total = [...classes.keys()].reduce((sum, name) => sum + (descriptionOf(name).entities ?? 0), 0)
    let done = 0
    for (const dataClass of targetsFirst(catalog)) {
      const name = namesInDump.get(dataClass.name)
      const { entities, nextAutoIncrement, calculated = {} } = descriptionOf(name)
      const reader = new DumpRowReader({
        dataClass,
        formerNames: formerNames.get(dataClass.name) ?? new Map(),
        leftOut: leftOut.get(dataClass.name) ?? new Set(),
        blobOf: reference => blobs.read(reference),
        now: new Date().toISOString(),
      })
      let count = 0
      const firstLines: FirstLine[] = []
      for (const { file, ...digest } of name === undefined ? [] : dump.filesOf(name)) {
        firstLines.push({ file, rowId: count })
        for await (const batch of batchesOf(dump.lines({ file, ...digest }))) {
          let line = 0
          const onProblem = (text: string): void => problems.add(`${file}, line ${line}: ${text}`)
          const rows = readRows(
            batch,
            reader,
            number => {
              line = number
            },
            onProblem,
          )
          filler.put(dataClass, rows, onProblem)
          const read = batch.reduce((sum, { texts }) => sum + texts.length, 0)
          count += read
          done += read
          onProgress({ what: 'reading entities', done, total: Math.max(total, done) })
          if (entities !== undefined && count > entities) break
        }
      }
      const onIndexProgress = (entryCount: number, allEntries: number): void =>
        onProgress({ what: `writing indexes of ${dataClass.name}`, done: entryCount, total: allEntries })
      filler.complete(dataClass, nextAutoIncrement, onIndexProgress, (rowId, text) =>
        problems.add(`${lineOf(rowId, firstLines)}: ${text}`),
      )
      problems.demandNone()
      if (entities !== undefined && count !== entities) {
        const countText = count > entities ? 'more' : `${count}`
        throw new DumpError(`the dump has ${countText} entities of ${name}, its description says ${entities}`)
      }
      const fingerprints = storedCalculated(dataClass).flatMap(({ name: each }) =>
        Object.hasOwn(calculated, each) ? [[each, calculated[each]!] as const] : [],
      )
      if (fingerprints.length > 0)
        environment.root.transactionSync(() =>
          writeFingerprints(environment, dataClass.tableNumber, Object.fromEntries(fingerprints)),
        )
    }
    filler.link(
      ({ name }) => onProgress({ what: `linking entities of ${name}`, done: 0, total: 1 }),
      ({ name }, text) => problems.add(`${name}, ${text}`),
    )
    problems.demandNone()
    const result = filler.finish()
    if (description.globalStamp !== undefined && result.stamp !== description.globalStamp)
      throw new DumpError(
        `an entity has the global stamp ${result.stamp}, the description says ${description.globalStamp}`,
      )
    return result
  } finally {
    filler?.close()
    await environment.close()
    for (const name of ['lock.mdb', 'readers.lock']) rmSync(join(path, name), { force: true })
  }
}

/** Problems of entities, of which some are listed before the dump is refused. */
class Problems {
  private readonly texts: string[] = []

  add(text: string): void {
    this.texts.push(text)
    if (this.texts.length >= MAX_PROBLEMS) this.demandNone()
  }

  demandNone(): void {
    const { length } = this.texts
    if (length === 0) return
    const count = length < MAX_PROBLEMS ? '' : `, the first ${length} of which are`
    throw new DumpError(`the dump has entities that cannot be put into a store${count}:\n${list(this.texts)}`)
  }
}

/** Lines for one transaction. */
async function* batchesOf(source: AsyncIterable<Lines>): AsyncGenerator<readonly Lines[]> {
  let batch: Lines[] = []
  let characters = 0
  for await (const lines of source) {
    batch.push(lines)
    for (const text of lines.texts) characters += text.length
    if (characters < BATCH_CHARACTERS) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}

/** The first line of a file, and the row id of its entity. */
interface FirstLine {
  readonly file: string
  readonly rowId: number
}

function lineOf(rowId: number, firstLines: readonly FirstLine[]): string {
  const first = firstLines.findLast(each => each.rowId <= rowId)!
  return `${first.file}, line ${rowId - first.rowId + 1}`
}

/** @param onLine called before each line is read, with its number @returns the entities; undefined for one that cannot be read */
function* readRows(
  batch: readonly Lines[],
  reader: DumpRowReader,
  onLine: (number: number) => void,
  onProblem: (text: string) => void,
): Generator<DumpRow | undefined> {
  for (const { texts, first } of batch) {
    for (const [i, text] of texts.entries()) {
      onLine(first + i)
      let row: DumpRow | undefined
      try {
        row = reader.read(text)
      } catch (error) {
        if (!(error instanceof DumpError)) throw error
        onProblem(error.message)
      }
      yield row
    }
  }
}

/** Sorts dataclasses so that the targets of relations come first, except in cycles. */
function targetsFirst({ dataClasses }: Catalog): DataClass[] {
  const order = new Set<DataClass>()
  const begunClasses = new Set<DataClass>()
  const add = (dataClass: DataClass): void => {
    if (begunClasses.has(dataClass)) return
    begunClasses.add(dataClass)
    for (const attribute of dataClass.attributes) if (attribute.kind === 'relatedEntity') add(attribute.target)
    order.add(dataClass)
  }
  dataClasses.forEach(add)
  return [...order]
}
