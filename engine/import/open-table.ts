import { InputError } from '../base/input-error.ts'
import type { TableFormat } from '../base/row-formats.ts'
import type { TableFile, TableOptions } from './table-file.ts'

/** @throws {Error} the file cannot be read */
export async function openTable(path: string, format: TableFormat, options: TableOptions): Promise<TableFile> {
  if (format === 'xlsx') return (await import('./xlsx/open-xlsx.ts')).openXlsx(path, options)
  refuseSheetOptions(path, options)
  return (await import('./read-parquet.ts')).openParquet(path)
}

/** Names of the sheets of an Excel file that have rows. @throws {InputError} the file is not an Excel file */
export const sheetNames = async (path: string): Promise<string[]> =>
  (await import('./xlsx/open-xlsx.ts')).sheetNames(path)

/** @throws {InputError} an option for spreadsheets is given for another file */
export function refuseSheetOptions(file: string, { sheet, headerRow, links }: TableOptions): void {
  const option =
    sheet !== undefined ? '--sheet' : headerRow !== undefined ? '--header-row' : links ? '--links' : undefined
  if (option !== undefined) throw new InputError(`${option} is for Excel files (.xlsx), and ${file} is another file`)
}
