import { type ErrorData, ProtocolError, type SaveStatus } from '../base/errors.ts'
import { stringifyExact } from '../base/exact-json.ts'
import { asChange, asNewEntity, keyOf } from './row-batch.ts'
import { type ReadRow, type RowFormat, RowReader } from './row-reader.ts'
import type { RelationLookup } from './relation-lookup.ts'
import type { RowFile } from './row-file.ts'
import type { RowText } from './split-rows.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { LoadMark, SavedEntity, SaveRequest, SaveResult } from '../write/contract/requests.ts'

/** A row of a load. */
export interface LoadRow extends RowText {
  /** Index in the file; 0 is the first row. */
  position: number
  /** An interrupted load may have saved it, which is not known: if its key exists, the row is skipped. */
  mayExist?: boolean
  /** An interrupted load has kept it for another try. */
  wasKept?: boolean
  /** Its text with keys of related entities in place of other values, see {@link RelationLookup}. */
  resolved?: string
  /** Reason why a related entity was not found, and whether a later row may be it. */
  unresolved?: { readonly reason: string; readonly mayCome: boolean }
}

/** The store of a load. */
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
  insert(dataClass: DataClass, encoded: Uint8Array, mark?: LoadMark): Promise<Uint32Array>
}

interface LoadOptions {
  engine: LoadTarget
  dataClass: DataClass
  format: RowFile['format']
  rows: AsyncIterable<LoadRow[]>
  /** Finds related entities by other attributes than their keys. */
  lookup?: RelationLookup | undefined
  /** Treatment of a row whose key exists: an error, an update of that entity, or nothing. */
  existing: 'reject' | 'update' | 'skip'
  /** Time of automatic values, in milliseconds since 1970; by default that of each request to the store. */
  moment?: number | undefined
  /** Checks the rows and saves nothing. Rows that refer to others of the file are counted as {@link LoadSummary.later}. */
  isTrial?: boolean | undefined
  /** Called for each row that cannot be saved, with the reasons. */
  onRejected: (row: LoadRow & ReadRow, reasons: readonly string[]) => void
  onProgress?: (summary: Readonly<LoadSummary>) => void
  /** Rows before this one are settled or kept already; 0 by default. */
  position?: number | undefined
  /** Called once, before the first rows are saved. */
  onBegin?: () => void
  /** Called before a request with the positions of its rows. @returns the mark that its transactions store */
  onSend?: (rows: readonly number[]) => LoadMark | undefined
  /** Called with its outcome: indexes of the rows that were not saved. */
  onReceived?: (left: readonly number[]) => void
  /** Called when rows have been saved or rejected, and are on the disk. */
  onSettled?: (settled: SettledRows) => void
  /** Ends the source of the rows early. */
  signal?: AbortSignal | undefined
  /** Updated continuously, so that the caller knows what has been done when the load throws. */
  summary?: LoadSummary
  batchRows?: number
  /** Rows in a request, if they are not encoded in advance. */
  savedAtOnce?: number
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
  /** Rows of a trial that refer to entities that do not exist; the file may have them. */
  later: number
}

const BATCH_ROWS = 50_000
/** Rows in a request, if they are not encoded in advance. */
const SAVED_AT_ONCE = 5_000
/** Images make rows long, and a batch is one message to the writer. */
const BATCH_CHARACTERS = 16 * 2 ** 20
/** Maximum number of rows kept for another try at the end; further ones are rejected at once. */
const MAX_WAITING = 200_000

/** Batches that are read while another one is saved. */
const BATCHES_AHEAD = 1

const UNAVAILABLE = 503
const NOT_SAVED: SaveStatus = { status: 4, statusText: 'not saved' }
const KEY_EXISTS = 1545
const ENTITY_NOT_FOUND = 1543
const STALE_STAMP = 1263
/** Codes for a key named by a relation or a foreign key that no entity has. */
const NOT_FOUND: ReadonlySet<number> = new Set([1155, 1542])

export const emptySummary = (): LoadSummary => ({ read: 0, inserted: 0, updated: 0, skipped: 0, rejected: 0, later: 0 })

/** Rows with their positions. */
export async function* numbered(rows: AsyncIterable<RowText[]>): AsyncGenerator<LoadRow[]> {
  let position = 0
  for await (const some of rows) yield some.map(row => Object.assign(row, { position: position++ }))
}

