import { closeSync, openSync, writeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { counted } from '../../engine/base/counted.ts'
import { InputError } from '../../engine/base/input-error.ts'
import type { ForeignFormat } from '../../engine/import/foreign-values.ts'
import { readBytes } from '../../engine/import/read-text.ts'
import { type Format, FORMATS, formatOf } from '../../engine/import/row-file.ts'
import {
  isTableFormat,
  openTable,
  sampleTable,
  TABLE_FORMATS,
  type TableFormat,
  tableFormatOf,
} from '../../engine/import/table-file.ts'
import { sampleBytes } from '../../engine/import/sample-bytes.ts'
import { sampleFile, tellFormat, withoutEmpty } from '../../engine/import/sample-file.ts'
import { unpack } from '../../engine/import/unpack.ts'
import type { RelationsBy } from '../../engine/import/relation-lookup.ts'
import { ask } from './ask-server.ts'
import { correctedCommand } from './corrected-command.ts'
import { ProgressDisplay } from './progress.ts'
import { isRemote, nameOf, openSource, remoteBytes, type SourceFile } from './source-file.ts'
import { TableBody } from './table-body.ts'

export interface ImportArguments extends ForeignFormat {
  /** Path, `-` for the standard input, or an address of the web. */
  file: string
  into: string
  /** Address of the server, see `serverAddress`. */
  url: string
  key?: string | undefined
  format?: Format | TableFormat | undefined
  /** Sheet of an Excel file; the first one by default. */
  sheet?: string | undefined
  existing: 'reject' | 'update' | 'skip'
  trial: boolean
  columns?: Readonly<Record<string, string | null>> | undefined
  relations?: RelationsBy | undefined
  delimiter?: string | undefined
  encoding?: string | undefined
  /** File for rows that cannot be saved. */
  errors?: string | undefined
}

/** Answer of `$import`. */
interface Imported {
  readonly trial: boolean
  readonly read: number
  readonly inserted: number
  readonly updated: number
  readonly skipped: number
  readonly rejected: number
  readonly later: number
  readonly isComplete: boolean
  readonly rejectedRows: readonly unknown[]
}

/**
 * `tesser import`: sends the rows of a file to a running server.
 * @returns true if every row is saved, or would be
 * @throws {Error} the file or the server cannot be used
 */
export async function importFile(
  given: ImportArguments,
  print: (line: string) => void,
  warn = (line: string): void => void process.stderr.write(`${line}\n`),
): Promise<boolean> {
  const { file, into, url, key } = given
  const format = given.format ?? formatOf(nameOf(file)) ?? tableFormatOf(nameOf(file))
  if (!format)
    throw new InputError(
      `${file} does not say its format by its name; give --format ${[...FORMATS, ...TABLE_FORMATS].join('|')}`,
    )
  const progress = new ProgressDisplay(process.stderr)
  let text: string
  let rows: SentRows
  let source: SourceFile | undefined
  try {
    if (isTableFormat(format)) source = await openSource(file)
    rows = isTableFormat(format)
      ? await tableRows(source!.path, format, given)
      : await textRows(format, given, progress, warn)
    const body = Readable.toWeb(Readable.from(rows.bytes)) as ReadableStream
    const address = addressOf(url, into, { ...given, ...rows.format })
    text = await (await ask(address, { method: 'POST', key, body, duplex: 'half' })).text()
  } finally {
    progress.stop()
    source?.close()
  }
  const { table } = rows
  const imported = withUnsent(JSON.parse(text) as Imported, table?.unsent.length ?? 0)
  print(describe(imported))
  if (imported.rejected > 0) {
    const path = given.errors ?? `${file === '-' ? 'import' : nameOf(file)}.errors.ndjson`
    // Lines of the answer itself, with the digits of long integers.
    const lines = rejectedLines(text)
    writeLines(path, table ? table.inFile(lines) : lines)
    const more = imported.rejected - (table?.unsent.length ?? 0) - imported.rejectedRows.length
    const first = more > 0 ? ` of the first ${imported.rejectedRows.length}` : ''
    print(`${counted(imported.rejected, 'row')} could not be saved; ${path} says why${first}`)
    if (given.trial) return false
    const { relations, existing } = given
    const options = [...(existing === 'reject' ? [] : ['--existing', existing]), '--url', url]
    print(
      `once it is corrected: ${correctedCommand('import', path, { ...rows.format, into, relations, more: options })}`,
    )
  }
  return imported.isComplete && imported.rejected === 0
}

/** Rows on their way to a server, and the parameters that say how they are written. */
interface SentRows {
  readonly bytes: AsyncIterable<Buffer>
  readonly format: Partial<Omit<ImportArguments, 'format'>> & { readonly format: Format }
  readonly table?: TableBody
}

async function textRows(
  format: Format,
  { file, encoding, delimiter, decimal, dates, nulls, columns }: ImportArguments,
  progress: ProgressDisplay,
  warn: (line: string) => void,
): Promise<SentRows> {
  const { sample, all } = await sampleBytes(await open(file, progress))
  const asked = { encoding, delimiter, ...(decimal && { decimal }), ...(dates && { dates }), ...(nulls && { nulls }) }
  const guessed = await sampleFile(format, sample, asked)
  tellFormat(file, format, guessed, warn)
  return { bytes: all, format: { ...guessed.format, columns: withoutEmpty(guessed, columns), format } }
}

/** The rows of a table are sent as CSV. */
async function tableRows(file: string, format: TableFormat, options: ImportArguments): Promise<SentRows> {
  const opened = await openTable(file, format, options)
  const columns = withoutEmpty(await sampleTable(opened), options.columns)
  const table = new TableBody(opened)
  return { bytes: table.bytes(), format: { format: 'csv', delimiter: ',', columns }, table }
}

/** Adds rows that could not even be sent. */
const withUnsent = (imported: Imported, count: number): Imported => ({
  ...imported,
  read: imported.read + count,
  rejected: imported.rejected + count,
})

async function open(file: string, progress: ProgressDisplay): Promise<AsyncIterable<Buffer>> {
  if (isRemote(file)) return unpack(nameOf(file), await remoteBytes(file))
  const { size } = await openSource(file)
  let sent = 0
  return readBytes(file, count => {
    sent += count
    progress.show('sending', sent, size)
  })
}

function addressOf(
  url: string,
  into: string,
  { format, existing, trial, columns, relations, delimiter, decimal, dates, encoding, nulls }: ImportArguments,
): URL {
  const address = new URL(`${url}/rest/$import/${encodeURIComponent(into)}`)
  const parameters = {
    format,
    existing,
    delimiter,
    decimal,
    dates,
    encoding,
    nulls: nulls?.join(','),
    trial: trial ? 'true' : undefined,
  }
  for (const [name, value] of Object.entries({ ...parameters, columns: columnsText(columns, relations) }))
    if (value !== undefined) address.searchParams.set(`$${name}`, value)
  return address
}

/** Value of `$columns`. */
function columnsText(columns: ImportArguments['columns'], relations: RelationsBy = {}): string | undefined {
  const all: Record<string, unknown> = { ...columns }
  for (const [attribute, by] of Object.entries(relations)) {
    const named = columns?.[attribute] ?? attribute
    const names = Object.keys(columns ?? {}).filter(name => columns![name] === named)
    for (const name of [...names, attribute]) all[name] = { attribute: named, by }
  }
  return Object.keys(all).length > 0 ? JSON.stringify(all) : undefined
}

function describe({ trial, read, inserted, updated, skipped, rejected, later, isComplete }: Imported): string {
  const parts = [
    `${inserted} ${trial ? 'would be inserted' : 'inserted'}`,
    updated > 0 && `${updated} ${trial ? 'would be updated' : 'updated'}`,
    skipped > 0 && `${skipped} skipped`,
    rejected > 0 && `${rejected} rejected`,
    later > 0 && `${later} refer to entities that do not exist yet`,
  ]
  return `${counted(read, 'row')} read: ${parts.filter(Boolean).join(', ')}${isComplete ? '' : '; ended before the end of the file'}`
}

/** The rejected rows of an answer, as they are written there. */
function rejectedLines(text: string): string[] {
  const [, ...lines] = text.slice(0, text.lastIndexOf(']')).split('\n')
  return lines.map(line => (line.endsWith(',') ? line.slice(0, -1) : line))
}

function writeLines(path: string, lines: readonly string[]): void {
  const file = openSync(path, 'w', 0o600)
  try {
    for (const line of lines) writeSync(file, `${line}\n`)
  } finally {
    closeSync(file)
  }
}
