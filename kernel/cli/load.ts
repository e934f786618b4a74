import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { SingleBar } from 'cli-progress'
import type { Config } from '../../config/load-config.ts'
import { openEngine } from '../../engine/index.ts'
import { suggestion } from '../../engine/suggestion.ts'
import { engineOptions } from '../main.ts'
import { ModuleBundler } from '../module-bundler.ts'
import { importPlugins } from '../plugin-loader.ts'
import { loadRows, type LoadSummary } from './load-rows.ts'
import { type Format, FORMATS, formatOf, readRows } from './read-rows.ts'

export interface LoadArguments {
  file: string
  into: string
  format?: Format | undefined
  delimiter?: string | undefined
  update: boolean
  /** File for rows that cannot be saved; `{file}.errors.ndjson` in the working directory by default. */
  errors?: string | undefined
}

/** `tesser load`. @returns true when every row has been saved */
export async function load(
  config: Config,
  { file, into, update, ...given }: LoadArguments,
  output: NodeJS.WriteStream,
): Promise<boolean> {
  const format = given.format ?? formatOf(file)
  if (!format) throw new Error(`${file} does not say its format by its name; give --format ${FORMATS.join('|')}`)
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) throw new Error(`there is no file ${file}`)

  const bundler = new ModuleBundler()
  // Their events are part of a save, and what they calculate part of an entity.
  const plugins = await importPlugins(config.plugins, config.folder, bundler)
  const engine = await openEngine({ ...engineOptions(config, plugins), memoryBytes: 0 })
  const errors = new ErrorFile(given.errors ?? `${basename(file)}.errors.ndjson`)
  const progress = showProgress(size, output)
  try {
    const dataClass = engine.catalog.dataClassesByName.get(into)
    if (!dataClass)
      throw new Error(`there is no dataclass "${into}"${suggestion(into, engine.catalog.dataClassesByName.keys())}`)
    const { delimiter } = given
    const rows = readRows(
      { path: file, format, onBytes: progress.onBytes, ...(delimiter !== undefined && { delimiter }) },
      dataClass,
    )
    const summary = await loadRows({
      engine,
      dataClass,
      rows,
      existing: update ? 'update' : 'reject',
      onRejected: (row, reasons) => errors.add(row.line, reasons, row.value instanceof Error ? row.json : row.value),
      onProgress: progress.onRows,
    })
    progress.stop()
    output.write(`${describeSummary(summary)}\n`)
    if (summary.rejected > 0) output.write(`${summary.rejected} rows could not be saved; ${errors.path} says why\n`)
    return summary.rejected === 0
  } finally {
    progress.stop()
    errors.close()
    await engine.close()
    bundler.close()
  }
}

function describeSummary({ read, inserted, updated, skipped, rejected }: LoadSummary): string {
  const parts = [`${inserted} inserted`, updated > 0 && `${updated} updated`, skipped > 0 && `${skipped} skipped`]
  return `${read} rows read: ${[...parts, rejected > 0 && `${rejected} rejected`].filter(Boolean).join(', ')}`
}

/** Rows that could not be saved, `{ line, errors, row }` each; made when there is one. */
class ErrorFile {
  private descriptor: number | undefined
  constructor(readonly path: string) {}

  add(line: number, errors: readonly string[], row: unknown): void {
    this.descriptor ??= openSync(this.path, 'w')
    writeSync(this.descriptor, `${JSON.stringify({ line, errors, row })}\n`)
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor)
    this.descriptor = undefined
  }
}

const LINE_EVERY_ROWS = 100_000

/** A bar on a terminal, a line now and then elsewhere. */
function showProgress(totalBytes: number, output: NodeJS.WriteStream) {
  const bar = output.isTTY
    ? new SingleBar({
        format: '{bar} {percentage} %  {rows} rows  {eta_formatted}',
        stream: output,
        hideCursor: true,
        clearOnComplete: true,
      })
    : undefined
  bar?.start(totalBytes, 0, { rows: 0 })
  let told = 0
  return {
    onBytes: (count: number) => bar?.increment(count),
    onRows: ({ read }: Readonly<LoadSummary>) => {
      bar?.update({ rows: read })
      if (bar || read < told + LINE_EVERY_ROWS) return
      told = read
      output.write(`${read} rows\n`)
    },
    stop: () => bar?.stop(),
  }
}
