import { type Format, isTableFormat, type TableFormat } from '../../engine/base/row-formats.ts'
import { Readable } from 'node:stream'
import { quantity } from '../../engine/base/counted.ts'
import { type LoadSummary, readBytes, type RelationsBy, unpack, withoutEmpty } from '../../engine/command-line.ts'
import { ask } from './ask-server.ts'
import { ErrorFile } from './error-file.ts'
import { correctedFormat, errorPathOf, errorRowsOf, hasSourceRows } from './error-rows.ts'
import { ProgressDisplay } from './progress.ts'
import { correctedCommand, describeSummary, tellFormat } from './row-messages.ts'
import { openRows, type RowArguments, rowFormatOf, type RowSource } from './row-source.ts'
import { isRemote, nameOf, openSource, remoteBytes, type SourceFile } from './source-file.ts'
import { TableBody } from './table-body.ts'

export interface ImportArguments extends RowArguments {
  into: string
  /** Address of the server, see `serverAddress`. */
  url: string
  key?: string | undefined
  existing: 'reject' | 'update' | 'skip'
  trial: boolean
}

/** Answer of `$import`. */
interface Imported extends LoadSummary {
  readonly trial: boolean
  readonly isComplete: boolean
  readonly rejectedRows: readonly unknown[]
}

/**
 * `tesser import`: sends the rows of a file to a running server.
 * @returns true if every row is saved, or would be
 * @throws {Error} the file or the server cannot be used
 */
export async function importFile(
  settings: ImportArguments,
  print: (line: string) => void,
  warn = (line: string): void => void process.stderr.write(`${line}\n`),
): Promise<boolean> {
  const { file, into, url, key } = settings
  const format = rowFormatOf(settings)
  const progress = new ProgressDisplay(process.stderr)
  let text: string
  let upload: SentRows
  let errors: ErrorFile
  let source: SourceFile | undefined
  try {
    if (isTableFormat(format)) source = await openSource(file)
    const reader = { path: source?.path ?? file, open: () => open(file, progress) }
    upload = await sentRows(await openRows(format, reader, settings), settings, warn)
    const defaultPath = errorPathOf(file === '-' ? 'import' : nameOf(file), upload.source)
    // Before anything is saved, since the answer has the only copy of the reasons.
    errors = new ErrorFile({ path: settings.errors, defaultPath, source: isRemote(file) ? undefined : file })
    const body = Readable.toWeb(Readable.from(upload.bytes)) as ReadableStream
    const address = addressOf(url, into, { ...settings, ...upload.format })
    if (hasSourceRows(upload.source, errors.path)) address.searchParams.set('$rejected', 'texts')
    text = await (await ask(address, { method: 'POST', key, body, duplex: 'half' })).text()
  } finally {
    progress.stop()
    source?.close()
  }
  const { table } = upload
  const summary = withUnsent(JSON.parse(text) as Imported, table?.unsent.length ?? 0)
  const { isComplete, rejected: rejectedCount } = summary
  print(`${describeSummary(summary, summary.trial)}${isComplete ? '' : '; ended before the end of the file'}`)
  if (rejectedCount > 0) {
    const lines = rejectedLines(text)
    writeRejected(errors, table ? table.inFile(lines) : lines, upload)
    const more = rejectedCount - (table?.unsent.length ?? 0) - summary.rejectedRows.length
    const first = more > 0 ? ` for the first ${summary.rejectedRows.length}` : ''
    print(`${quantity(rejectedCount, 'row')} could not be saved; ${errors.path} says why${first}`)
    if (settings.trial) return false
    const { relations, existing } = settings
    const options = [
      ...correctedFormat(upload.source, errors.path),
      ...(existing === 'reject' ? [] : ['--existing', existing]),
      '--url',
      url,
    ]
    const columns = settings.columns
    const again = correctedCommand('import', errors.path, { ...upload.format, columns, into, relations, more: options })
    print(`after you fix its rows: ${again}`)
  }
  return isComplete && rejectedCount === 0
}