/**
 * Saves rows in batches. Rows that refer to entities later in the file are tried again at the end, as long as that makes progress.
 * @throws {Error} from the source of the rows; saved rows stay saved
 */
export async function loadRows(options: LoadOptions): Promise<LoadSummary> {
  const load = new Load(options)
  // Batches are saved one after the other; meanwhile the next ones are read.
  const open: Promise<void>[] = []
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const batch of batches(options.rows, options.batchRows ?? BATCH_ROWS)) {
      if (open.length > BATCHES_AHEAD) await open.shift()
      const before = writing
      const encoding = load.encode(batch)
      writing = (async () => {
        const [encoded] = await Promise.all([encoding, before])
        if (load.summary.read === 0) options.onBegin?.()
        load.summary.read += batch.length
        await load.save(batch, encoded, false)
      })()
      // A failure surfaces when the promise is awaited, with a later batch; until then it must not count as unhandled.
      writing.catch(() => {})
      open.push(writing)
    }
  } finally {
    await writing
  }
  // Kept rows may refer to rows that have not been read.
  if (!options.signal?.aborted) await load.retry()
  return load.summary
}

/** A row as it was read. */
interface ReadLoadRow extends ReadRow {
  readonly row: LoadRow
}

class Load {
  readonly summary: LoadSummary
  /** Reads rows as they are in the file. */
  private readonly reader: RowReader
  /** Reads rows with keys of related entities. */
  private readonly resolvedReader: RowReader
  private waiting: { row: LoadRow; reasons: readonly string[] }[] = []
  private position: number

  constructor(private readonly options: LoadOptions) {
    this.summary = options.summary ?? emptySummary()
    this.position = options.position ?? 0
    this.reader = new RowReader(options.dataClass, options.format)
    this.resolvedReader = options.lookup?.newReader() ?? this.reader
  }

  /** Encodes rows as new entities, as far as they are. @returns undefined if they have to be saved one by one */
  async encode(batch: readonly LoadRow[]): Promise<Uint8Array | undefined> {
    const { engine, dataClass, format, existing, isTrial, lookup, moment } = this.options
    await lookup?.resolve(batch)
    // The last one of several rows with one key counts.
    if (existing === 'update' || isTrial) return undefined
    // A wrong row is empty, so that it is left.
    return engine.encodeRows(
      dataClass,
      lookup?.format ?? format,
      batch.map(row => (row.problem === undefined && !row.unresolved ? textOf(row) : '')),
      moment,
    )
  }

  /** @param isRetry the rows were kept for another try */
  async save(batch: readonly LoadRow[], encoded: Uint8Array | undefined, isRetry: boolean): Promise<void> {
    const left = await this.insert(batch, encoded)
    const { savedAtOnce = SAVED_AT_ONCE } = this.options
    for (let start = 0; start < left.length; start += savedAtOnce)
      await this.saveEach(left.slice(start, start + savedAtOnce))
    this.settle(batch, isRetry)
    this.options.onProgress?.(this.summary)
  }

  /** @returns rows that were not inserted */
  private async insert(batch: readonly LoadRow[], encoded: Uint8Array | undefined): Promise<readonly LoadRow[]> {
    if (!encoded) return batch
    const { engine, dataClass } = this.options
    try {
      const mark = this.options.onSend?.(batch.map(({ position }) => position))
      const left = [...(await engine.insert(dataClass, encoded, mark))]
      this.options.onReceived?.(left)
      this.summary.inserted += batch.length - left.length
      return left.map(index => batch[index]!)
    } catch (error) {
      if (isForAllRows(error)) throw error
      return batch
    }
  }

