import { readFileSync, statSync } from 'node:fs'
import { InputError } from '../base/input-error.ts'
import type { TableFile, TableRow } from './table-file.ts'

/** Larger than any workbook that Excel opens; the packed file is in memory, its rows are not. */
const MAX_BYTES = 512 * 2 ** 20
const ROWS_AT_ONCE = 500

const ERROR = /^#(?:DIV\/0!|N\/A|NAME\?|NULL!|NUM!|REF!|VALUE!|SPILL!|CALC!|FIELD!|BLOCKED!|GETTING_DATA)$/

/**
 * Opens a sheet of an Excel file. Its first row with a value has the names of the columns. A formula counts as its last result, of
 * merged cells the first one has the value, and a row with an error such as `#REF!` cannot be saved.
 * @throws {Error} the file is missing or is not an Excel file, or there is no such sheet
 */
export async function openXlsx(path: string, sheet: string | undefined): Promise<TableFile> {
  const { streamXlsxRows } = await loadReader()
  const size = statSync(path).size
  if (size > MAX_BYTES) throw new InputError(`${path} has ${size} bytes; an Excel file of at most ${MAX_BYTES} is read`)
  const bytes = readFileSync(path)
  const read = () => streamXlsxRows(bytes, sheet === undefined ? {} : { sheet })
  const header = await firstRow(path, sheet, read())
  const names = header.values.map(value => (value === null || value === undefined ? '' : String(cellOf(value)).trim()))
  while (names.at(-1) === '') names.pop()
  const columns = names.map(name => ({ name }))
  return {
    columns,
    async *rows() {
      let rows: TableRow[] = []
      for await (const { index, values } of read()) {
        if (index <= header.index || values.every(isEmpty)) continue
        rows.push(rowOf(index, values, columns.length))
        if (rows.length < ROWS_AT_ONCE) continue
        yield rows
        rows = []
      }
      yield rows
    },
  }
}

async function loadReader(): Promise<typeof import('hucre/xlsx')> {
  try {
    return await import('hucre/xlsx')
  } catch (error) {
    throw new InputError('Excel files are read by the optional package hucre: npm install hucre', { cause: error })
  }
}

interface SheetRow {
  readonly index: number
  readonly values: readonly unknown[]
}

async function firstRow(path: string, sheet: string | undefined, rows: AsyncIterable<SheetRow>): Promise<SheetRow> {
  let hasRows = false
  try {
    for await (const row of rows) {
      hasRows = true
      if (!row.values.every(isEmpty)) return row
    }
  } catch (error) {
    throw new InputError(`${path} is not an Excel file: ${(error as Error).message}`, { cause: error })
  }
  if (sheet !== undefined && !hasRows) throw new InputError(`${path} has no sheet "${sheet}", or it is empty`)
  return { index: 0, values: [] }
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'string' && value.trim() === '')

function rowOf(index: number, values: readonly unknown[], count: number): TableRow {
  const cells = Array.from({ length: count }, (_, i) => (isEmpty(values[i]) ? null : cellOf(values[i])))
  const error = values.findIndex(value => typeof value === 'string' && ERROR.test(value))
  const beyond = values.findIndex((value, i) => i >= count && !isEmpty(value))
  const line = index + 1
  if (error >= 0) return { line, cells, problem: `cell ${columnName(error)}${line} is the error ${values[error]}` }
  if (beyond >= 0) return { line, cells, problem: `cell ${columnName(beyond)}${line} is in a column without a header` }
  return { line, cells }
}

/** Name of a column in Excel: A … Z, AA … */
function columnName(index: number): string {
  const rest = Math.floor(index / 26)
  return (rest > 0 ? columnName(rest - 1) : '') + String.fromCharCode(65 + (index % 26))
}

const DAY_MS = 86_400_000
/** Day 0 of Excel: cells with a time alone are of it. */
const DAY_ZERO = '1899-12-3'

/** A moment as ISO text, a day without its midnight, a time without its day. */
function cellOf(value: unknown): unknown {
  if (!(value instanceof Date)) return value
  if (Number.isNaN(value.getTime())) return null
  const text = value.toISOString()
  if (text.startsWith(DAY_ZERO)) return text.slice(11, 19)
  return value.getTime() % DAY_MS === 0 ? text.slice(0, 10) : text
}
