import { ProtocolError, type SaveStatus } from '../../engine/base/errors.ts'
import type { DataClass, Engine, SavedEntity } from '../../engine/index.ts'
import type { ReadRow } from './read-rows.ts'

/** A row of a load. */
export interface LoadRow extends ReadRow {
  /** Index in the file; 0 is the first row. */
  position: number
  /** An interrupted load may have saved it: if its key exists, the row is skipped. */
  mayExist?: boolean
}

interface LoadOptions {
  engine: Pick<Engine, 'write'>
  dataClass: DataClass
  rows: AsyncIterable<LoadRow>
  /** Treatment of a row whose key exists: an error, an update of that entity, or nothing. */
  existing: 'reject' | 'update' | 'skip'
  /** Called for each row that cannot be saved, with the reasons. */
  onRejected: (row: LoadRow, reasons: readonly string[]) => void
  onProgress?: (summary: Readonly<LoadSummary>) => void
  /** Called once, before the first rows are saved. */
  onBegin?: () => void
  /** Called when rows have been saved or rejected, and are on the disk. */
  onSettled?: (settled: SettledRows) => void
  /** Ends the source of the rows early. */
  signal?: AbortSignal | undefined
  /** Updated continuously, so that the caller knows what has been done when the load throws. */
  summary?: LoadSummary
  batchRows?: number
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
}

export const BATCH_ROWS = 5_000
/** Images make rows long, and a batch is one message to the writer. */
const BATCH_CHARACTERS = 8 * 2 ** 20
/** Maximum number of rows kept for another try at the end; further ones are rejected at once. */
const MAX_WAITING = 200_000

const UNAVAILABLE = 503
const NOT_SAVED: SaveStatus = { status: 4, statusText: 'not saved' }
const KEY_EXISTS = 1545
const STALE_STAMP = 1263
/** Codes for a key named by a relation or a foreign key that no entity has. */
const NOT_FOUND: ReadonlySet<number> = new Set([1155, 1542])

export const emptySummary = (): LoadSummary => ({ read: 0, inserted: 0, updated: 0, skipped: 0, rejected: 0 })

/** Rows with their positions. */
export async function* numbered(rows: AsyncIterable<ReadRow>): AsyncGenerator<LoadRow> {
  let position = 0
  for await (const row of rows) yield { ...row, position: position++ }
}

/**
 * Saves rows in batches. Rows that refer to entities later in the file are tried again at the end, as long as that makes progress.
 * @throws {Error} from the source of the rows; saved rows stay saved
 */
export async function loadRows(options: LoadOptions): Promise<LoadSummary> {
  const load = new Load(options)
  // One batch is written while the next is read.
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const batch of batches(options.rows, options.batchRows ?? BATCH_ROWS)) {
      await writing
      if (load.summary.read === 0) options.onBegin?.()
      load.summary.read += batch.length
      writing = load.save(batch, false)
      // A failure surfaces when the promise is awaited, with the next batch; until then it must not count as unhandled.
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
  // Kept rows may refer to rows that have not been read.
  if (!options.signal?.aborted) await load.retry()
  return load.summary
}

class Load {
  readonly summary: LoadSummary
  private waiting: { row: LoadRow; entity: SavedEntity }[] = []
  private position = 0

  constructor(private readonly options: LoadOptions) {
    this.summary = options.summary ?? emptySummary()
  }

  /** @param isRetry the rows were kept for another try */
  async save(batch: readonly LoadRow[], isRetry: boolean): Promise<void> {
    const { dataClass, existing } = this.options
    const known: LoadRow[] = []
    const rows = batch.filter(row => !(row.value instanceof Error) || this.reject(row, [row.value.message]))
    await this.write(
      rows,
      row => insertion(row, dataClass),
      (row, entity) => {
        if (!entity.failure) this.summary.inserted++
        else if (!codes(entity).includes(KEY_EXISTS)) this.keepOrReject(row, entity)
        else if (existing === 'update') known.push(row)
        else if (existing === 'skip' || row.mayExist) this.summary.skipped++
        else this.keepOrReject(row, entity)
      },
    )
    await this.update(known)
    this.settle(batch, isRetry)
    this.options.onProgress?.(this.summary)
  }

  private settle(batch: readonly LoadRow[], isRetry: boolean): void {
    const kept = new Set(this.waiting.map(({ row }) => row.position))
    const positions = batch.map(({ position }) => position)
    if (!isRetry) this.position = Math.max(this.position, positions.at(-1)! + 1)
    this.options.onSettled?.({
      position: this.position,
      kept: isRetry ? [] : positions.filter(position => kept.has(position)),
      tried: isRetry ? positions.filter(position => !kept.has(position)) : [],
    })
  }

