import { InputError } from '../../base/input-error.ts'
import type { TableFile, TableRow } from '../table-file.ts'
import { Archive } from './archive.ts'
import { CellProblem, cellValue } from './cell-value.ts'
import { columnName, type SheetRow, sheetRows } from './sheet-rows.ts'
import { readWorkbook, type Workbook } from './workbook.ts'

/**
 * Opens a sheet of an Excel file. Its first row with a value has the names of the columns. A formula has the value of its last result,
 * merged cells have their value in the first cell, and a row with a cell that has no value, such as `#REF!`, cannot be saved.
 * @throws {Error} the file is missing or is not an Excel file, or there is no such sheet
 */
export async function openXlsx(path: string, sheet: string | undefined): Promise<TableFile> {
  const { workbook, part, header } = await using(path, async archive => {
    const workbook = await readWorkbook(archive)
    const part = sheetOf(path, workbook, sheet)
    return { workbook, part, header: await headerOf(archive, part, workbook) }
  })
  return {
    columns: header.names.map(name => ({ name })),
    async *rows() {
      const archive = await Archive.open(path)
      try {
        for await (const rows of sheetRows(archive.texts(part))) {
          const filledRows = rows
            .filter(({ index }) => index > header.index)
            .map(row => rowOf(row, header.names.length, workbook))
          yield filledRows.filter(row => row !== undefined)
        }
      } finally {
        archive.close()
      }
    },
  }
}

/** @throws {InputError} if `read` does not accept the file */
async function using<T>(path: string, read: (archive: Archive) => Promise<T>): Promise<T> {
  let archive: Archive | undefined
  try {
    archive = await Archive.open(path)
    return await read(archive)
  } catch (error) {
    if (error instanceof InputError) throw error
    throw new InputError(`${path} is not an Excel file (.xlsx): ${(error as Error).message}`, { cause: error })
  } finally {
    archive?.close()
  }
}

function sheetOf(path: string, { sheets }: Workbook, name: string | undefined): string {
  const match = name === undefined ? sheets[0] : sheets.find(sheet => sheet.name === name)
  if (match) return match.part
  const sheetNames = sheets.map(sheet => `"${sheet.name}"`).join(', ')
  throw new InputError(`${path} has no ${name === undefined ? 'sheet' : `sheet "${name}"; it has ${sheetNames}`}`)
}

interface Header {
  readonly index: number
  readonly names: readonly string[]
}

async function headerOf(archive: Archive, part: string, workbook: Workbook): Promise<Header> {
  for await (const rows of sheetRows(archive.texts(part))) {
    for (const { index, cells } of rows) {
      const names: string[] = []
      for (const cell of cells) {
        const value = cellValue(cell, workbook)
        if (!isEmpty(value)) names[cell.column] = String(value instanceof CellProblem ? cell.text : value).trim()
      }
      if (names.length > 0) return { index, names: Array.from(names, name => name ?? '') }
    }
  }
  return { index: 0, names: [] }
}

const isEmpty = (value: unknown): boolean => value === null || (typeof value === 'string' && value.trim() === '')

/** @returns undefined for an empty row */
function rowOf({ index, cells }: SheetRow, count: number, workbook: Workbook): TableRow | undefined {
  const line = index + 1
  const values = Array.from<unknown>({ length: count }).fill(null)
  let isFilled = false
  let problem: string | undefined
  for (const cell of cells) {
    const value = cellValue(cell, workbook)
    if (isEmpty(value)) continue
    isFilled = true
    const name = `cell ${columnName(cell.column)}${line}`
    if (value instanceof CellProblem) problem ??= `${name} ${value.reason}`
    else if (cell.column < count) values[cell.column] = value
    else problem ??= `${name} is in a column without a header`
    if (value instanceof CellProblem && cell.column < count) values[cell.column] = cell.text
  }
  if (!isFilled) return undefined
  return { line, cells: values, ...(problem !== undefined && { problem }) }
}
