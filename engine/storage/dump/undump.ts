import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suggestion } from '../../base/suggestion.ts'
import { syncFolder } from '../../base/sync-folder.ts'
import { storedCalculated } from '../../catalog/calculated.ts'
import { checkModel } from '../../catalog/check-model.ts'
import type { Catalog, DataClass, WireOptions } from '../../catalog/dataclass.ts'
import type { Model } from '../../catalog/model-schema.ts'
import type { StoreLocation } from '../../data/store-options.ts'
import type { BackupStep } from '../backup/make-backup.ts'
import { openEnvironment } from '../environment.ts'
import { writeFingerprints } from '../fingerprints.ts'
import { prepareStore } from '../migration/prepare-store.ts'
import { BlobReader } from './blob-reader.ts'
import { type Accounts, type ClassDescription, DumpError, list } from './dump-form.ts'
import { DumpFolder } from './dump-folder.ts'
import { StoreFiller } from './fill-store.ts'
import { type DumpRow, DumpRowReader } from './row-reader.ts'
import { syncAll } from './sync-all.ts'

/** Characters of lines that are put in one transaction, more or less. */
const BATCH_CHARACTERS = 16 * 2 ** 20
const MAX_PROBLEMS = 20

interface UndumpOptions extends StoreLocation {
  /** Folder of the dump. */
  readonly folder: string
  readonly wire: WireOptions
  /** Model of the store in place of that of the dump, as JSON. */
  readonly model?: unknown
  /** Leaves out what the other model does not have. */
  readonly leaveOutUnknown?: boolean
  /** Takes the contents of the files of roles, users and keys. @returns a function that writes them, called when the store is complete */
  readonly takeAccounts?: ((accounts: Accounts) => () => void) | undefined
  readonly onProgress?: (step: BackupStep) => void
}

/** A store that was made from a dump. */
interface Undumped {
  readonly stamp: number
  /** Number of entities by dataclass. */
  readonly entities: Readonly<Record<string, number>>
}

/**
 * Makes a store from a dump, in a folder that does not exist or is empty. The folder is there when all of the store is. Stamps are
 * those of the dump, so that clients that follow changes by stamps go on.
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
  let made: Undumped
  try {
    made = await fill(dump, classes, { ...options, path: folder })
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
  return made
}

/** Models of the dump and of the store. */
interface Models {
  readonly model: Model
  /** Dataclass of the store by its name in the dump; undefined if it is left out. */
  readonly classes: ReadonlyMap<string, string | undefined>
  /** Attributes of the store by their names in the dump, by dataclass of the store. */
  readonly formerNames: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** Names in the dump that are left out, by dataclass of the store. */
  readonly leftOut: ReadonlyMap<string, ReadonlySet<string>>
}

/** @throws {DumpError} the dump has what the model does not */
function readModels(dump: DumpFolder, { model: other, leaveOutUnknown = false }: UndumpOptions): Models {
  const own = dump.model()
  const given = other ?? own
  if (given === undefined)
    throw new DumpError(`the dump in ${dump.path} has no model.json; add one, or give --model FILE`)
  const model = checkModel(given)
  const before = own === undefined || other === undefined ? model : checkModel(own)
  const described = Object.keys(dump.description.dataClasses ?? {})
  const names = new Set([...Object.keys(before.dataClasses), ...described])
  dump.checkNames([...names])
  const classes = new Map<string, string | undefined>()
  const formerNames = new Map<string, Map<string, string>>()
  const leftOut = new Map<string, Set<string>>()
  const unknown: string[] = []
  for (const name of names) {
    const target = nameNow(name, model.dataClasses)
    classes.set(name, target)
    if (target === undefined) {
      unknown.push(`the dataclass ${name}${suggestion(name, Object.keys(model.dataClasses))}`)
      continue
    }
    const { attributes } = model.dataClasses[target]!
    const former = new Map<string, string>()
    const left = new Set<string>()
    for (const [attribute, { kind }] of Object.entries(before.dataClasses[name]?.attributes ?? {})) {
      const now = nameNow(attribute, attributes)
      const isStored = now !== undefined && isStorage(attributes[now]!)
      if (isStored && now !== attribute) former.set(attribute, now)
      if (isStored || !isStorage(before.dataClasses[name]!.attributes[attribute]!)) continue
      left.add(attribute)
      unknown.push(`${name}.${attribute}${kind === 'calculated' ? ', a stored calculated value' : ''}`)
    }
    formerNames.set(target, former)
    leftOut.set(target, left)
  }
  if (unknown.length > 0 && !leaveOutUnknown) {
    throw new DumpError(
      `the model does not have what the dump has:\n${list(unknown)}\nAdd it to the model, name it as "formerName", or give --leave-out-unknown.`,
    )
  }
  return { model, classes, formerNames, leftOut }
}

const isStorage = (attribute: Model['dataClasses'][string]['attributes'][string]): boolean =>
  (attribute.kind ?? 'storage') === 'storage' || (attribute.kind === 'calculated' && attribute.stored === true)

