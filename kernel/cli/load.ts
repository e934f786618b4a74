import { randomUUID } from 'node:crypto'
import { join, resolve } from 'node:path'
import { SingleBar } from 'cli-progress'
import type { Config } from '../../config/load-config.ts'
import { type DataClass, type LoadProgress, openEngine } from '../../engine/index.ts'
import { counted } from '../../engine/base/counted.ts'
import { describeSystemError } from '../../engine/base/system-error.ts'
import { InputError } from '../../engine/base/input-error.ts'
import { suggestion } from '../../engine/base/suggestion.ts'
import { attributeName } from '../../engine/import/attribute-name.ts'
import { type ForeignFormat, hintFor } from '../../engine/import/foreign-values.ts'
import { readBytes } from '../../engine/import/read-text.ts'
import {
  columns as attributesOf,
  type Format,
  FORMATS,
  formatOf,
  openRowFile,
  type RowFile,
} from '../../engine/import/row-file.ts'
import { sampleBytes } from '../../engine/import/sample-bytes.ts'
import {
  describeFormat,
  type FileSample,
  sampleFile,
  tellFormat,
  withoutEmpty,
} from '../../engine/import/sample-file.ts'
import { type RelationsBy, relationsOf } from '../../engine/import/relation-lookup.ts'
import {
  isTableFormat,
  openTable,
  sampleTable,
  TABLE_FORMATS,
  type TableFile,
  type TableFormat,
  tableFormatOf,
  tableTexts,
} from '../../engine/import/table-file.ts'
import { engineOptions } from '../main.ts'
import { ModuleBundler } from '../module-bundler.ts'
import { printError } from './outcome.ts'
import { importPlugins } from '../plugin-loader.ts'
import { correctedCommand } from './corrected-command.ts'
import { ErrorFile } from './error-file.ts'
import { LoadJournal, type Unsettled } from './load-journal.ts'
import {
  type Dialog,
  type NewClass,
  newClass,
  type NewClassOptions,
  startCommand,
  storeOptions,
  terminal,
} from './new-class.ts'
import { isRemote, nameOf, openSource, type SourceFile } from './source-file.ts'
import { emptySummary, type LoadSummary } from '../../engine/import/load-options.ts'
import { loadRows } from '../../engine/import/load-rows.ts'

/**
 * Rows of a larger file are written to the data file alone, which each commit syncs: with thousands of rows in a commit, the log only writes
 * them twice. The next start begins another log.
 */
const LOGGED_BYTES = 32 * 2 ** 20

export interface LoadArguments extends ForeignFormat {
  /** Path, `-` for the standard input, or an address of the web. */
  file: string
  /** The dataclass, unless one is created. */
  into?: string | undefined
  /** Create a dataclass for the rows. */
  create?: NewClassOptions | undefined
  /** Attributes by the names of columns, where they differ; null for a column that is left out. */
  columns?: Readonly<Record<string, string | null>> | undefined
  /** Attributes by which related entities are given, by relation. */
  relations?: RelationsBy | undefined
  format?: Format | TableFormat | undefined
  /** Sheet of an Excel file; the first one by default. */
  sheet?: string | undefined
  delimiter?: string | undefined
  encoding?: string | undefined
  update: boolean
  /** Continue an interrupted load of this file. */
  resume?: boolean
  /** Begin with the first row, although a load of this file was interrupted. */
  restart?: boolean
  /** Maximum size of a file whose rows go through the log of the store. */
  loggedBytes?: number
  /** File for rows that cannot be saved; `{file}.errors.ndjson` in the working directory by default. */
  errors?: string | undefined
}

/**
 * `tesser load`. A problem with a row concerns only that row.
 * @param signal ends the load after the batch under way
 * @returns true if every row has been saved
 * @throws {Error} saying what has been saved so far, and how to continue
 */
export async function load(
  config: Config,
  given: LoadArguments,
  output: NodeJS.WriteStream,
  signal?: AbortSignal,
  dialog: Dialog = terminal,
): Promise<boolean> {
  const name = nameOf(given.file)
  const format = given.format ?? formatOf(name) ?? tableFormatOf(name)
  if (!format)
    throw new InputError(
      `${given.file} does not say its format by its name; give --format ${[...FORMATS, ...TABLE_FORMATS].join('|')}`,
    )
  const source = await openSource(given.file, signal)
  try {
    return await loadFile(config, { ...given, format, source }, output, signal, dialog)
  } finally {
    source.close()
  }
}

