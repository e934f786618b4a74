import type { Format, TableFormat } from '../../engine/base/row-formats.ts'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/load-config.ts'
import {
  columnNames,
  dataClassOf,
  emptySummary,
  type ErrorRows,
  type FileSample,
  type ForeignFormat,
  hintFor,
  loadRows,
  type LoadSummary,
  openRowFile,
  openTableRows,
  readBytes,
  rejectedRow,
  relationsOf,
  type RowFile,
  withoutEmpty,
} from '../../engine/command-line.ts'
import { type DataClass, openEngine } from '../../engine/index.ts'
import { quantity } from '../../engine/base/counted.ts'
import { describeSystemError } from '../../engine/base/system-error.ts'
import { InputError } from '../../engine/base/input-error.ts'
import { engineOptions } from '../main.ts'
import { ModuleBundler } from '../module-bundler.ts'
import { printError } from './outcome.ts'
import { importPlugins } from '../plugin-loader.ts'
import { ErrorFile } from './error-file.ts'
import { correctedColumns, correctedFormat, errorPathOf, errorRowsOf } from './error-rows.ts'
import { journalName, LoadJournal } from './load-journal.ts'
import {
  type Dialog,
  type NewClass,
  newClass,
  type NewClassOptions,
  startCommand,
  storeOptions,
  terminal,
} from './new-class.ts'
import { newStore } from './new-store.ts'
import { LoadProgress } from './progress.ts'
import { correctedCommand, describeFormat, describeSummary, tellFormat, tellLosses } from './row-messages.ts'
import { openRows, type RowArguments, rowFormatOf, type RowSource } from './row-source.ts'
import { isRemote, nameOf, openSource, type SourceFile } from './source-file.ts'

/**
 * Size of a file above which its rows are written only to the data file, which each commit syncs: with thousands of rows in a commit, the
 * log only writes them twice. The next start begins another log.
 */
const LOGGED_BYTES = 32 * 2 ** 20

export interface LoadArguments extends RowArguments {
  /** The dataclass, unless one is created. */
  into?: string | undefined
  /** Set to create a dataclass for the rows. */
  create?: NewClassOptions | undefined
  update: boolean
  /** True to continue an interrupted load of this file. */
  resume?: boolean
  /** True to begin with the first row, even if a load of this file was interrupted. */
  restart?: boolean
  /** Maximum size of a file whose rows go through the log of the store. */
  loggedBytes?: number
}

/**
 * `tesser load`. A problem with a row concerns only that row.
 * @param signal ends the load after the batch under way
 * @returns true if every row has been saved
 * @throws {Error} saying what has been saved so far, and how to continue
 */
export async function load(
  config: Config,
  settings: LoadArguments,
  output: NodeJS.WriteStream,
  signal?: AbortSignal,
  dialog: Dialog = terminal,
): Promise<boolean> {
  const format = rowFormatOf(settings)
  const source = await openSource(settings.file, signal)
  try {
    return await loadSource(config, settings, format, source, { output, signal, dialog })
  } finally {
    source.close()
  }
}

interface Surroundings {
  readonly output: NodeJS.WriteStream
  readonly signal: AbortSignal | undefined
  readonly dialog: Dialog
}

