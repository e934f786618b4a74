import { stringifyExact } from '../base/exact-json.ts'
import type { Catalog } from '../catalog/dataclass.ts'
import { dataClassOf, type ImportRequest } from './import-rows.ts'
import type { LoadTarget } from './load-options.ts'
import { loadRows } from './load-rows.ts'
import { openRowFile } from './row-file.ts'
import { type ReadRow, type RowFormat, RowReader } from './row-reader.ts'
import { CsvSplitter } from './split-csv.ts'
import type { RowText } from './split-rows.ts'

/** Maximum number of characters shown of a value. */
const SHOWN_LENGTH = 1_000

/** Request for the first rows of a file. */
export interface PreviewRequest extends Omit<ImportRequest, 'isTrial' | 'onRejected' | 'summary' | 'leavesOutOthers'> {
  /** Maximum number of rows that are read. */
  readonly rows: number
}

/** The first rows of a file, as an import would read them. */
export interface RowPreview {
  /** Character between the fields of CSV. */
  readonly delimiter?: string | undefined
  /** Columns of CSV, or the properties of the rows; the attribute is null for a column that is left out, and for a property without an attribute. */
  readonly columns: readonly { readonly name: string; readonly attribute: string | null }[]
  readonly rows: readonly PreviewedRow[]
}

interface PreviewedRow {
  /** Line on which the row starts, counted from 1. */
  readonly line: number
  /** Values by column, as they are read; values that cannot be read or are left out, as they are in the file. */
  readonly cells: readonly (string | null)[]
  /** Reasons why the row would not be saved; empty for a good row. */
  readonly errors: readonly string[]
}

/**
 * Reads the first rows of a file and checks them. Columns of CSV that are not attributes are left out.
 * @throws {Error} the file cannot be read
 */
export async function previewRows(target: LoadTarget, catalog: Catalog, request: PreviewRequest): Promise<RowPreview> {
  const dataClass = dataClassOf(request, catalog)
  const { format, header, rows } = await openRowFile({ ...request, leavesOutOthers: true }, dataClass)
  const first = await firstRows(rows, request.rows)
  const errors = new Map<number, readonly string[]>()
  await loadRows({
    target,
    dataClass,
    format,
    rows: once(first),
    relations: request.relations,
    columns: request.columns,
    existing: request.existing,
    isTrial: true,
    onRejected: ({ position }, reasons) => errors.set(position, reasons),
  })
  const reader = new RowReader(dataClass, format)
  const read = first.map(row => ({ ...row, ...reader.read(row) }))
  const names = header ?? [...new Set(read.flatMap(({ value }) => (value instanceof Error ? [] : Object.keys(value))))]
  const cellsOf = format.csv ? csvCells(format.csv) : (row: ReadRow) => names.map(name => cellOf(row, name))
  const attributeOf = (name: string): string | null => dataClass.attributesByName.get(name)?.name ?? null
  return {
    delimiter: format.csv?.delimiter,
    columns: names.map((name, at) => ({
      name,
      attribute: format.csv ? format.csv.attributes[at]! : attributeOf(name),
    })),
    rows: read.map((row, at) => ({ line: row.line, cells: cellsOf(row), errors: errors.get(at) ?? [] })),
  }
}

async function firstRows(rows: AsyncIterable<RowText[]>, count: number): Promise<RowText[]> {
  const first: RowText[] = []
  for await (const some of rows) {
    first.push(...some.slice(0, count - first.length))
    if (first.length >= count) break
  }
  return first
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value
}

type Cells = (row: RowText & ReadRow) => (string | null)[]

function csvCells({ delimiter, attributes }: NonNullable<RowFormat['csv']>): Cells {
  const splitter = new CsvSplitter(delimiter)
  return row => {
    const fields = row.problem === undefined ? splitter.split(row.text) : [row.text]
    if (row.value instanceof Error) return fields.map(excerptOf)
    return attributes.map((name, at) => (name === null ? excerptOf(fields[at] ?? null) : cellOf(row, name)))
  }
}

/** The beginning of a cell, for display. */
const excerptOf = (cell: string | null): string | null => cell?.slice(0, SHOWN_LENGTH).toWellFormed() ?? null

function cellOf({ value }: ReadRow, name: string): string | null {
  if (value instanceof Error || !Object.hasOwn(value, name)) return null
  const cell = value[name] ?? null
  return excerptOf(typeof cell === 'string' || cell === null ? cell : stringifyExact(cell))
}
