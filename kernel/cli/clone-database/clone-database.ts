import { closeSync, existsSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Config } from '../../../config/load-config.ts'
import { readJsonFile } from '../../../config/read-json-file.ts'
import { quantity } from '../../../engine/base/counted.ts'
import { suggestion } from '../../../engine/base/suggestion.ts'
import { bytesOf, type Engine, loadModel, openEngine } from '../../../engine/index.ts'
import { engineOptions } from '../../main.ts'
import { ProgressDisplay } from '../progress.ts'
import { CloneJournal } from './clone-journal.ts'
import { proposeCopy } from './copied-model.ts'
import { copyDeferred, copyTable, type CopyContext } from './copy-table.ts'
import { openSource } from './open-source.ts'
import { planCopy, type TableCopy } from './plan-copy.ts'
import { type DraftModel, modelText } from '../draft-model.ts'
import type { SourceColumn, SourceTable, SqlSource } from './source.ts'

export interface CloneDatabaseArguments {
  /** `postgres://…`, `mysql://…`, `mariadb://…`, or the path of a SQLite file. */
  source: string
  /** True to write the model and copy no rows. */
  modelOnly: boolean
  resume: boolean
  /** Names of dataclasses, by table. */
  names?: Readonly<Record<string, string>>
  /** Views that are copied, with the column that is their key. */
  views?: Readonly<Record<string, string | null>>
  /** Tables that are copied; all by default. */
  only?: readonly string[]
  /** Folder of the files of rows that cannot be saved; the working directory by default. */
  errors?: string | undefined
}

/**
 * `tesser clone` of a database: its tables become a model, its rows entities of a new store. The source is only read, in one transaction.
 * @param signal ends the copy after the rows in progress
 * @returns true if every row is in the store
 * @throws {Error} with a remedy
 */
export async function cloneDatabase(
  config: Config,
  settings: CloneDatabaseArguments,
  print: (line: string) => void,
  signal?: AbortSignal,
): Promise<boolean> {
  if (config.demo) throw new Error('name the model file, which is created if it does not exist: --model model.json')
  const source = await openSource(settings.source)
  const onAbort = (): void => void source.cancel().catch(() => {})
  signal?.addEventListener('abort', onAbort)
  try {
    const tables = await readTables(source, settings, print)
    const isNew = !existsSync(config.model)
    if (isNew) await writeModel(config, source, tables, settings, print)
    if (settings.modelOnly) {
      print(isNew ? `${config.model} is written` : `${config.model} exists; it stays as it is`)
      return true
    }
    const model = readJsonFile(config.model, 'model') as DraftModel
    loadModel(model)
    return await copyAll(config, planCopy(model, tables, source), source, settings, print, signal)
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await source.close()
  }
}

async function readTables(
  source: SqlSource,
  { only, views = {} }: CloneDatabaseArguments,
  print: (line: string) => void,
): Promise<SourceTable[]> {
  const { tables, notes, views: otherViews } = await source.tables(new Set(Object.keys(views)))
  notes.forEach(print)
  if (otherViews.length > 0)
    print(
      `views are copied only if you name them, with --view NAME=KEY or --view NAME; there are: ${otherViews.join(', ')}`,
    )
  const names = tables.map(({ name }) => name)
  for (const name of [...(only ?? []), ...Object.keys(views)])
    if (!names.includes(name))
      throw new Error(`${source.address} has no table or view "${name}"${suggestion(name, [...names, ...otherViews])}`)
  const chosenTables = tables.filter(({ name, isView }) => isView || !only || only.includes(name))
  if (chosenTables.length === 0) throw new Error(`${source.address} has no tables`)
  return chosenTables
}