async function loadFile(
  config: Config,
  {
    file: original,
    format,
    source: { path: file, size, modifiedMs },
    update,
    resume = false,
    restart = false,
    create,
    ...given
  }: LoadArguments & { format: Format | TableFormat; source: SourceFile },
  output: NodeJS.WriteStream,
  signal: AbortSignal | undefined,
  dialog: Dialog,
): Promise<boolean> {
  const name = nameOf(original)
  const { encoding, delimiter, decimal, dates, nulls, columns, relations } = {
    ...given,
    delimiter: readDelimiter(given.delimiter),
  }
  const asked = { encoding, delimiter, ...(decimal && { decimal }), ...(dates && { dates }), ...(nulls && { nulls }) }
  const table = isTableFormat(format) ? await openTable(file, format, given) : undefined
  const sampled = async (names?: ReadonlySet<string>): Promise<FileSample> => {
    if (table || isTableFormat(format)) return sampleTable(table!)
    const { sample } = await sampleBytes(readBytes(file, () => {}))
    return sampleFile(format, sample, asked, names)
  }
  const first = create && (await sampled())
  const created =
    create && (await newClass(config, name, first!, describeFormat(format, first!.format), create, dialog))
  const into = created?.name ?? given.into
  if (into === undefined) throw new InputError('name the dataclass with --into, or have one created with --new-class')

  const bundler = new ModuleBundler()
  // Events of plugins are part of a save, and their calculated attributes part of an entity.
  const plugins = await importPlugins(config, bundler)
  const engine = await openEngine({
    ...engineOptions(config, plugins, created?.model),
    ...(size > (given.loggedBytes ?? LOGGED_BYTES) && { log: undefined }),
    memoryBytes: 0,
    onNote: printError,
  })
  const errors = new ErrorFile(given.errors ?? `${name}.errors.ndjson`)
  const summary = emptySummary()
  const hints = new Set<string>()
  let progress: ReturnType<typeof showProgress> | undefined
  const markKey = `load/${into}.${name}`
  let journal: LoadJournal | undefined
  let isDone = false
  try {
    const dataClass = engine.catalog.dataClassesByName.get(into)
    if (!dataClass)
      throw new InputError(
        `there is no dataclass "${into}"${suggestion(into, engine.catalog.dataClassesByName.keys())}`,
      )
    created?.write()
    const sample = first ?? (await sampled(new Set(dataClass.attributesByName.keys())))
    const named = withoutEmpty(sample, columns)
    if (!created) tellFormat(name, format, sample, dialog.print)
    const read = { ...sample.format, ...(created && created.nulls.length > 0 && { nulls: created.nulls }) }
    progress = showProgress(size, output)
    journal = new LoadJournal(join(config.data, `load.${into}.${name}.ndjson`), {
      file: isRemote(original) ? original : resolve(file),
      size,
      modifiedMs,
      format,
      delimiter: delimiter ?? null,
      encoding: encoding ?? null,
    })
    if (!resume && !restart) journal.refuseUnfinished()
    const left = resume ? journal.resume() : undefined
    if (left?.sent && !engine.isSavedElsewhere(dataClass))
      journal.received(addStored(left, engine.records.get(markKey)))
    if (left) errors.continueAt(left.errorBytes)
    if (left) output.write(`continuing after row ${left.position + left.saved.size}\n`)
    const rowFile = table
      ? rowsOfTable(table, created?.attributes ?? columnsOf(table, dataClass, named))
      : await openRowFile(
          {
            bytes: readBytes(file, progress.onBytes),
            format: format as Format,
            ...read,
            columns: format === 'csv' || columns ? named : namesOf(sample, dataClass, created),
            attributes: format === 'csv' ? created?.attributes : undefined,
          },
          dataClass,
        )
    const by = relations && relationsOf(relations, columns, each => dataClass.attributesByName.has(each))
    // Values behind the sample have to be as those in it.
    const proposed = created?.values ?? left?.proposed
    const rowFormat = { ...rowFile.format, ...(proposed && { proposed }) }
    await loadRows({
      engine,
      dataClass,
      format: rowFormat,
      rows: rowFile.rows,
      relations,
      columns,
      existing: update ? 'update' : 'reject',
      resumed: left,
      onRejected: (row, reasons) => {
        errors.add(row, reasons)
        if (row.raw) addHints(hints, dataClass, row.raw(), read)
      },
      onProgress: progress.onRows,
      onBegin: () => resume || journal!.begin(proposed),
      onSend(rows) {
        const mark = { key: markKey, id: randomUUID() }
        journal!.send(mark.id, rows)
        return engine.isSavedElsewhere(dataClass) ? undefined : mark
      },
      onReceived: rows => journal!.received(rows),
      onSettled: settled => journal!.add({ ...settled, errorBytes: errors.bytes }),
      summary,
      signal,
    })
    progress.stop()
    isDone = !signal?.aborted
    if (isDone) await engine.records.put([{ key: markKey, value: undefined }])
    output.write(`${describeSummary(summary)}\n`)
    if (!isDone)
      output.write(`stopped before the end of the file${resume || summary.read > 0 ? '; --resume continues' : ''}\n`)
    if (summary.rejected > 0) {
      const more = [...(update ? ['--update'] : []), ...storeOptions(config)]
      const again = correctedCommand('load', errors.path, { ...read, into, relations: by, more })
      output.write(`${counted(summary.rejected, 'row')} could not be saved; ${errors.path} says why\n`)
      output.write(`once it is corrected: ${again}\n`)
    }
    for (const hint of hints) output.write(`${hint}\n`)
    if (created && isDone) output.write(`serve it: ${startCommand(config)}\n`)
    return isDone && summary.rejected === 0
  } catch (error) {
    progress?.stop()
    if (summary.read === 0) throw error
    const reason = error instanceof Error ? describeSystemError(error) : String(error)
    throw new Error(`${reason}\n${describeSummary(summary)}; --resume continues`, { cause: error })
  } finally {
    progress?.stop()
    errors.close()
    journal?.close(isDone)
    await engine.close()
    bundler.close()
  }
}

