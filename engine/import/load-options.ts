import type { DataClass } from '../catalog/dataclass.ts'
import type { LoadMark, SaveRequest, SaveResult } from '../write/contract/requests.ts'
import type { FindKeys, RelatedRow, RelationsBy } from './relation-lookup.ts'
import type { ReadRow, RowFormat } from './row-reader.ts'
import type { RowText } from './split-rows.ts'

/** A row of a load. */
export interface LoadRow extends RelatedRow {
  /** Index in the file; 0 is the first row. */
  position: number
}

/** The store into which rows are loaded. */
export interface LoadTarget {
  write(request: SaveRequest): Promise<SaveResult>
  /** @returns undefined if the rows have to be written one by one */
  encodeRows(
    dataClass: DataClass,
    format: RowFormat,
    texts: readonly string[],
    moment: number | undefined,
  ): Promise<Uint8Array | undefined>
  /** @returns indexes of the rows that have to be written one by one */
  insert(dataClass: DataClass, packedRows: Uint8Array, mark?: LoadMark): Promise<Uint32Array>
  findKeys: FindKeys
}

export interface LoadOptions {
  target: LoadTarget
  dataClass: DataClass
  format: RowFormat
  rows: AsyncIterable<RowText[]>
  /** Attributes that identify related entities, by relation; without one, the key identifies them. */
  relations?: RelationsBy | undefined
  /** Attributes by column name, if the names differ. */
  columns?: Readonly<Record<string, string | null>> | undefined
  /** Treatment of a row whose key exists: an error, an update of that entity, or nothing. */
  existing: 'reject' | 'update' | 'skip'
  /** Time of automatic values, in milliseconds since 1970; by default the time of each request to the store. */
  moment?: number | undefined
  /** Checks the rows and saves nothing. Rows that refer to other rows of the file are counted as {@link LoadSummary.later}. */
  isTrial?: boolean | undefined
  /** Called for each row that cannot be saved, with the reasons. */
  onRejected: (row: LoadRow & ReadRow, reasons: readonly string[]) => void
  onProgress?: (summary: Readonly<LoadSummary>) => void
  /** Rows that an interrupted load of the same file has processed. */
  resumed?: InterruptedLoad | undefined
  /** Called once, before the first rows are saved. */
  onBegin?: () => void
  /** Called before a request with the positions of its rows. @returns the mark that its transactions store */
  onSend?: (rows: readonly number[]) => LoadMark | undefined
  /** Called with the outcome of a request: indexes of the rows that were not saved. */
  onReceived?: (indexes: readonly number[]) => void
  /** Called when rows have been saved or rejected, and are on the disk. */
  onSettled?: (settledRows: SettledRows) => void
  /** Ends the load after the rows that are being saved. */
  signal?: AbortSignal | undefined
  /** Updated continuously, so that the caller knows what has been done when the load throws. */
  summary?: LoadSummary | undefined
  batchRows?: number
  /** Maximum number of rows in a request, if they are not encoded in advance. */
  savedAtOnce?: number
}

/** Rows of an interrupted load, by their positions in the file. */
export interface InterruptedLoad {
  /** All rows before this one are settled, except for {@link kept}. */
  readonly position: number
  /** Rows before it that were kept for another try. */
  readonly kept: ReadonlySet<number>
  /** Rows that are saved, although they were not settled. */
  readonly savedRows: ReadonlySet<number>
  /** Rows that may or may not have been saved: such a row is skipped if its key exists. */
  readonly uncertain: ReadonlySet<number>
}

/** Outcome of rows, by their positions in the file. */
export interface SettledRows {
  /** All rows before this one are settled, or are kept for another try. */
  position: number
  /** Rows newly kept for another try. */
  kept: readonly number[]
  /** Rows that were kept before and are settled now. */
  tried: readonly number[]
}

/** Counts of rows. */
export interface LoadSummary {
  read: number
  inserted: number
  updated: number
  skipped: number
  rejected: number
  /** Number of rows of a trial that refer to entities that do not exist but may be in the file. */
  later: number
}

export const emptySummary = (): LoadSummary => ({ read: 0, inserted: 0, updated: 0, skipped: 0, rejected: 0, later: 0 })
