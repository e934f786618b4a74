import type { Test } from 'tap'
import type { DataClassModel, StorageModel } from '../../engine/catalog/model-schema.ts'
import { type Engine, openEngine } from '../../engine/index.ts'
import type { ForeignFormat } from '../../engine/import/foreign-values.ts'
import { type ProposedClass, proposeClass } from '../../engine/import/propose-class.ts'
import { sampleBytes } from '../../engine/import/sample-bytes.ts'
import { type FileSample, sampleFile } from '../../engine/import/sample-file.ts'
import { engineOptions } from './engine-options.ts'
import { readJson } from './read-request.ts'

/** A CSV file, and the dataclass that is proposed for it. */
export interface GuessedFile {
  readonly bytes: Buffer
  readonly sample: FileSample
  readonly proposed: ProposedClass
}

export async function guessFile(
  bytes: Buffer,
  given: ForeignFormat & { encoding?: string } = {},
): Promise<GuessedFile> {
  const { sample: begin } = await sampleBytes(inChunks(bytes))
  const sample = await sampleFile('csv', begin, given)
  const { columns, format } = sample
  const proposed = proposeClass({ className: 'File', columns, isTyped: false, format, names: {}, types: {} })
  return { bytes, sample, proposed }
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
  /** Values of the attributes, row by row, without a new key. */
  readonly rows: readonly unknown[][]
  readonly rejected: readonly { readonly line: number; readonly errors: readonly string[] }[]
}

/** Loads files into the dataclasses that were proposed for them, all in one store. */
export async function loadGuessed(t: Test, files: readonly GuessedFile[]): Promise<LoadedFile[]> {
  const dataClasses: Record<string, DataClassModel> = {}
  for (const [i, { proposed }] of files.entries()) dataClasses[`File${i}`] = proposed.dataClass
  const engine = await openEngine(engineOptions({ path: t.testdir({}), model: { name: 'files', dataClasses } }))
  try {
    const loaded: LoadedFile[] = []
    for (const [i, file] of files.entries()) loaded.push(await loadOne(engine, `File${i}`, file))
    return loaded
  } finally {
    await engine.close()
  }
}

async function loadOne(engine: Engine, dataClass: string, file: GuessedFile): Promise<LoadedFile> {
  const { bytes, sample, proposed } = file
  const rejected: LoadedFile['rejected'][number][] = []
  await engine.importRows({
    dataClass,
    bytes: inChunks(bytes),
    format: 'csv',
    existing: 'reject',
    ...sample.format,
    ...(proposed.nulls.length > 0 && { nulls: proposed.nulls }),
    attributes: proposed.columns.map(({ attribute }) => attribute),
    onRejected: (_, row) => rejected.push(JSON.parse(row)),
  })
  const names = Object.keys(typesOf(file))
  const answer = await readJson(engine, {
    dataClass,
    source: { kind: 'all' },
    orderBy: '__GlobalStamp',
    skip: 0,
    top: Number.POSITIVE_INFINITY,
    output: { form: 'array' },
  })
  return { rows: answer.map((row: Record<string, unknown>) => names.map(name => row[name])), rejected }
}

async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
}
