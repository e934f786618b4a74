import { InputError } from '../../base/input-error.ts'
import type { TableFile, TableOptions } from '../table-file.ts'
import { Archive } from './archive.ts'
import { chooseSheet, filledSheets } from './choose-sheet.ts'
import { damageError, formatError, refuseOthers } from './damage.ts'
import { firstRows } from './filled-rows.ts'
import { findHeader, type Header, headerAt, ROWS_FOR_HEADER } from './find-header.ts'
import { countHyperlinks, readHyperlinks } from './hyperlinks.ts'
import { relationsOf } from './relations.ts'
import { type OpenSheet, SheetReader } from './sheet-reader.ts'
import { sheetRows } from './sheet-rows.ts'
import { readWorkbook, type Sheet, type Workbook } from './workbook.ts'

/**
 * Opens a sheet of an Excel file. A row above the others has the names of the columns. A formula has the value of its last result,
 * merged cells have their value in the first cell, and a row with a cell that has no value, such as `#REF!`, cannot be saved.
 * @throws {Error} the file is missing or is not an Excel file, or it is open which sheet is to be read
 */
export async function openXlsx(path: string, options: TableOptions): Promise<TableFile> {
  const open = await using(path, async archive => {
    const workbook = await readWorkbook(archive)
    return openSheet(path, archive, workbook, options).catch((error: unknown) => {
      throw error instanceof InputError ? error : damageError(path, error)
    })
  })
  const { workbook, sheet, header } = open
  const reader = new SheetReader(open, options.leftOut)
  const several = workbook.sheets.length > 1 ? `, sheet "${sheet.name}"` : ''
  return {
    columns: header.names.map(name => ({ name })),
    description: `Excel${several}${header.isBelowOthers ? `, names of columns in row ${header.index + 1}` : ''}`,
    notes: () => reader.notes(),
    async *rows() {
      reader.begin()
      const archive = await Archive.open(path)
      try {
        for await (const rows of sheetRows(archive.texts(sheet.part), area => reader.onMerged(area)))
          yield rows.flatMap(row => reader.read(row) ?? [])
      } catch (error) {
        throw damageError(path, error)
      } finally {
        archive.close()
      }
    },
  }
}

/** Names of the visible sheets with rows. @throws {InputError} the file is not an Excel file */
export const sheetNames = (path: string): Promise<string[]> =>
  using(path, async archive => (await filledSheets(archive, await readWorkbook(archive))).map(({ name }) => name))

/** @throws {InputError} if `read` does not accept the file */
async function using<T>(path: string, read: (archive: Archive) => Promise<T>): Promise<T> {
  let archive: Archive | undefined
  try {
    archive = await Archive.open(path)
    refuseOthers(archive)
    return await read(archive)
  } catch (error) {
    if (error instanceof InputError) throw error
    throw formatError(path, error)
  } finally {
    archive?.close()
  }
}

async function openSheet(
  path: string,
  archive: Archive,
  workbook: Workbook,
  options: TableOptions,
): Promise<OpenSheet> {
  const sheet = await chooseSheet(path, archive, workbook, options.sheet)
  const relations = archive.hasRelations(sheet.part) ? await relationsOf(archive, sheet.part) : []
  return {
    workbook,
    sheet,
    header: await headerOf(archive, sheet, workbook, options.headerRow),
    addresses: options.links ? await readHyperlinks(archive, sheet.part, relations) : undefined,
    hyperlinks: options.links ? 0 : countHyperlinks(relations),
  }
}

/** @throws {InputError} the row of the user's choice has no values */
async function headerOf(
  archive: Archive,
  { part, name }: Sheet,
  workbook: Workbook,
  headerRow: number | undefined,
): Promise<Header> {
  if (headerRow === undefined)
    return findHeader(await firstRows(archive, part, workbook, ({ length }) => length >= ROWS_FOR_HEADER))
  const rows = await firstRows(archive, part, workbook, (_, index) => index + 1 >= headerRow)
  const at = rows.findIndex(({ index }) => index + 1 === headerRow)
  if (at < 0) throw new InputError(`--header-row ${headerRow}: row ${headerRow} of the sheet "${name}" is empty`)
  return headerAt(rows, at)
}
