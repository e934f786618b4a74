import { withoutPacking } from '../../engine/base/row-formats.ts'
import { createWriteStream, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { InputError } from '../../engine/base/input-error.ts'
import { packer } from '../../engine/command-line.ts'
import { ask } from './ask-server.ts'
import { describeSize } from './describe-size.ts'
import { binaryAttributes, columnOf, readCatalog, type ServerCatalog } from './export-table/export-column.ts'
import {
  EXPORT_FORMATS,
  type ExportFormat,
  exportFormatOf,
  isTableFormat,
  type TableFormat,
} from './export-table/export-format.ts'
import { readTable, type TableRows } from './export-table/table-rows.ts'

const LINE_END = ',\n'

/** Writers of the formats with types. */
const TABLES: Readonly<Record<TableFormat, { name: string; write(path: string, table: TableRows): Promise<void> }>> = {
  xlsx: {
    name: 'Excel',
    write: async (path, table) => (await import('./export-table/write-xlsx.ts')).writeXlsx(path, table),
  },
  parquet: {
    name: 'Parquet',
    write: async (path, table) => (await import('./export-table/write-parquet.ts')).writeParquet(path, table),
  },
  sqlite: {
    name: 'SQLite',
    write: async (path, table) => (await import('./export-table/write-sqlite.ts')).writeSqlite(path, table),
  },
}

export interface ExportArguments {
  dataClass: string
  /** Path; a file whose name ends in `.gz` or `.zst` is compressed. Undefined: the standard output. */
  out?: string | undefined
  /** Address of the server, see `serverAddress`. */
  url: string
  key?: string | undefined
  format?: ExportFormat | undefined
  filter?: string | undefined
  order?: string | undefined
  attributes?: string | undefined
  /** Id of an entity set. */
  set?: string | undefined
  top?: number | undefined
}

/**
 * `tesser export`: writes entities of a running server to a file, which appears only once it is complete.
 * @param warn called with warnings about the export
 * @returns the outcome, for the operator; undefined for the standard output
 * @throws {Error} the server or the file cannot be used
 */
export async function exportEntities(
  settings: ExportArguments,
  output: Writable,
  warn = (line: string): void => void process.stderr.write(`${line}\n`),
): Promise<string | undefined> {
  const { dataClass, out, key, url, attributes } = settings
  const format = settings.format ?? (out === undefined ? 'csv' : exportFormatOf(out))
  if (!format)
    throw new InputError(`the name of ${out} does not tell its format; give --format ${EXPORT_FORMATS.join('|')}`)
  const packing = out === undefined ? undefined : packer(out)
  if (packing === 'unable') throw new InputError(`${out}: writing Zstandard needs Node.js 22.15 or later; .gz does not`)
  const table = isTableFormat(format) ? TABLES[format] : undefined
  if (table) checkTable(table.name, format, out)
  const catalog = readCatalog(await (await ask(new URL(`${url}/rest/$catalog/$all`), { key })).json())
  const answer = await ask(addressOf(settings, table || format === 'csv' ? 'csv' : 'ndjson'), { key })
  const omittedNames = isAll(attributes) ? binaryAttributes(catalog, dataClass) : []
  if (omittedNames.length > 0)
    warn(`not in the export: ${omittedNames.join(', ')}; tesser dump writes images and blobs`)
  const lines = Readable.fromWeb(answer.body as never)
  if (table) {
    await writeWhole(out!, path => writeTable(table.write, path, dataClass, lines, catalog))
    return `${out}: ${describeSize(statSync(out!).size)} of ${table.name}`
  }
  const body = format === 'json' ? Readable.from(asArray(lines), { objectMode: false }) : lines
  if (out === undefined) {
    await pipeline(body, output, { end: false })
    return undefined
  }
  let bytes = 0
  body.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length
  })
  await writeWhole(out, path => {
    // Opened before anything can fail: a stream would open it later, possibly after it has been removed.
    const file = createWriteStream(path, { fd: openSync(path, 'w', 0o600) })
    return packing ? pipeline(body, packing, file) : pipeline(body, file)
  })
  return `${out}: ${describeSize(bytes)} of ${format.toUpperCase()}`
}

function checkTable(name: string, format: ExportFormat, out: string | undefined): void {
  if (out === undefined) throw new InputError(`${name} is written to a file: name it with --out`)
  if (withoutPacking(out) !== out)
    throw new InputError(`${out}: ${name} cannot be compressed; CSV, NDJSON and JSON can`)
  // Overwriting a database would also remove its other tables.
  if (format === 'sqlite' && existsSync(out))
    throw new InputError(`${out} exists; an export creates a new database: give another name, or remove the file`)
}

/** True if all attributes are requested. */
const isAll = (attributes: string | undefined): boolean =>
  attributes === undefined || attributes.split(',').some(name => name.trim() === '*')

async function writeTable(
  write: (path: string, table: TableRows) => Promise<void>,
  path: string,
  dataClass: string,
  lines: Readable,
  catalog: ServerCatalog,
): Promise<void> {
  try {
    const { header, parts } = await readTable(lines)
    await write(path, { dataClass, columns: header.map(name => columnOf(catalog, dataClass, name)), parts })
  } finally {
    // After a failure the server need not send the rest.
    lines.destroy()
  }
}

/** Writes a file under a temporary name until it is complete. */
async function writeWhole(out: string, write: (path: string) => Promise<void>): Promise<void> {
  const unfinishedPath = `${out}.part`
  try {
    rmSync(unfinishedPath, { force: true })
    await write(unfinishedPath)
    renameSync(unfinishedPath, out)
  } catch (error) {
    rmSync(unfinishedPath, { force: true })
    throw error
  }
}

/** Converts lines of NDJSON to a JSON array of the entities. */
async function* asArray(lines: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  yield Buffer.from('[')
  let separator = ''
  for await (const chunk of lines) {
    // latin1 maps each byte to one character.
    const text = separator + Buffer.from(chunk).toString('latin1').replaceAll('\n', LINE_END)
    separator = text.endsWith(LINE_END) ? LINE_END : ''
    yield Buffer.from(text.slice(0, text.length - separator.length), 'latin1')
  }
  yield Buffer.from(']\n')
}

function addressOf({ url, dataClass, set, filter, order, attributes, top }: ExportArguments, format: string): URL {
  const collection = `${encodeURIComponent(dataClass)}${set === undefined ? '' : `/$entityset/${encodeURIComponent(set)}`}`
  const address = new URL(`${url}/rest/${collection}`)
  const parameters = {
    format,
    top: top === undefined ? undefined : String(top),
    filter: filter && JSON.stringify(filter),
    orderby: order && JSON.stringify(order),
    attributes,
  }
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) address.searchParams.set(`$${name}`, value)
  return address
}
