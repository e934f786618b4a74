import { InputError } from '../base/input-error.ts'
import type { StorageModel } from '../catalog/model-schema.ts'
import type { SampleColumn } from './propose-class.ts'
import type { FileSample } from './sample-file.ts'
import type { RowText } from './split-rows.ts'

/** Formats of files whose cells have types. */
export const TABLE_FORMATS = ['xlsx', 'parquet'] as const
export type TableFormat = (typeof TABLE_FORMATS)[number]

/** A row of a table. */
export interface TableRow {
  /** Number of the row in its sheet, or in its file if the header were row 1. */
  readonly line: number
  /** A value for each column: text, number, bigint, boolean, bytes, array, object, null. Dates are ISO texts. */
  readonly cells: readonly unknown[]
  /** Reason why it cannot be saved. */
  readonly problem?: string
}

/** A spreadsheet or a Parquet file. */
export interface TableFile {
  readonly columns: readonly { readonly name: string; readonly type?: StorageModel | undefined }[]
  /** The rows, as many together as are at hand; each call reads the file once more. */
  rows(): AsyncIterable<readonly TableRow[]>
}

interface TableOptions {
  /** Name of a sheet; the first one by default. */
  readonly sheet?: string | undefined
}

/** Format of a table by the name of its file. */
export const tableFormatOf = (path: string): TableFormat | undefined =>
  TABLE_FORMATS.find(format => path.toLowerCase().endsWith(`.${format}`))

export const isTableFormat = (format: string): format is TableFormat =>
  (TABLE_FORMATS as readonly string[]).includes(format)

/** @throws {Error} the file cannot be read */
export async function openTable(path: string, format: TableFormat, { sheet }: TableOptions): Promise<TableFile> {
  if (sheet !== undefined && format !== 'xlsx') throw new InputError(`--sheet is for Excel files; ${path} is Parquet`)
  return format === 'xlsx'
    ? (await import('./read-xlsx.ts')).openXlsx(path, sheet)
    : (await import('./read-parquet.ts')).openParquet(path)
}

const MAX_ROWS = 10_000

/** The first rows of a table. */
export async function sampleTable(table: TableFile): Promise<FileSample> {
  const rows: TableRow[] = []
  let isWhole = true
  for await (const some of table.rows()) {
    rows.push(...some.filter(({ problem }) => problem === undefined))
    if (rows.length <= MAX_ROWS) continue
    rows.length = MAX_ROWS
    isWhole = false
    break
  }
  const columns = table.columns.map(({ name, type }, i): SampleColumn => {
    const values = rows.map(({ cells }) => cells[i])
    return { name, values, type: type?.type === 'object' ? (vectorOf(values) ?? type) : type }
  })
  return { columns, isTyped: true, hasFields: true, rows: rows.length, isWhole, format: {}, open: [] }
}

const MIN_DIMENSION = 8

/** Type of lists of numbers that are all of one length. */
function vectorOf(values: readonly unknown[]): StorageModel | undefined {
  const lists = values.filter(value => value !== null)
  const [first] = lists
  if (!Array.isArray(first) || first.length < MIN_DIMENSION) return undefined
  const isVector = (list: unknown): boolean =>
    Array.isArray(list) && list.length === first.length && list.every(each => typeof each === 'number')
  return lists.every(isVector) ? { type: 'vector', dimension: first.length } : undefined
}

/** The rows as texts of CSV with commas: their loading is that of CSV. */
export async function* tableTexts(table: TableFile): AsyncGenerator<RowText[]> {
  for await (const rows of table.rows()) {
    yield rows.map(({ line, cells, problem }) => {
      const text = csvText(cells)
      return problem === undefined ? { line, text } : { line, text, problem }
    })
  }
}

export const csvText = (cells: readonly unknown[]): string => cells.map(fieldOf).join(',')

function fieldOf(cell: unknown): string {
  if (cell === null || cell === undefined) return ''
  const text = cellText(cell)
  return typeof cell === 'string' || typeof cell === 'object' ? `"${text.replaceAll('"', '""')}"` : text
}

/** Text of a cell that is not null, as CSV has it. */
export function cellText(cell: unknown): string {
  if (cell instanceof Uint8Array) return `data:application/octet-stream;base64,${Buffer.from(cell).toString('base64')}`
  return typeof cell === 'object' ? JSON.stringify(cell, jsonValue) : String(cell)
}

const jsonValue = (_: string, value: unknown): unknown =>
  typeof value === 'bigint'
    ? Number(value)
    : value instanceof Uint8Array
      ? Buffer.from(value).toString('base64')
      : value