  /** Tries waiting rows again until none of them can be saved. */
  async retry(): Promise<void> {
    for (let before = Number.POSITIVE_INFINITY; this.waiting.length > 0 && this.waiting.length < before; ) {
      before = this.waiting.length
      const rows = this.waiting.map(({ row }) => row)
      this.waiting = []
      for (let start = 0; start < rows.length; start += BATCH_ROWS)
        await this.save(rows.slice(start, start + BATCH_ROWS), true)
    }
    for (const { row, entity } of this.waiting) this.reject(row, reasons(entity))
  }

  /**
   * Changes existing entities. A save with a wrong stamp is refused with the current entity, which has the right stamp. Of several
   * rows with one key, one is saved in each round.
   */
  private async update(rows: readonly LoadRow[]): Promise<void> {
    const { dataClass } = this.options
    let open = rows.map(row => ({ row, stamp: 0 }))
    while (open.length > 0) {
      const again: typeof open = []
      await this.write(
        open,
        ({ row, stamp }) => change(row, dataClass, stamp),
        ({ row }, entity) => {
          if (!entity.failure) this.summary.updated++
          else if (entity.row && codes(entity).includes(STALE_STAMP)) again.push({ row, stamp: stampOf(entity.row) })
          else this.keepOrReject(row, entity)
        },
      )
      open = again
    }
  }

  private async write<T>(
    items: readonly T[],
    json: (item: T) => string,
    each: (item: T, entity: SavedEntity) => void,
  ): Promise<void> {
    if (items.length === 0) return
    const body = Buffer.from(`[${items.map(json).join(',')}]`)
    const dataClass = this.options.dataClass.name
    let entities: readonly SavedEntity[]
    try {
      const request = { kind: 'save', dataClass, body, mode: 'update', atomic: false, trusted: true } as const
      entities = (await this.options.engine.write(request)).entities
    } catch (error) {
      // A full disk concerns all rows; an error of plugin code may concern only one of them.
      if (!(error instanceof ProtocolError) || error.httpStatus === UNAVAILABLE) throw error
      if (items.length === 1) each(items[0]!, { failure: { status: NOT_SAVED, error: error.toData() } })
      else {
        const half = Math.ceil(items.length / 2)
        await this.write(items.slice(0, half), json, each)
        await this.write(items.slice(half), json, each)
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
    if (isEarly && this.waiting.length < MAX_WAITING) this.waiting.push({ row, entity })
    else this.reject(row, reasons(entity))
  }

  private reject(row: LoadRow, reasons: readonly string[]): false {
    this.summary.rejected++
    this.options.onRejected(row, reasons)
    return false
  }
}

async function* batches(rows: AsyncIterable<LoadRow>, size: number): AsyncGenerator<LoadRow[]> {
  let batch: LoadRow[] = []
  let characters = 0
  for await (const row of rows) {
    batch.push(row)
    characters += row.json.length
    if (batch.length < size && characters < BATCH_CHARACTERS) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}

const codes = ({ failure }: SavedEntity): number[] => failure?.error.entries.map(({ errCode }) => errCode) ?? []
const reasons = ({ failure }: SavedEntity): string[] => failure?.error.entries.map(({ message }) => message) ?? []

/** `__STAMP` in the bytes of a row, see `row-layout.ts`. */
const stampOf = (row: Uint8Array): number => new DataView(row.buffer, row.byteOffset).getUint32(4, true)

const own = (value: LoadRow['value'], name: string): unknown =>
  Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined

/** A row of an answer of this protocol carries `__KEY`, which would make it the change of an entity. */
function insertion({ json, value }: LoadRow, { key }: DataClass): string {
  const sent = own(value, '__KEY')
  if (sent === undefined) return json
  return extend(json, own(value, key.name) === undefined ? { __KEY: null, [key.name]: sent } : { __KEY: null })
}

const change = ({ json, value }: LoadRow, { key }: DataClass, stamp: number): string =>
  extend(json, { __KEY: own(value, key.name) ?? own(value, '__KEY'), __STAMP: stamp })

/** Adds properties to a JSON object. Of two properties with one name the last counts, so the existing text can stay. */
function extend(json: string, properties: Record<string, unknown>): string {
  const inner = json.slice(json.indexOf('{') + 1, json.lastIndexOf('}'))
  return `{${inner.trim() === '' ? '' : `${inner},`}${JSON.stringify(properties).slice(1)}`
}
