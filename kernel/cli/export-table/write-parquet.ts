import { writeFileSync } from 'node:fs'
import { InputError } from '../../../engine/base/input-error.ts'
import type { ParquetWriter } from 'hyparquet-writer'
import type { ColumnKind, ExportColumn } from './export-column.ts'
import { dayMs, type TableRows } from './table-rows.ts'

/** Maximum number of rows of a row group, which is held in memory when it is written and when it is read. */
const GROUP_ROWS = 50_000
const GROUP_CHARACTERS = 16 * 2 ** 20

/** Digits of a decimal attribute, which fit into 64 bits. */
const PRECISION = 18

/** Writes a Parquet file, one row group after the other. */
export async function writeParquet(path: string, { columns, parts }: TableRows): Promise<void> {
  const { ParquetWriter, fileWriter } = await loadWriter()
  writeFileSync(path, '', { mode: 0o600 })
  const schema = [{ name: 'root', num_children: columns.length }, ...columns.flatMap(elementsOf)]
  const writer = new ParquetWriter({ writer: fileWriter(path), schema, createdBy: 'tesser' })
  const values = columns.map(({ kind, scale }) => VALUES[kind](scale))
  let data: unknown[][] = columns.map(() => [])
  let characters = 0
  const flush = (): void => {
    const columnData = columns.map(({ name }, i) => ({ name, data: data[i]!, offsetIndex: false }))
    // Not awaited, because its writer is synchronous.
    void writer.write({ columnData, rowGroupSize: GROUP_ROWS })
    data = columns.map(() => [])
    characters = 0
  }
  for await (const rows of parts) {
    for (const cells of rows) {
      for (const [i, text] of cells.entries()) {
        characters += text?.length ?? 0
        data[i]!.push(text === null ? null : values[i]!(text))
      }
      if (data[0]!.length === GROUP_ROWS || characters > GROUP_CHARACTERS) flush()
    }
  }
  if (data[0]!.length > 0) flush()
  void writer.finish()
}

async function loadWriter(): Promise<typeof import('hyparquet-writer')> {
  try {
    return await import('hyparquet-writer')
  } catch (error) {
    throw new InputError(
      'Parquet files are written by the optional package hyparquet-writer: npm install hyparquet-writer',
      { cause: error },
    )
  }
}

/** Converts a string to a value of the package. */
type ReadValue = (text: string) => unknown

const bytes: ReadValue = text => Buffer.from(text)
const always = (read: ReadValue) => (): ReadValue => read

const VALUES: Readonly<Record<ColumnKind, (scale: number) => ReadValue>> = {
  text: always(bytes),
  bool: always(text => text === 'true'),
  integer: always(Number),
  long64: always(BigInt),
  number: always(Number),
  decimal: scale => text => unscaledValue(text, scale),
  date: always(text => new Date(text)),
  day: always(text => new Date(dayMs(text))),
  duration: always(Number),
  uuid: always(text => text),
  json: always(bytes),
  vector: always(text => JSON.parse(text) as number[]),
}

/** A decimal in units of its last place. */
function unscaledValue(text: string, scale: number): bigint {
  const [integerPart, places = ''] = text.split('.')
  return BigInt(`${integerPart}${places.padEnd(scale, '0')}`)
}

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number]
type Type = Omit<SchemaElement, 'name' | 'repetition_type'>

const TYPES: Readonly<Record<Exclude<ColumnKind, 'vector'>, (scale: number) => Type>> = {
  text: () => ({ type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } }),
  bool: () => ({ type: 'BOOLEAN' }),
  integer: () => ({ type: 'INT32' }),
  long64: () => ({ type: 'INT64' }),
  number: () => ({ type: 'DOUBLE' }),
  decimal: scale => ({
    type: 'INT64',
    converted_type: 'DECIMAL',
    logical_type: { type: 'DECIMAL', precision: PRECISION, scale },
    precision: PRECISION,
    scale,
  }),
  date: () => ({
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  }),
  day: () => ({ type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } }),
  // Milliseconds may have fractions.
  duration: () => ({ type: 'DOUBLE' }),
  uuid: () => ({ type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } }),
  // Without a converted type the package leaves the text as it is.
  json: () => ({ type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } }),
}

function elementsOf({ name, kind, scale }: ExportColumn): SchemaElement[] {
  const repetition_type = 'OPTIONAL'
  if (kind !== 'vector') return [{ name, repetition_type, ...TYPES[kind](scale) }]
  return [
    { name, repetition_type, converted_type: 'LIST', logical_type: { type: 'LIST' }, num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type, type: 'FLOAT' },
  ]
}