/** Rows to be sent to a server, and the parameters that describe their format. */
interface SentRows {
  readonly bytes: AsyncIterable<Buffer>
  readonly format: Partial<ImportArguments>
  /** Names of the columns of CSV. */
  readonly header: readonly string[]
  readonly source: Format | TableFormat
  readonly table?: TableBody
}

/** Prepares the rows to be sent; the rows of a table are sent as CSV. */
async function sentRows(
  rows: RowSource,
  { file, columns }: ImportArguments,
  warn: (line: string) => void,
): Promise<SentRows> {
  const sample = await rows.sample(new Set(Object.keys(columns ?? {})))
  const namedColumns = withoutEmpty(sample, columns)
  const common = { header: sample.columns.map(({ name }) => name), source: rows.format }
  if (rows.table) {
    tellFormat(file, rows.format, sample, warn)
    const table = new TableBody(rows.table)
    // Always with a decimal, so that the option does not apply to numbers of a sheet.
    const { decimal } = sample.format
    const format = { ...sample.format, decimal, format: 'csv', delimiter: ',', columns: namedColumns } as const
    return { ...common, bytes: table.bytes(), format, table }
  }
  const { format } = rows
  tellFormat(file, format, sample, warn)
  return { ...common, bytes: rows.bytes(), format: { ...sample.format, columns: namedColumns, format } }
}

/** Adds the number of rows that could not be sent. */
const withUnsent = (summary: Imported, count: number): Imported => ({
  ...summary,
  read: summary.read + count,
  rejected: summary.rejected + count,
})

async function open(file: string, progress: ProgressDisplay): Promise<AsyncIterable<Buffer>> {
  if (isRemote(file)) return unpack(nameOf(file), await remoteBytes(file))
  const { size } = await openSource(file)
  let sentBytes = 0
  return readBytes(file, count => {
    sentBytes += count
    progress.show('sending', sentBytes, size)
  })
}

function addressOf(url: string, into: string, settings: ImportArguments): URL {
  const { format, existing, trial, columns, relations, delimiter, skipLines, path, decimal, dates, encoding } = settings
  const { years, currencies, nulls } = settings
  const address = new URL(`${url}/rest/$import/${encodeURIComponent(into)}`)
  const parameters = {
    format,
    existing,
    delimiter,
    skipLines: skipLines?.toString(),
    listPath: path,
    decimal,
    dates,
    years: years?.toString(),
    currencies: currencies?.join(','),
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
    const attributeName = columns?.[attribute] ?? attribute
    const names = Object.keys(columns ?? {}).filter(name => columns![name] === attributeName)
    for (const name of [...names, attribute]) all[name] = { attribute: attributeName, by }
  }
  return Object.keys(all).length > 0 ? JSON.stringify(all) : undefined
}

/** The rejected rows of an answer, as they are written there. */
function rejectedLines(text: string): string[] {
  const [, ...lines] = text.slice(0, text.lastIndexOf(']')).split('\n')
  return lines.map(line => (line.endsWith(',') ? line.slice(0, -1) : line))
}

/** Maximum number of lines that a message names. */
const MAX_LINES = 20

/** Writes rejected rows in the form of their file. @throws {Error} naming their lines, which the server will not tell again */
function writeRejected(errors: ErrorFile, lines: readonly string[], { header, source, format }: SentRows): void {
  const { encoding, delimiter = ',' } = format
  const rows = errorRowsOf({ format: source, encoding, header, delimiter }, errors.path)
  errors.head = rows?.head
  const rejected = lines.map(text => ({ text, ...(JSON.parse(text) as RejectedText) }))
  try {
    for (const { text, line, errors: reasons, row } of rejected)
      errors.add(rows?.line({ line, text: row }, reasons) ?? text)
  } catch (error) {
    const first = rejected.slice(0, MAX_LINES).map(({ line }) => line)
    const more = rejected.length > first.length ? ' and others' : ''
    throw new Error(`${(error as Error).message}; the rows in lines ${first.join(', ')}${more} were not saved`, {
      cause: error,
    })
  } finally {
    errors.close()
  }
}

/** A rejected row of an answer, with its text. */
interface RejectedText {
  readonly line: number
  readonly errors: readonly string[]
  readonly row: string
}
