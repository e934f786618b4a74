import { InputError } from '../base/input-error.ts'
import { suggestion } from '../base/suggestion.ts'
import { excerpt } from '../base/text/excerpt.ts'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import type { LoadOptions, LoadSummary, LoadTarget } from './load-options.ts'
import { loadRows } from './load-rows.ts'
import { rejectedRow, rejectedText } from './rejected-row.ts'
import { openRowFile, type RowFileOptions } from './row-file.ts'

/** Number of rows in a batch: few enough that other requests, in this thread and in the writer, do not wait long. */
const BATCH_ROWS = 5_000
const SAVED_AT_ONCE = 500

/** Rows to be saved as entities, while the server runs. */
export interface ImportRequest
  extends RowFileOptions,
    Pick<LoadOptions, 'existing' | 'relations' | 'isTrial' | 'summary' | 'signal'> {
  readonly dataClass: string
  /** Reports rejected rows as their texts in the body. */
  readonly rejectedTexts?: boolean | undefined
  /** Called with each row that cannot be saved: its line, and the row as JSON, see {@link rejectedRow}. */
  readonly onRejected: (line: number, row: string) => void
}

/**
 * Saves rows with the rights of the operator. A problem with a row affects only that row.
 * @param moment time of automatic values, in milliseconds since 1970
 * @throws {Error} the rows as a whole cannot be read; rows that were saved stay saved
 */
export async function importRows(
  target: LoadTarget,
  catalog: Catalog,
  request: ImportRequest,
  moment: number,
): Promise<LoadSummary> {
  const dataClass = dataClassOf(request, catalog)
  return loadRows({
    ...request,
    ...(await openRowFile(request, dataClass)),
    target,
    dataClass,
    moment,
    onRejected: (row, reasons) =>
      request.onRejected(row.line, (request.rejectedTexts ? rejectedText : rejectedRow)(row, reasons)),
    batchRows: BATCH_ROWS,
    savedAtOnce: SAVED_AT_ONCE,
  })
}

/** @throws {InputError} if the dataclass does not exist */
export function dataClassOf({ dataClass: name }: Pick<ImportRequest, 'dataClass'>, catalog: Catalog): DataClass {
  const dataClass = catalog.dataClassesByName.get(name)
  if (dataClass) return dataClass
  throw new InputError(`there is no dataclass "${excerpt(name)}"${suggestion(name, catalog.dataClassesByName.keys())}`)
}
