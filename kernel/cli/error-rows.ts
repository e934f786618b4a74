import {
  type Format,
  formatOf,
  hasFeatures,
  hasObjects,
  isTableFormat,
  type TableFormat,
} from '../../engine/base/row-formats.ts'
import { csvErrors, type ErrorRows, jsonErrors } from '../../engine/command-line.ts'

/** Format of the error file of a file: CSV for CSV and tables, unless its name says otherwise. */
function errorFormatOf(format: Format | TableFormat, path: string): Format {
  if (hasFeatures(format)) return 'geojsonl'
  return format === 'csv' || isTableFormat(format) ? (formatOf(path) ?? 'csv') : 'ndjson'
}

/** Name of the error file of a file, if none is given. */
export const errorPathOf = (name: string, format: Format | TableFormat): string =>
  `${name}.errors.${errorFormatOf(format, '')}`

/** True if an error file has the rows in the form of their source. */
export const hasSourceRows = (format: Format | TableFormat, path: string): boolean =>
  hasObjects(format) || errorFormatOf(format, path) === 'csv'

/** Mark with which Excel recognizes UTF-8. */
const MARK = '\uFEFF'

interface Source {
  readonly format: Format | TableFormat
  readonly encoding?: string | undefined
  /** Names of the columns of CSV. */
  readonly header: readonly string[]
  readonly delimiter: string
}

/** Rows of an error file in the form of their source; undefined if the file has another form by its name. */
export function errorRowsOf(
  { format, encoding = 'utf-8', header, delimiter }: Source,
  path: string,
): ErrorRows | undefined {
  if (!hasSourceRows(format, path)) return undefined
  if (hasObjects(format)) return jsonErrors
  const rows = csvErrors(header, delimiter)
  return encoding === 'utf-8' ? rows : { ...rows, head: MARK + rows.head }
}

type Columns = Readonly<Record<string, string | null>> | undefined

/** Names of columns that the load of a corrected file needs: in CSV, the header has the names of attributes. */
export function correctedColumns(format: Format | TableFormat, columns: Columns): Columns {
  if (hasObjects(format)) return columns
  return Object.fromEntries(Object.entries(columns ?? {}).filter(([, attribute]) => attribute === null))
}

/** Option with which a corrected file is loaded, if its name does not tell its format. */
export function correctedFormat(format: Format | TableFormat, path: string): string[] {
  // Rows in another form than their source are objects.
  const written = hasSourceRows(format, path) ? errorFormatOf(format, path) : 'ndjson'
  return formatOf(path) === written ? [] : ['--format', written]
}
