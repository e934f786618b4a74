import { InputError } from '../base/input-error.ts'
import type { StorageModel } from '../catalog/model-schema.ts'
import type { TableFile, TableRow } from './table-file.ts'

/** Digits of a decimal attribute. */
const MAX_PRECISION = 18
const ROWS_AT_ONCE = 500

/** A column in the schema of a Parquet file, as hyparquet has it. */
interface SchemaColumn {
  readonly element: {
    readonly name: string
    readonly type?: string
    converted_type?: string
    logical_type?: { readonly type: string }
    readonly scale?: number
    readonly precision?: number
    readonly repetition_type?: string
  }
  readonly children: readonly SchemaColumn[]
}

/**
 * Opens a Parquet file. Its types are those of the columns; one group of rows at a time is in memory.
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
  for (const { element } of schema) if (isDecimal(element)) withoutType(element)
  return {
    columns: schema.map(({ element: { name } }, i) => ({ name, type: kinds[i]!.type })),
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
          rowStart,
          rowEnd,
          utf8: false,
          rowFormat: 'array',
          onComplete,
        })
        for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
          yield rows.slice(at, at + ROWS_AT_ONCE).map(
            (cells, i): TableRow => ({
              line: rowStart + at + i + 2,
              cells: cells.map((cell, column) => kinds[column]!.read(cell)),
            }),
          )
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

/** Type of an attribute for a column, and its cells as {@link TableRow} has them. */
interface Kind {
  readonly type: StorageModel
  read(cell: unknown): unknown
}

const plain = (type: StorageModel['type'], read: Kind['read'] = cell => cell ?? null): Kind => ({
  type: { type },
  read,
})

function kindOf({ element, children }: SchemaColumn): Kind {
  const { type, converted_type: converted = '', logical_type: logical, scale = 0, precision = 0 } = element
  if (children.length > 0 || element.repetition_type === 'REPEATED') return plain('object', nested)
  const name = logical?.type ?? converted
  if (isDecimal(element)) {
    const type: StorageModel =
      precision <= MAX_PRECISION && scale >= 0 ? { type: 'decimal', scale } : { type: 'number' }
    return { type, read: cell => fixed(cell, scale) }
  }
  if (name === 'DATE')
    return { type: { type: 'date', simpleDate: true }, read: cell => dateOf(cell)?.split('T')[0] ?? null }
  if (type === 'INT96' || /^TIMESTAMP/.test(name)) return plain('date', dateOf)
  if (name === 'JSON') return plain('object', nested)
  if (name === 'UUID') return plain('uuid')
  switch (type) {
    case 'BOOLEAN':
      return plain('bool')
    case 'INT32':
      return plain(/^UINT_32|INTEGER/.test(name) ? 'long64' : 'long')
    case 'INT64':
      return plain('long64')
    case 'FLOAT':
    case 'DOUBLE':
      return plain('number')
    default:
      return /^(?:UTF8|STRING|ENUM)$/.test(name)
        ? plain('string', cell => (cell instanceof Uint8Array ? Buffer.from(cell).toString() : (cell ?? null)))
        : plain('blob')
  }
}

const isDecimal = ({ logical_type: logical, converted_type: converted }: SchemaColumn['element']): boolean =>
  (logical?.type ?? converted) === 'DECIMAL'

/** Has the package return the integers of a column of decimals, which it would round to doubles. */
function withoutType(element: SchemaColumn['element']): void {
  delete element.converted_type
  delete element.logical_type
}

/** All digits of a decimal, of which the file has an integer in units of its last place. */
function fixed(cell: unknown, scale: number): string | null {
  if (cell === null || cell === undefined) return null
  const units = cell instanceof Uint8Array ? signed(cell) : BigInt(cell as number | bigint)
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${units < 0n ? '-' : ''}${digits.slice(0, point)}${scale > 0 ? `.${digits.slice(point)}` : ''}`
}

/** An integer in two's complement, the highest byte first. */
const signed = (bytes: Uint8Array): bigint =>
  bytes.length === 0 ? 0n : BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`))

const dateOf = (cell: unknown): string | null =>
  cell instanceof Date && !Number.isNaN(cell.getTime()) ? cell.toISOString() : null

/** Lists of numbers are arrays, also where they are typed ones; texts in them are bytes without a schema. */
function nested(cell: unknown): unknown {
  if (cell instanceof Uint8Array) return Buffer.from(cell).toString()
  if (cell instanceof Float32Array || cell instanceof Float64Array) return [...cell]
  if (Array.isArray(cell)) return cell.map(nested)
  if (cell instanceof Date) return cell.toISOString()
  if (typeof cell !== 'object' || cell === null) return cell ?? null
  return Object.fromEntries(Object.entries(cell).map(([name, each]) => [name, nested(each)]))
}
