import {
  type Format,
  formatOf,
  FORMATS,
  hasFeatures,
  isTableFormat,
  TABLE_FORMATS,
  type TableFormat,
  tableFormatOf,
} from '../../engine/base/row-formats.ts'
import { InputError } from '../../engine/base/input-error.ts'
import {
  type FileSample,
  findList,
  type ForeignFormat,
  openTable,
  readBytes,
  refuseSheetOptions,
  type RelationsBy,
  sampleBytes,
  sampleFile,
  sampleTable,
  type TableFile,
} from '../../engine/command-line.ts'
import { isRemote, nameOf } from './source-file.ts'

/** A file of rows, and options for reading it. */
export interface RowArguments extends ForeignFormat {
  /** Path, `-` for the standard input, or an address of the web. */
  file: string
  /** Attributes by the names of columns, where they differ; null for a column that is left out. */
  columns?: Readonly<Record<string, string | null>> | undefined
  /** Attributes that identify related entities, by relation. */
  relations?: RelationsBy | undefined
  format?: Format | TableFormat | undefined
  /** Sheet of an Excel file, by name or number; by default the only one with rows. */
  sheet?: string | undefined
  /** Number of the row of an Excel file with the names of the columns; found by default. */
  headerRow?: number | undefined
  /** Reads the addresses of hyperlinks in an Excel file in place of the texts of their cells. */
  links?: boolean | undefined
  delimiter?: string | undefined
  /** Number of lines above the header of CSV. */
  skipLines?: number | undefined
  /** Path to the list of rows in a JSON document. */
  path?: string | undefined
  encoding?: string | undefined
  /** File for rows that cannot be saved; in the working directory by default, see `errorPathOf`. */
  errors?: string | undefined
}

/** @throws {InputError} neither the options nor the name of the file say the format */
export function rowFormatOf({ file, format }: RowArguments): Format | TableFormat {
  const name = nameOf(file)
  const rowFormat = format ?? formatOf(name) ?? tableFormatOf(name)
  if (rowFormat) return rowFormat
  throw new InputError(
    `the name of ${file} does not tell its format; give --format ${[...FORMATS, ...TABLE_FORMATS].join('|')}`,
  )
}

/** Rows of a text file, or of a table. */
export type RowSource =
  | {
      readonly format: Format
      /** Reads the first rows. @param names of attributes of the dataclass */
      sample(names?: ReadonlySet<string>): Promise<FileSample>
      /** All bytes, those of the sample included. */
      bytes(): AsyncIterable<Buffer>
      readonly table?: undefined
    }
  | { readonly format: TableFormat; sample(): Promise<FileSample>; readonly table: TableFile }

/** A way to read a source. */
interface SourceReader {
  /** Path of the file; of the standard input and of an address, if they are in no file, their name. */
  readonly path: string
  /** Begins to read a text file. */
  open(): AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>
}

/**
 * Opens the rows of a source.
 * @throws {Error} it cannot be read
 */
export async function openRows(
  namedFormat: Format | TableFormat,
  { path, open }: SourceReader,
  settings: RowArguments,
): Promise<RowSource> {
  const { columns = {}, encoding, delimiter, skipLines, decimal, dates, years, currencies, nulls, ...others } = settings
  refusePath(namedFormat, settings)
  if (isTableFormat(namedFormat)) {
    const leftOut = new Set(Object.keys(columns).filter(name => columns[name] === null))
    const table = await openTable(path, namedFormat, { ...others, leftOut })
    return {
      format: namedFormat,
      table,
      sample: () => sampleTable(table, { decimal, dates, years, currencies, nulls }),
    }
  }
  refuseSheetOptions(path, others)
  const reread = isRemote(path) ? undefined : () => readBytes(path, () => {})
  const { sample: begin, all } = await sampleBytes(await open())
  const list =
    namedFormat === 'json' && settings.path === undefined
      ? await findList(begin, { file: path, encoding, findsFeatures: settings.format === undefined, reread })
      : { format: namedFormat, path: settings.path }
  const chosen = {
    encoding,
    delimiter: characterOf(delimiter),
    skipLines,
    path: list.path,
    decimal,
    dates,
    years,
    currencies,
    nulls,
  }
  return {
    format: list.format,
    sample: names => sampleFile(list.format, begin, chosen, names, reread),
    bytes: () => all,
  }
}

/** @throws {InputError} a path is given for a file that has none */
function refusePath(format: Format | TableFormat, { file, path }: RowArguments): void {
  if (path === undefined || format === 'json' || format === 'geojson') return
  const which = format === 'ndjson' || hasFeatures(format) ? 'has a row on each line' : 'is another file'
  throw new InputError(`--path is for JSON documents, and ${file} ${which}`)
}

/** @throws {InputError} it is not a delimiter */
function characterOf(delimiter: string | undefined): string | undefined {
  const character = delimiter === 'tab' || delimiter === '\\t' ? '\t' : delimiter
  if (character === undefined || (character.length === 1 && !/["\r\n]/.test(character))) return character
  throw new InputError(`--delimiter ${JSON.stringify(delimiter)}: give one character, or the word tab`)
}