async function writeModel(
  config: Config,
  source: SqlSource,
  tables: readonly SourceTable[],
  { names = {}, views = {} }: CloneDatabaseArguments,
  print: (line: string) => void,
): Promise<void> {
  for (const name of Object.keys(names))
    if (!tables.some(table => table.name === name))
      throw new Error(`--table ${name}: ${source.address} has no such table`)
  const measuredTables: SourceTable[] = []
  for (const table of tables) measuredTables.push(await measure(source, table))
  const name = basename(source.address.replace(/[?#].*$/, '')).replace(/\.[^.]*$/, '') || 'database'
  const { model, notes } = proposeCopy(measuredTables, { name, names, viewKeys: views })
  notes.forEach(print)
  loadModel(model)
  mkdirSync(dirname(config.model), { recursive: true })
  writeFileSync(config.model, modelText(model, config.model), { flag: 'wx' })
}

/** Measures values, and replaces the types that depend on them. */
async function measure(source: SqlSource, table: SourceTable): Promise<SourceTable> {
  const aggregates = table.columns.map(({ name, measure }) => measure?.aggregates(source.quote(name)) ?? [])
  const all = aggregates.flat()
  if (all.length === 0) return table
  const [values] = await source.query(`SELECT ${all.join(', ')} FROM ${table.from}`)
  let next = 0
  const columns = table.columns.map((column, i): SourceColumn => {
    const columnValues = values!.slice(next, next + aggregates[i]!.length)
    next += columnValues.length
    return column.measure ? { ...column, ...column.measure.decide(columnValues) } : column
  })
  return { ...table, columns }
}

async function copyAll(
  config: Config,
  copies: readonly TableCopy[],
  source: SqlSource,
  { resume, errors = '.' }: CloneDatabaseArguments,
  print: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const journal = new CloneJournal(config.data)
  if (resume) journal.resume(source.address)
  else journal.begin(source.address)
  const files = new ErrorFiles(errors, resume)
  const progress = new ProgressDisplay(process.stderr)
  let engine: Engine | undefined
  let isDone = false
  try {
    // All data are new: the log would only write them twice.
    engine = await openEngine({ ...engineOptions(config), unfinished: undefined, log: undefined, memoryBytes: 0 })
    const rows = new Map<TableCopy, number>()
    for (const copy of copies)
      rows.set(copy, Number((await source.query(`SELECT count(*) FROM ${copy.table.from}`))[0]![0]))
    const context: CopyContext = {
      engine,
      source,
      journal,
      signal,
      onRejected: (dataClass, line, row, reasons) => files.add(dataClass, line, row, reasons),
      onLoss: loss => {
        progress.stop()
        print(loss)
      },
      onProgress: (dataClass, { read }) =>
        progress.show(dataClass, read, rows.get(copies.find(copy => copy.dataClass === dataClass)!)!),
    }
    for (const step of [copyTable, copyDeferred])
      for (const copy of copies) if (!signal?.aborted) await step(copy, context)
    progress.stop()
    isDone = !signal?.aborted
    const isComplete = await compare(engine, rows, print)
    for (const [path, count] of files.paths)
      print(`${quantity(count, 'row')} could not be saved in full; ${path} says why`)
    if (!isDone) print('stopped before the end; --resume continues')
    return isDone && isComplete && files.paths.size === 0
  } catch (error) {
    if (!engine) throw error
    throw new Error(`${signal?.aborted ? 'stopped' : (error as Error).message}; --resume continues`, { cause: error })
  } finally {
    progress.stop()
    files.close()
    journal.close(isDone)
    await engine?.close()
  }
}

/** Prints the number of entities of each dataclass beside the number of rows. */
async function compare(
  engine: Engine,
  rows: ReadonlyMap<TableCopy, number>,
  print: (line: string) => void,
): Promise<boolean> {
  let isComplete = true
  for (const [{ dataClass, table }, expected] of rows) {
    const body = await engine.queries.read({
      dataClass,
      source: { kind: 'all' },
      skip: 0,
      top: 0,
      output: { form: 'collection' },
    })
    const count = (JSON.parse(Buffer.from(await bytesOf(body)).toString()) as { __COUNT: number }).__COUNT
    isComplete &&= count === expected
    print(
      `${dataClass}: ${count === expected ? quantity(count, 'entity', 'entities') : `${quantity(count, 'entity', 'entities')} of ${quantity(expected, 'row')} of ${table.name}`}`,
    )
  }
  return isComplete
}

/** Files of rows that could not be saved, one for each dataclass; in the form that `tesser load` reads. */
class ErrorFiles {
  /** Number of rows, by path. */
  readonly paths = new Map<string, number>()
  private readonly open = new Map<string, number>()

  constructor(
    private readonly folder: string,
    private readonly goesOn: boolean,
  ) {}

  add(dataClass: string, line: number, row: string, reasons: readonly string[]): void {
    mkdirSync(this.folder, { recursive: true })
    const path = join(this.folder, `${dataClass}.errors.ndjson`)
    let descriptor = this.open.get(path)
    if (descriptor === undefined) {
      descriptor = openSync(path, this.goesOn ? 'a' : 'w', 0o600)
      this.open.set(path, descriptor)
    }
    this.paths.set(path, (this.paths.get(path) ?? 0) + 1)
    writeSync(descriptor, `{"line":${line},"errors":${JSON.stringify(reasons)},"row":${row}}\n`)
  }

  close(): void {
    for (const descriptor of this.open.values()) closeSync(descriptor)
  }
}