async function loadSource(
  config: Config,
  settings: LoadArguments,
  namedFormat: Format | TableFormat,
  source: SourceFile,
  { output, signal, dialog }: Surroundings,
): Promise<boolean> {
  const { columns, relations, create, update, resume = false, restart = false } = settings
  const name = nameOf(settings.file)
  const progress = new LoadProgress(source.size, output)
  const open = (): AsyncIterable<Buffer> => readBytes(source.path, progress.onBytes)
  const rows = await openRows(namedFormat, { path: source.path, open }, settings)
  const { format } = rows
  const defaultErrors = errorPathOf(name, format)
  const errors = new ErrorFile({ path: settings.errors, defaultPath: defaultErrors, source: source.path })
  const first = create && (await rows.sample())
  const createdClass = create && (await newClass(config, name, first!, describeFormat(format, first!), create, dialog))
  const into = createdClass?.name ?? settings.into
  if (into === undefined) throw new InputError('name the dataclass with --into, or have one created with --new-class')

  const bundler = new ModuleBundler()
  // Events in plugins are part of a save, and calculated attributes in plugins part of an entity.
  const plugins = await importPlugins(config, bundler)
  const removeStore = newStore(config.data)
  const engine = await openEngine({
    ...engineOptions(config, plugins, createdClass?.model),
    ...(source.size > (settings.loggedBytes ?? LOGGED_BYTES) && { log: undefined }),
    memoryBytes: 0,
    onNote: printError,
  })
  const summary = emptySummary()
  const hints = new Set<string>()
  const markKey = `load/${into}.${name}`
  let journal: LoadJournal | undefined
  let isDone = false
  let fileRows = 0
  const countRows = async function* <Row>(batches: AsyncIterable<Row[]>): AsyncGenerator<Row[]> {
    for await (const batch of batches) {
      fileRows += batch.length
      yield batch
    }
  }
  try {
    const dataClass = dataClassOf({ dataClass: into }, engine.catalog)
    createdClass?.write()
    const sample = first ?? (await rows.sample(namesIn(dataClass, columns)))
    if (!createdClass) tellFormat(name, format, sample, dialog.print)
    const read = {
      ...sample.format,
      ...(createdClass && createdClass.nulls.length > 0 && { nulls: createdClass.nulls }),
    }
    progress.start()
    journal = new LoadJournal(
      join(config.data, journalName(into, name)),
      {
        file: isRemote(settings.file) ? settings.file : resolve(source.path),
        size: source.size,
        modifiedMs: source.modifiedMs,
        format,
        delimiter: settings.delimiter ?? null,
        skipLines: settings.skipLines ?? null,
        path: settings.path,
        encoding: settings.encoding ?? null,
        sheet: settings.sheet,
        headerRow: settings.headerRow,
        links: settings.links,
      },
      engine.rows.isSavedElsewhere(dataClass) ? undefined : { key: markKey, read: () => engine.records.get(markKey) },
    )
    if (!resume && !restart) journal.refuseUnfinished()
    const remainder = resume ? journal.resume() : undefined
    // The mark of a load that is not continued.
    if (!resume && engine.records.get(markKey) !== undefined)
      await engine.records.put([{ key: markKey, value: undefined }])
    if (remainder) errors.continueAt(remainder.errorBytes)
    if (remainder) output.write(`continuing after row ${remainder.position + remainder.savedRows.size}\n`)
    const file = await openFile(rows, dataClass, { sample, read, columns, created: createdClass })
    if (!createdClass) tellLosses(sample, file.format.csv?.attributes, dataClass, dialog.print)
    const rejectedRows = errorRowsIn(file, { format, encoding: sample.format.encoding }, errors.path)
    errors.head = rejectedRows?.head
    // Values after the sample must have the form of the values in it.
    const proposals = createdClass?.values ?? remainder?.proposed
    await loadRows({
      target: engine.rows,
      dataClass,
      format: { ...file.format, proposed: proposals },
      rows: countRows(file.rows),
      relations,
      columns,
      existing: update ? 'update' : 'reject',
      resumed: remainder,
      onRejected: (row, reasons) => {
        errors.add(rejectedRows?.line(row, reasons) ?? rejectedRow(row, reasons))
        if (row.raw) addHints(hints, dataClass, row.raw(), read)
      },
      onProgress: progress.onRows,
      ...journal.hooks(errors, proposals),
      summary,
      signal,
    })
    progress.stop()
    if (remainder && !signal?.aborted) journal.checkRows(remainder, fileRows)
    isDone = !signal?.aborted
    if (isDone) await engine.records.put([{ key: markKey, value: undefined }])
    output.write(`${describeSummary(summary)}\n`)
    if (!isDone)
      output.write(`stopped before the end of the file${resume || summary.read > 0 ? '; --resume continues' : ''}\n`)
    if (isUseless(summary) && createdClass) {
      output.write(`no row could be saved, so nothing was created; ${errors.path} says why\n`)
      output.write('correct the rows or the options, then run the command again\n')
    } else if (summary.rejected > 0) {
      const by = relations && relationsOf(relations, columns, each => dataClass.attributesByName.has(each))
      const more = [...correctedFormat(format, errors.path), ...(update ? ['--update'] : []), ...storeOptions(config)]
      const given = {
        ...(rows.table ? { ...PLAIN, nulls: read.nulls } : read),
        into,
        relations: by,
        columns: correctedColumns(format, columns),
        more,
      }
      const again = correctedCommand('load', errors.path, given)
      output.write(`${quantity(summary.rejected, 'row')} could not be saved; ${errors.path} says why\n`)
      output.write(`after you fix its rows: ${again}\n`)
    }
    for (const hint of hints) output.write(`${hint}\n`)
    if (createdClass && isDone && !isUseless(summary)) output.write(`serve it: ${startCommand(config)}\n`)
    return isDone && summary.rejected === 0
  } catch (error) {
    progress.stop()
    throw withSummary(error, summary)
  } finally {
    progress.stop()
    errors.close()
    journal?.close(isDone)
    await engine.close()
    bundler.close()
    if (isDone ? isUseless(summary) : summary.read === 0) {
      createdClass?.undo()
      removeStore()
    }
  }
}

