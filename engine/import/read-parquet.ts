import { InputError } from '../base/input-error.ts'
import { type Kind, kindOf, parsers, readAsStored, type SchemaColumn } from './parquet-kinds.ts'
import type { TableFile, TableRow } from './table-file.ts'

const ROWS_AT_ONCE = 500

/**
 * Opens a Parquet file with the types of its columns; one group of rows at a time is in memory.
 * @throws {Error} the file is missing or is not Parquet
 */
export async function openParquet(path: string): Promise<TableFile> {
  const [{ asyncBufferFromFile, parquetMetadataAsync, parquetRead, parquetSchema }, { compressors }] =
    await loadReader()
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file).catch((error: unknown) => {
    throw new InputError(`${path} is not a Parquet file: ${(error as Error).message}`, { cause: error })
  })
  const schema = parquetSchema(metadata).children as readonly SchemaColumn[]
  const kinds = schema.map(kindOf)
  const names = schema.map(({ element }) => element.name)
  for (const column of schema) readAsStored(column)
  return {
    description: 'Parquet',
    columns: names.map((name, i) => ({ name, type: kinds[i]!.type })),
    async *rows() {
      let rowStart = 0
      for (const group of metadata.row_groups) {
        const rowEnd = rowStart + Number(group.num_rows)
        let rows: readonly (readonly unknown[])[] = []
        const onComplete = (read: unknown[][]): void => {
          rows = read
        }
        await parquetRead({
          file,
          metadata,
          compressors,
          parsers,
          rowStart,
          rowEnd,
          utf8: false,
          rowFormat: 'array',
          onComplete,
        }).catch((error: unknown) => {
          const { message } = error as Error
          throw new InputError(`${path} is damaged: ${message}; copy or download it again`, { cause: error })
        })
        for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
          const part = rows.slice(at, at + ROWS_AT_ONCE)
          yield part.map((cells, i) => rowOf(rowStart + at + i + 2, cells, kinds, names))
        }
        rowStart = rowEnd
      }
    },
  }
}

async function loadReader() {
  try {
    return await Promise.all([import('hyparquet'), import('hyparquet-compressors')])
  } catch (error) {
    const packages = 'hyparquet hyparquet-compressors'
    throw new InputError(`Parquet files are read by the optional packages ${packages}: npm install ${packages}`, {
      cause: error,
    })
  }
}

/** Converts a row. If one cell cannot be read, the others are kept for the file of errors. */
function rowOf(line: number, cells: readonly unknown[], kinds: readonly Kind[], names: readonly string[]): TableRow {
  let problem: string | undefined
  const read = cells.map((cell, i) => {
    try {
      return cell === null || cell === undefined ? null : kinds[i]!.read(cell)
    } catch (error) {
      problem ??= `column "${names[i]}": ${(error as Error).message}`
      return null
    }
  })
  return problem === undefined ? { line, cells: read } : { line, cells: read, problem }
}