/** Name that something has in a model now. */
function nameNow(name: string, all: Readonly<Record<string, { formerName?: string }>>): string | undefined {
  if (Object.hasOwn(all, name)) return name
  return Object.entries(all).find(([, { formerName }]) => formerName === name)?.[0]
}

async function fill(
  dump: DumpFolder,
  { model, classes, formerNames, leftOut }: Models,
  { path, mapSizeBytes, wire, onProgress = () => {} }: UndumpOptions,
): Promise<Undumped> {
  const { description } = dump
  // An unfinished store is removed by the next attempt, so LMDB need not sync.
  const environment = openEnvironment({ path, mapSizeBytes, isLogged: true })
  try {
    const { catalog, layouts } = prepareStore({
      environment,
      model,
      wire,
      numbers: description.tableNumbers,
      allowLoss: false,
    })
    const filler = new StoreFiller(environment, layouts, description.globalStamp ?? 0)
    const blobs = new BlobReader(dump.path, environment.files)
    const problems = new Problems()
    const namesInDump = new Map([...classes].map(([name, now]) => [now, name]))
    const described = (name: string | undefined): ClassDescription =>
      (name !== undefined && Object.hasOwn(description.dataClasses ?? {}, name) && description.dataClasses![name]) || {}
    const total = [...classes.keys()].reduce((sum, name) => sum + (described(name).entities ?? 0), 0)
    let done = 0
    for (const dataClass of targetsFirst(catalog)) {
      const name = namesInDump.get(dataClass.name)
      const { entities, nextAutoIncrement, calculated = {} } = described(name)
      const reader = new DumpRowReader({
        dataClass,
        formerNames: formerNames.get(dataClass.name) ?? new Map(),
        leftOut: leftOut.get(dataClass.name) ?? new Set(),
        blobOf: reference => blobs.read(reference),
        now: new Date().toISOString(),
      })
      let count = 0
      for (const file of name === undefined ? [] : dump.filesOf(name)) {
        for await (const { rows, lines } of rowsOf(dump.lines(file), reader, (line, text) =>
          problems.add(`${file.file}, line ${line}: ${text}`),
        )) {
          filler.put(dataClass, rows, (index, text) => problems.add(`${file.file}, line ${lines[index]}: ${text}`))
          count += rows.length
          done += rows.length
          onProgress({ what: 'reading entities', done, total: Math.max(total, done) })
          if (entities !== undefined && count > entities) break
        }
        problems.demandNone()
      }
      if (entities !== undefined && count !== entities) {
        const found = count > entities ? 'more' : `${count}`
        throw new DumpError(`the dump has ${found} entities of ${name}, its description says ${entities}`)
      }
      filler.complete(dataClass, nextAutoIncrement)
      const kept = storedCalculated(dataClass).flatMap(({ name: each }) =>
        Object.hasOwn(calculated, each) ? [[each, calculated[each]!] as const] : [],
      )
      if (kept.length > 0)
        environment.root.transactionSync(() =>
          writeFingerprints(environment, dataClass.tableNumber, Object.fromEntries(kept)),
        )
    }
    filler.link(
      ({ name }) => onProgress({ what: `linking entities of ${name}`, done: 0, total: 1 }),
      ({ name }, text) => problems.add(`${name}, ${text}`),
    )
    problems.demandNone()
    const made = filler.finish()
    if (description.globalStamp !== undefined && made.stamp !== description.globalStamp)
      throw new DumpError(
        `an entity has the global stamp ${made.stamp}, the description says ${description.globalStamp}`,
      )
    return made
  } finally {
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

/** Rows of lines, in batches, with the numbers of their lines. */
async function* rowsOf(
  source: ReturnType<DumpFolder['lines']>,
  reader: DumpRowReader,
  onProblem: (line: number, text: string) => void,
): AsyncGenerator<{ rows: readonly DumpRow[]; lines: readonly number[] }> {
  let rows: DumpRow[] = []
  let lines: number[] = []
  let characters = 0
  for await (const { texts, first } of source) {
    for (const [i, text] of texts.entries()) {
      characters += text.length
      try {
        rows.push(reader.read(text))
        lines.push(first + i)
      } catch (error) {
        if (!(error instanceof DumpError)) throw error
        onProblem(first + i, error.message)
      }
    }
    if (characters < BATCH_CHARACTERS) continue
    yield { rows, lines }
    rows = []
    lines = []
    characters = 0
  }
  if (rows.length > 0) yield { rows, lines }
}

/** Dataclasses so that those to which relations lead come first, except in circles. */
function targetsFirst({ dataClasses }: Catalog): DataClass[] {
  const ordered = new Set<DataClass>()
  const begun = new Set<DataClass>()
  const add = (dataClass: DataClass): void => {
    if (begun.has(dataClass)) return
    begun.add(dataClass)
    for (const attribute of dataClass.attributes) if (attribute.kind === 'relatedEntity') add(attribute.target)
    ordered.add(dataClass)
  }
  dataClasses.forEach(add)
  return [...ordered]
}