/** Form of the values of a table in an error file. */
const PLAIN = { decimal: '.', dates: 'ymd' } as const

/** Rows of the error file of a file, in whose header a load finds the same attributes. */
function errorRowsIn(
  { format: { csv }, header = [] }: RowFile,
  source: { readonly format: Format | TableFormat; readonly encoding: string | undefined },
  path: string,
): ErrorRows | undefined {
  const { delimiter, attributes } = csv ?? { delimiter: ',', attributes: [] }
  return errorRowsOf({ ...source, header: columnNames(header, attributes), delimiter }, path)
}

/** True for a load that rejected all rows. */
const isUseless = ({ rejected, inserted, updated, skipped }: LoadSummary): boolean =>
  rejected > 0 && inserted + updated + skipped === 0

/** Adds the number of saved rows to an error. */
function withSummary(error: unknown, summary: LoadSummary): unknown {
  if (summary.read === 0) return error
  const reason = error instanceof Error ? describeSystemError(error) : String(error)
  return new Error(`${reason}\n${describeSummary(summary)}; --resume continues`, { cause: error })
}

interface ReadOptions extends Pick<LoadArguments, 'columns'> {
  readonly sample: FileSample
  readonly read: FileSample['format']
  readonly created: NewClass | undefined
}

function openFile(
  rows: RowSource,
  dataClass: DataClass,
  { sample, read, columns, created }: ReadOptions,
): RowFile | Promise<RowFile> {
  const namedColumns = withoutEmpty(sample, columns)
  const attributes = created?.attributes
  if (rows.table) return openTableRows(rows.table, { ...read, columns: namedColumns, attributes }, dataClass)
  const bytes = rows.bytes()
  if (rows.format === 'csv')
    return openRowFile({ bytes, format: 'csv', ...read, columns: namedColumns, attributes }, dataClass)
  const names = { ...(created && namesOf(sample, created)), ...namedColumns }
  return openRowFile({ bytes, format: rows.format, ...read, columns: names }, dataClass)
}

/** Names by which the header of a file is recognized. */
const namesIn = ({ attributesByName }: DataClass, columns: LoadArguments['columns'] = {}): ReadonlySet<string> =>
  new Set([...attributesByName.keys(), ...Object.keys(columns)])

/** Attributes of a created dataclass by the names of JSON properties that differ from the attributes' names. */
function namesOf({ columns }: FileSample, { attributes }: NewClass): Record<string, string | null> {
  const names = columns.flatMap(({ name }, i): [string, string | null][] =>
    attributes[i] === name ? [] : [[name, attributes[i]!]],
  )
  return Object.fromEntries(names)
}

const MAX_HINTS = 5

function addHints(hints: Set<string>, { attributesByName }: DataClass, row: object, format: ForeignFormat): void {
  for (const [name, field] of Object.entries(row)) {
    const attribute = attributesByName.get(name)
    if (hints.size >= MAX_HINTS || typeof field !== 'string' || !attribute) continue
    const hint = hintFor(attribute, field, format)
    if (hint && ![...hints].some(other => other.startsWith(`${name} `))) hints.add(hint)
  }
}
