import { EXPORTED_FORMATS, formatOf } from '../../../engine/base/row-formats.ts'

/** Formats with types, which the command creates from the CSV of the server and from its catalog. */
const TABLE_FORMATS = ['xlsx', 'parquet', 'sqlite'] as const
export type TableFormat = (typeof TABLE_FORMATS)[number]
export const EXPORT_FORMATS = [...EXPORTED_FORMATS, ...TABLE_FORMATS] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

export const isTableFormat = (format: ExportFormat): format is TableFormat =>
  (TABLE_FORMATS as readonly string[]).includes(format)

/** Format of an export by the name of its file. */
export function exportFormatOf(path: string): ExportFormat | undefined {
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase()
  if (extension === 'db' || extension === 'sqlite3') return 'sqlite'
  return TABLE_FORMATS.find(table => table === extension) ?? EXPORTED_FORMATS.find(format => format === formatOf(path))
}
