import { suggestion } from '../base/suggestion.ts'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import { emptySummary, loadRows, type LoadSummary, type LoadTarget, numbered } from './load-rows.ts'
import { type FindKeys, lookupFor, type RelationsBy } from './relation-lookup.ts'
import { rejectedRow } from './rejected-row.ts'
import { openRowFile, type RowFileOptions } from './row-file.ts'

/** Few enough that other requests, in this thread and of the writer, do not wait long. */
const BATCH_ROWS = 5_000
const SAVED_AT_ONCE = 500

/** Rows to be saved as entities, while the server runs. */
export interface ImportRequest extends RowFileOptions {
  readonly dataClass: string
  /** Treatment of a row whose key exists: an error, an update of that entity, or nothing. */
  readonly existing: 'reject' | 'update' | 'skip'
  /** Attributes by which related entities are given, by relation; by their keys otherwise. */
  readonly relations?: RelationsBy | undefined
  /** Checks the rows and saves nothing. */
  readonly isTrial?: boolean
  /** Called with each row that cannot be saved: its line, and the row as JSON, see {@link rejectedRow}. */
  readonly onRejected: (line: number, row: string) => void
  /** Updated continuously. */
  readonly summary?: LoadSummary
  /** Ends the import after the rows that are being saved. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Saves rows with the rights of the operator. A problem with a row concerns that row alone.
 * @param moment time of automatic values, in milliseconds since 1970
 * @throws {Error} the rows as a whole cannot be read; rows that were saved stay saved
 */
export async function importRows(
  engine: LoadTarget & { findKeys: FindKeys },
  catalog: Catalog,
  request: ImportRequest,
  moment: number,
): Promise<LoadSummary> {
  const { existing, isTrial, onRejected, signal, summary = emptySummary() } = request
  const dataClass = dataClassOf(request, catalog)
  const { format, rows } = await openRowFile(request, dataClass)
  return loadRows({
    engine,
    dataClass,
    format,
    rows: until(numbered(rows), signal),
    lookup: lookupFor(dataClass, format, request, engine),
    existing,
    moment,
    isTrial,
    onRejected: (row, reasons) => onRejected(row.line, rejectedRow(row, reasons)),
    summary,
    signal,
    batchRows: BATCH_ROWS,
    savedAtOnce: SAVED_AT_ONCE,
  })
}

/** @throws {Error} if there is none */
export function dataClassOf({ dataClass: name }: Pick<ImportRequest, 'dataClass'>, catalog: Catalog): DataClass {
  const dataClass = catalog.dataClassesByName.get(name)
  if (dataClass) return dataClass
  throw new Error(`there is no dataclass "${name}"${suggestion(name, catalog.dataClassesByName.keys())}`)
}

async function* until<T>(parts: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  for await (const part of parts) {
    if (signal?.aborted) return
    yield part
  }
}