  private async saveEach(left: readonly LoadRow[]): Promise<void> {
    const { dataClass, existing } = this.options
    const rows: ReadLoadRow[] = []
    for (const row of left) {
      if (row.unresolved) {
        this.keep(row, row.unresolved.mayCome, [row.unresolved.reason])
        continue
      }
      const read = { row, ...this.resolvedReader.read({ ...row, text: textOf(row) }) }
      if (read.value instanceof Error) this.reject(row, [read.value.message])
      else rows.push(read)
    }
    const stamps = await this.stampsOf(rows)
    const known: { read: ReadLoadRow; stamp: number }[] = []
    const take = (read: ReadLoadRow, stamp: number): void => {
      if (existing === 'update') known.push({ read, stamp })
      else this.summary.skipped++
    }
    const isKnown = (read: ReadLoadRow): boolean => existing !== 'reject' || read.row.mayExist === true
    for (const [read, stamp] of stamps) take(read, stamp)
    const failed = new Map<ReadLoadRow, SavedEntity>()
    await this.write(
      rows.filter(read => !stamps.has(read)),
      ({ row }) => row.position,
      read => asNewEntity(read, dataClass).json,
      (read, entity) => {
        if (!entity.failure) this.summary.inserted++
        else if (codes(entity).includes(KEY_EXISTS) && isKnown(read)) take(read, 0)
        else failed.set(read, entity)
      },
    )
    // A row further up may have made the entity.
    const late = await this.stampsOf([...failed.keys()])
    for (const [read, entity] of failed) {
      const stamp = late.get(read)
      if (stamp === undefined) this.keepOrReject(read.row, entity)
      else take(read, stamp)
    }
    await this.update(known)
  }

  /**
   * Stamps of the entities in a database whose keys rows have. The store finds a key together with all other problems of a new
   * entity; a database that is not sent the entity because of them does not. A change without values tells which keys exist.
   */
  private async stampsOf(rows: readonly ReadLoadRow[]): Promise<Map<ReadLoadRow, number>> {
    const { engine, dataClass, existing } = this.options
    const keyed = dataClass.remote
      ? rows.filter(read => (existing !== 'reject' || read.row.mayExist) && (keyOf(read, dataClass) ?? null) !== null)
      : []
    if (keyed.length === 0) return new Map()
    const body = Buffer.from(stringifyExact(keyed.map(read => ({ __KEY: keyOf(read, dataClass), __STAMP: 0 }))))
    const request = { kind: 'save', dataClass: dataClass.name, body, mode: 'validate', trusted: true } as const
    try {
      const { entities } = await engine.write({ ...request, atomic: false })
      return new Map(entities.flatMap(({ row }, i) => (row ? [[keyed[i]!, stampOf(row)] as const] : [])))
    } catch (error) {
      if (isForAllRows(error)) throw error
      return new Map()
    }
  }

  private settle(batch: readonly LoadRow[], isRetry: boolean): void {
    const waiting = new Set(this.waiting.map(({ row }) => row.position))
    const before = batch.filter(({ wasKept }) => isRetry || wasKept)
    const others = batch.filter(({ wasKept }) => !isRetry && !wasKept)
    if (others.length > 0) this.position = Math.max(this.position, others.at(-1)!.position + 1)
    const positionsOf = (rows: readonly LoadRow[], isWaiting: boolean): number[] =>
      rows.flatMap(({ position }) => (waiting.has(position) === isWaiting ? [position] : []))
    this.options.onSettled?.({
      position: this.position,
      kept: positionsOf(others, true),
      tried: positionsOf(before, false),
    })
  }

  /** Tries waiting rows again until none of them can be saved. */
  async retry(): Promise<void> {
    for (let before = Number.POSITIVE_INFINITY; this.waiting.length > 0 && this.waiting.length < before; ) {
      before = this.waiting.length
      const rows = this.waiting.map(({ row }) => row)
      this.waiting = []
      for (let start = 0; start < rows.length; start += BATCH_ROWS) {
        const batch = rows.slice(start, start + BATCH_ROWS)
        await this.options.lookup?.resolve(batch)
        await this.save(batch, undefined, true)
      }
    }
    for (const { row, reasons } of this.waiting) this.reject(row, reasons)
  }

  /**
   * Changes existing entities. A save with a wrong stamp is refused with the current entity, which has the right stamp. Of several
   * rows with one key, one is saved in each round.
   */
  private async update(rows: readonly { readonly read: ReadLoadRow; readonly stamp: number }[]): Promise<void> {
    const { dataClass } = this.options
    let open = rows
    while (open.length > 0) {
      const again: { read: ReadLoadRow; stamp: number }[] = []
      await this.write(
        open,
        ({ read }) => read.row.position,
        ({ read, stamp }) => asChange(read, dataClass, stamp),
        ({ read }, entity) => {
          if (!entity.failure) this.summary.updated++
          else if (entity.row && codes(entity).includes(STALE_STAMP)) again.push({ read, stamp: stampOf(entity.row) })
          else this.keepOrReject(read.row, entity)
        },
      )
      open = again
    }
  }

