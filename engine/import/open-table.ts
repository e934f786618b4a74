import { InputError } from '../base/input-error.ts'
import type { TableFormat } from '../base/row-formats.ts'
import type { TableFile } from './table-file.ts'

interface TableOptions {
  /** Name of a sheet; the first one by default. */
  readonly sheet?: string | undefined
}

/** @throws {Error} the file cannot be read */
export async function openTable(path: string, format: TableFormat, { sheet }: TableOptions): Promise<TableFile> {
  if (sheet !== undefined && format !== 'xlsx') throw new InputError(`--sheet is for Excel files; ${path} is Parquet`)
  return format === 'xlsx'
    ? (await import('./xlsx/open-xlsx.ts')).openXlsx(path, sheet)
    : (await import('./read-parquet.ts')).openParquet(path)
}
