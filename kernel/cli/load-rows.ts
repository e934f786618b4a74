import type { DataClass } from '../../engine/catalog/dataclass.ts'
import type { Engine } from '../../engine/index.ts'
import type { SavedEntity } from '../../engine/write/requests.ts'
import type { Row } from './read-rows.ts'

export interface LoadOptions {
  engine: Pick<Engine, 'write'>
  dataClass: DataClass
  rows: AsyncIterable<Row>
  /** What becomes of a row whose key exists: an error, an update of that entity, or nothing. */
  existing: 'reject' | 'update' | 'skip'
  /** Called for each row that cannot be saved, with the reasons. */
  onRejected: (row: Row, reasons: readonly string[]) => void
  onProgress?: (summary: Readonly<LoadSummary>) => void
  batchRows?: number
}

/** Numbers of rows. */
export interface LoadSummary {
  read: number
  inserted: number
  updated: number
  skipped: number
  rejected: number
}

const BATCH_ROWS = 5_000
/** Images make rows long, and a batch is one message to the writer. */
const BATCH_CHARACTERS = 8 * 2 ** 20
/** Rows kept for another try at the end; those beyond it are rejected at once. */
const MAX_WAITING = 200_000

const KEY_EXISTS = 1545
const STALE_STAMP = 1263
/** No entity has the key that a relation or a foreign key names. */
const NOT_FOUND: ReadonlySet<number> = new Set([1155, 1542])

/**
 * Saves rows in batches. Rows that refer to entities which come later in the file are tried again at the end, as long as
 * that helps.
 * @throws {Error} what the source of the rows throws; what has been saved stays
 */
export async function loadRows(options: LoadOptions): Promise<LoadSummary> {
  const load = new Load(options)
  // While one batch is written the next is read.
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const batch of batches(options.rows, options.batchRows ?? BATCH_ROWS)) {
      await writing
      load.summary.read += batch.length
      writing = load.save(batch)
      // A failure is seen when it is awaited, with the next batch; until then it must not count as unhandled.
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
  await load.retry()
  return load.summary
}

class Load {
  readonly summary: LoadSummary = { read: 0, inserted: 0, updated: 0, skipped: 0, rejected: 0 }
  private waiting: { row: Row; entity: SavedEntity }[] = []

  constructor(private readonly options: LoadOptions) {}

  async save(batch: readonly Row[]): Promise<void> {
    const { dataClass, existing } = this.options
    const known: Row[] = []
    const rows = batch.filter(row => !(row.value instanceof Error) || this.reject(row, [row.value.message]))
    await this.write(
      rows,
      row => insertion(row, dataClass),
      (row, entity) => {
        if (!entity.failure) this.summary.inserted++
        else if (existing !== 'reject' && codes(entity).includes(KEY_EXISTS)) known.push(row)
        else this.keepOrReject(row, entity)
      },
    )
    if (existing === 'skip') this.summary.skipped += known.length
    else await this.update(known)
    this.options.onProgress?.(this.summary)
  }

  /** Tries what waits again until nothing of it can be saved any more. */
  async retry(): Promise<void> {
    for (let before = Number.POSITIVE_INFINITY; this.waiting.length > 0 && this.waiting.length < before; ) {
      before = this.waiting.length
      const rows = this.waiting.map(({ row }) => row)
      this.waiting = []
      for (let start = 0; start < rows.length; start += BATCH_ROWS)
        await this.save(rows.slice(start, start + BATCH_ROWS))
    }
    for (const { row, entity } of this.waiting) this.reject(row, reasons(entity))
  }

  /**
   * Changes existing entities. A save with a wrong stamp is refused with the entity as it is, which tells the right one;
   * of several rows with one key the next one gets its turn in the round after.
   */
  private async update(rows: readonly Row[]): Promise<void> {
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
    const { entities } = await this.options.engine.write({
      kind: 'save',
      dataClass,
      body,
      mode: 'update',
      atomic: false,
      trusted: true,
    })
    for (const [i, entity] of entities.entries()) each(items[i]!, entity)
  }

  private keepOrReject(row: Row, entity: SavedEntity): void {
    // The last entry only says that the entity was not saved.
    const isEarly = codes(entity)
      .slice(0, -1)
      .every(code => NOT_FOUND.has(code))
    if (isEarly && this.waiting.length < MAX_WAITING) this.waiting.push({ row, entity })
    else this.reject(row, reasons(entity))
  }

  private reject(row: Row, reasons: readonly string[]): false {
    this.summary.rejected++
    this.options.onRejected(row, reasons)
    return false
  }
}

async function* batches(rows: AsyncIterable<Row>, size: number): AsyncGenerator<Row[]> {
  let batch: Row[] = []
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

const own = (value: Row['value'], name: string): unknown =>
  Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined

/** A row of an answer of this protocol carries `__KEY`, which would make it the change of an entity. */
function insertion({ json, value }: Row, { key }: DataClass): string {
  const sent = own(value, '__KEY')
  if (sent === undefined) return json
  return extend(json, own(value, key.name) === undefined ? { __KEY: null, [key.name]: sent } : { __KEY: null })
}

const change = ({ json, value }: Row, { key }: DataClass, stamp: number): string =>
  extend(json, { __KEY: own(value, key.name) ?? own(value, '__KEY'), __STAMP: stamp })

/** A JSON object with further properties. Of two with one name the last counts, so the text of the others can stay. */
function extend(json: string, properties: Record<string, unknown>): string {
  const inner = json.slice(json.indexOf('{') + 1, json.lastIndexOf('}'))
  return `{${inner.trim() === '' ? '' : `${inner},`}${JSON.stringify(properties).slice(1)}`
}
