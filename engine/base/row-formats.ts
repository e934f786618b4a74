/**
 * Formats of files of rows, by name. In `base`, because the options of commands list them without loading the code that reads the files.
 */

/** Formats of texts that are also written. */
export const EXPORTED_FORMATS = ['json', 'ndjson', 'csv'] as const
/** Formats of texts; `geojsonl` has a feature on each line. */
export const FORMATS = [...EXPORTED_FORMATS, 'geojson', 'geojsonl'] as const
export type Format = (typeof FORMATS)[number]

/** Formats of files whose cells have types. */
export const TABLE_FORMATS = ['xlsx', 'parquet'] as const
export type TableFormat = (typeof TABLE_FORMATS)[number]

export const DECIMALS = ['.', ','] as const
export const DATE_ORDERS = ['ymd', 'dmy', 'mdy'] as const
export type DateOrder = (typeof DATE_ORDERS)[number]

/** Name of a file without the extension of its compression. */
export const withoutPacking = (path: string): string => path.replace(/\.(?:gz|zst)$/i, '')

/** Format of a file by its name, without `.gz` or `.zst`. */
export function formatOf(path: string): Format | undefined {
  const extension = /\.([a-z]+)$/i.exec(withoutPacking(path))?.[1]?.toLowerCase()
  if (extension === 'jsonl') return 'ndjson'
  if (extension === 'ndgeojson' || extension === 'geojsons') return 'geojsonl'
  return extension === 'tsv' ? 'csv' : FORMATS.find(format => format === extension)
}

/** True for formats whose rows are objects of JSON. */
export const hasObjects = (format: string): boolean => format !== 'csv' && !isTableFormat(format)

/** True for formats whose rows are features of GeoJSON. */
export const hasFeatures = (format: string): boolean => format === 'geojson' || format === 'geojsonl'

/** Format of a table by the name of its file. */
export function tableFormatOf(path: string): TableFormat | undefined {
  // A workbook with macros, which are not read.
  const name = path.toLowerCase().replace(/\.xlsm$/, '.xlsx')
  return TABLE_FORMATS.find(format => name.endsWith(`.${format}`))
}

export const isTableFormat = (format: string): format is TableFormat =>
  (TABLE_FORMATS as readonly string[]).includes(format)
