import { type Format, tableFormatOf } from '../../../engine/base/row-formats.ts'
import type { Test } from 'tap'
import type { DataClassModel, StorageModel } from '../../../engine/catalog/model-schema.ts'
import { isLongNumber, parseExact } from '../../../engine/base/exact-json.ts'
import { bytesOf, type Engine, openEngine } from '../../../engine/index.ts'
import { loadRows } from '../../../engine/import/load-rows.ts'
import { type ProposedClass, proposeClass } from '../../../engine/import/propose-class.ts'
import { rejectedRow } from '../../../engine/import/rejected-row.ts'
import { openRowFile, openTableRows } from '../../../engine/import/row-file.ts'
import { sampleBytes } from '../../../engine/import/sample-bytes.ts'
import { type FileSample, sampleFile, sampleTable, type TextFormat } from '../../../engine/import/sample-file.ts'
import { openTable } from '../../../engine/import/open-table.ts'
import type { TableFile } from '../../../engine/import/table-file.ts'
import { engineOptions } from '../engine/engine-options.ts'

/** A file of rows, and the dataclass that is proposed for it. */
export interface GuessedFile {
  /** Bytes of a text, or a table. */
  readonly source: { readonly format: Format; readonly bytes: Buffer } | TableFile
  readonly sample: FileSample
  readonly proposed: ProposedClass
}

/** @param sampled the part of the file by which the dataclass is proposed: all of it by default */
export async function guessFile(
  bytes: Buffer,
  given: TextFormat = {},
  format: Format = 'csv',
  sampled = bytes,
): Promise<GuessedFile> {
  const { sample: begin } = await sampleBytes(inChunks(sampled))
  return guessed({ format, bytes }, await sampleFile(format, begin, given))
}

/** @param path of an Excel or a Parquet file */
export async function guessTable(path: string, given: TextFormat = {}): Promise<GuessedFile> {
  const table = await openTable(path, tableFormatOf(path)!, {})
  return guessed(table, await sampleTable(table, given))
}

function guessed(source: GuessedFile['source'], sample: FileSample): GuessedFile {
  const { columns, isTyped, hasFields, isWhole, format } = sample
  const proposed = proposeClass({
    className: 'File',
    columns,
    isTyped,
    hasFields,
    isWhole,
    format,
    names: {},
    types: {},
  })
  return { source, sample, proposed }
}

/** Types of the attributes by name, without a new key: `decimal(2)`, `day`. */
export function typesOf({ proposed: { dataClass, newKey } }: GuessedFile): Record<string, string> {
  const attributes = Object.entries(dataClass.attributes as Record<string, StorageModel>)
  return Object.fromEntries(
    attributes.filter(([name]) => name !== newKey).map(([name, model]) => [name, wordFor(model)]),
  )
}

const wordFor = ({ type, simpleDate, scale, dimension }: StorageModel): string => {
  const size = scale ?? dimension
  return simpleDate ? 'day' : size === undefined ? type : `${type}(${size})`
}

export interface LoadedFile {
  /** Values of the attributes, row by row, without a new key. Long integers are bigints, other long numbers texts. */
  readonly rows: readonly unknown[][]
  readonly rejected: readonly { readonly line: number; readonly errors: readonly string[] }[]
}

/** Loads files into the dataclasses that were proposed for them, all in one store. */
export async function loadGuessed(t: Test, files: readonly GuessedFile[], path = t.testdir({})): Promise<LoadedFile[]> {
  const dataClasses: Record<string, DataClassModel> = {}
  for (const [i, { proposed }] of files.entries()) dataClasses[`File${i}`] = proposed.dataClass
  const engine = await openEngine(engineOptions({ path, model: { name: 'files', dataClasses } }))
  try {
    const loaded: LoadedFile[] = []
    for (const [i, file] of files.entries()) loaded.push(await loadOne(engine, `File${i}`, file))
    return loaded
  } finally {
    await engine.close()
  }
}

async function loadOne(engine: Engine, dataClass: string, file: GuessedFile): Promise<LoadedFile> {
  const { source, sample, proposed } = file
  const rejected: LoadedFile['rejected'][number][] = []
  const attributes = proposed.columns.map(({ attribute }) => attribute)
  const stored = engine.catalog.dataClassesByName.get(dataClass)!
  const names = Object.fromEntries(proposed.columns.map(({ column, attribute }) => [column.name, attribute]))
  const { format, rows } =
    'bytes' in source
      ? await openRowFile(
          {
            bytes: inChunks(source.bytes),
            format: source.format,
            ...sample.format,
            ...(proposed.nulls.length > 0 && { nulls: proposed.nulls }),
            ...(source.format === 'csv' ? { attributes } : { columns: names }),
          },
          stored,
        )
      : openTableRows(source, { ...sample.format, attributes }, stored)
  await loadRows({
    target: engine.rows,
    dataClass: stored,
    format: { ...format, proposed: proposed.values },
    rows,
    existing: 'reject',
    onRejected: (row, reasons) => void rejected.push(JSON.parse(rejectedRow(row, reasons))),
  })
  const shown = Object.keys(typesOf(file))
  const body = await engine.queries.read({
    dataClass,
    source: { kind: 'all' },
    orderBy: '__GlobalStamp',
    skip: 0,
    top: Number.POSITIVE_INFINITY,
    output: { form: 'array' },
  })
  const answer = parseExact(Buffer.from((await bytesOf(body)) as Uint8Array).toString(), 'numbers')
  const found = answer as Record<string, unknown>[]
  return {
    rows: found.map(row => shown.map(name => (isLongNumber(row[name]) ? String(row[name]) : row[name]))),
    rejected,
  }
}

async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
}