/**
 * Adds the rows that the last request of an earlier load has saved, as the store knows it.
 * @param stored a {@link LoadProgress}
 * @returns indexes of its other rows
 */
function addStored({ saved, sent, uncertain }: Unsettled, stored: unknown): number[] {
  const { id, next = 0, left } = (stored ?? {}) as Partial<LoadProgress>
  const open = new Set(left)
  return sent!.rows.flatMap((row, index) => {
    uncertain.delete(row)
    if (id !== sent!.id || index >= next || open.has(index)) return [index]
    saved.add(row)
    return []
  })
}

const columnsOf = (table: TableFile, dataClass: DataClass, names: LoadArguments['columns'] = {}): (string | null)[] =>
  attributesOf(
    table.columns.map(({ name }) => name),
    dataClass,
    names,
  )

const rowsOfTable = (table: TableFile, attributes: readonly (string | null)[]): RowFile => ({
  format: { csv: { delimiter: ',', attributes } },
  rows: tableTexts(table),
})

/** Attributes by the names of properties of JSON that differ from theirs. */
function namesOf(
  { columns }: FileSample,
  { attributesByName }: DataClass,
  created: NewClass | undefined,
): Record<string, string | null> | undefined {
  const names = columns.flatMap(({ name }, i): [string, string | null][] => {
    const attribute = created ? created.attributes[i]! : attributeName(name)
    const isOther = created ? attribute !== name : !attributesByName.has(name) && attributesByName.has(attribute!)
    return isOther ? [[name, attribute]] : []
  })
  return names.length === 0 ? undefined : Object.fromEntries(names)
}

function readDelimiter(given: string | undefined): string | undefined {
  const delimiter = given === 'tab' || given === '\\t' ? '\t' : given
  if (delimiter !== undefined && (delimiter.length !== 1 || /["\r\n]/.test(delimiter))) {
    throw new InputError(`--delimiter ${JSON.stringify(given)}: it is one character, or the word tab`)
  }
  return delimiter
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

function describeSummary({ read, inserted, updated, skipped, rejected }: LoadSummary): string {
  const parts = [`${inserted} inserted`, updated > 0 && `${updated} updated`, skipped > 0 && `${skipped} skipped`]
  return `${counted(read, 'row')} read: ${[...parts, rejected > 0 && `${rejected} rejected`].filter(Boolean).join(', ')}`
}

const LINE_EVERY_ROWS = 100_000

/** Shows a bar on a terminal, elsewhere a line now and then. */
function showProgress(totalBytes: number, output: NodeJS.WriteStream) {
  const bar = output.isTTY
    ? new SingleBar({
        format: '{bar} {percentage} %  {rows} rows  {eta_formatted}',
        stream: output,
        hideCursor: true,
        clearOnComplete: true,
      })
    : undefined
  bar?.start(totalBytes, 0, { rows: 0 })
  let told = 0
  return {
    onBytes: (count: number) => bar?.increment(count),
    onRows: ({ read }: Readonly<LoadSummary>) => {
      bar?.update({ rows: read })
      if (bar || read < told + LINE_EVERY_ROWS) return
      told = read
      output.write(`${counted(read, 'row')}\n`)
    },
    stop: () => bar?.stop(),
  }
}
