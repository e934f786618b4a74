/** The parts of the engine that only the command `tesser` uses, beside `index.ts`: files of rows, catalogs of databases, and the limits of a machine. */
export { attributeName } from './import/attribute-name.ts'
export { type ForeignFormat, hintFor } from './import/foreign-values.ts'
export { findList } from './import/find-list.ts'
export { dataClassOf } from './import/import-rows.ts'
export {
  emptySummary,
  type InterruptedLoad,
  type LoadOptions,
  type LoadSummary,
  type SettledRows,
} from './import/load-options.ts'
export { loadRows } from './import/load-rows.ts'
export { lossIn } from './import/loss.ts'
export { memberRanges } from './import/member-texts.ts'
export { type Misfit, misfits } from './import/misfit.ts'
export { nameColumns, proposeClass, type ProposedClass } from './import/propose-class.ts'
export { readBytes, readText } from './import/read-text.ts'
export { rejectedRow } from './import/rejected-row.ts'
export { columnNames, csvErrors, type ErrorRows, jsonErrors } from './import/rejected-source.ts'
export { type RelationsBy, relationsOf } from './import/relation-lookup.ts'
export { openRowFile, openTableRows, type RowFile } from './import/row-file.ts'
export type { RowFormat } from './import/row-reader.ts'
export { rowReasons } from './import/row-reasons.ts'
export { sampleBytes } from './import/sample-bytes.ts'
export { type FileSample, sampleFile, sampleTable, type TextFormat, withoutEmpty } from './import/sample-file.ts'
export { CsvSplitter } from './import/split-csv.ts'
export { rawLines, type RowText } from './import/split-rows.ts'
export { openTable, refuseSheetOptions, sheetNames } from './import/open-table.ts'
export { cellText, csvText, type TableFile, tableTexts } from './import/table-file.ts'
export { packer, unpack } from './import/unpack.ts'
export {
  ALL_TABLES,
  type CatalogColumn,
  type CatalogTable,
  placeOf,
  readTable,
} from './postgres/database/database-catalog.ts'
export { MISSING_PASSWORD } from './postgres/database/reachability.ts'
export { foldFunction } from './postgres/sql/fold-sql.ts'
export { quoteName } from './postgres/sql/quote.ts'
export { describeKernels } from './simd/kernels.ts'