  private async write<T>(
    items: readonly T[],
    position: (item: T) => number,
    json: (item: T) => string,
    each: (item: T, entity: SavedEntity) => void,
  ): Promise<void> {
    if (items.length === 0) return
    const body = Buffer.from(`[${items.map(json).join(',')}]`)
    const { moment } = this.options
    const dataClass = this.options.dataClass.name
    let entities: readonly SavedEntity[]
    try {
      const mark = this.options.onSend?.(items.map(position))
      const mode = this.options.isTrial ? 'validate' : 'update'
      const request = { kind: 'save', dataClass, body, mode, atomic: false, trusted: true, mark, moment } as const
      entities = (await this.options.engine.write(request)).entities
      this.options.onReceived?.(entities.flatMap(({ failure }, index) => (failure ? [index] : [])))
    } catch (error) {
      if (isForAllRows(error)) throw error
      const data = (error as ProtocolError).toData()
      if (items.length === 1) each(items[0]!, { failure: { status: NOT_SAVED, error: data } })
      else {
        const half = Math.ceil(items.length / 2)
        await this.write(items.slice(0, half), position, json, each)
        await this.write(items.slice(half), position, json, each)
      }
      return
    }
    for (const [i, entity] of entities.entries()) each(items[i]!, entity)
  }

  private keepOrReject(row: LoadRow, entity: SavedEntity): void {
    // The last entry only says that the entity was not saved.
    const isEarly = codes(entity)
      .slice(0, -1)
      .every(code => NOT_FOUND.has(code))
    this.keep(row, isEarly, reasons(entity))
  }

  /** @param isEarly a later row may be the entity that this one refers to */
  private keep(row: LoadRow, isEarly: boolean, reasons: readonly string[]): void {
    if (isEarly && this.options.isTrial) this.summary.later++
    else if (isEarly && this.waiting.length < MAX_WAITING) this.waiting.push({ row, reasons })
    else this.reject(row, reasons)
  }

  private reject(row: LoadRow, reasons: readonly string[]): false {
    this.summary.rejected++
    this.options.onRejected({ ...row, ...this.reader.read(row) }, reasons)
    return false
  }
}

async function* batches(rows: AsyncIterable<LoadRow[]>, size: number): AsyncGenerator<LoadRow[]> {
  let batch: LoadRow[] = []
  let characters = 0
  for await (const some of rows) {
    for (const row of some) {
      batch.push(row)
      characters += row.text.length
      if (batch.length < size && characters < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      characters = 0
    }
  }
  if (batch.length > 0) yield batch
}

const textOf = ({ text, resolved }: LoadRow): string => resolved ?? text

/** A full disk concerns all rows; an error of plugin code may concern only one of them. */
const isForAllRows = (error: unknown): boolean => !(error instanceof ProtocolError) || error.httpStatus === UNAVAILABLE

const codes = ({ failure }: SavedEntity): number[] => failure?.error.entries.map(({ errCode }) => errCode) ?? []
const reasons = ({ failure }: SavedEntity): string[] => (failure ? rowReasons(failure.error) : [])

/** Advice for rows, by the code of an error whose message advises requests to send `__KEY` and `__STAMP`, or neither. */
const ADVICE: ReadonlyMap<number, string> = new Map([
  [KEY_EXISTS, '; loaded as an update, the row changes it'],
  [ENTITY_NOT_FOUND, ''],
])

/** Reasons for a file of errors. */
export const rowReasons = ({ entries }: ErrorData): string[] =>
  entries.map(({ errCode, message }) => {
    const advice = ADVICE.get(errCode)
    return advice === undefined ? message : message.replace(/; [^;]*__STAMP[^;]*$/, advice)
  })

/** `__STAMP` in the bytes of a row, see `row-layout.ts`. */
const stampOf = (row: Uint8Array): number => new DataView(row.buffer, row.byteOffset).getUint32(4, true)
