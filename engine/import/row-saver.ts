import { setImmediate } from 'node:timers/promises'
import { ProtocolError, type SaveStatus } from '../base/errors.ts'
import { stringifyExact } from '../base/exact-json.ts'
import type { SavedEntity } from '../write/contract/requests.ts'
import type { LoadOptions, LoadRow, LoadSummary } from './load-options.ts'
import { lookupFor, type RelationLookup } from './relation-lookup.ts'
import { asChange, asNewEntity, keyOf } from './row-batch.ts'
import { type ReadRow, RowReader } from './row-reader.ts'
import { KEY_EXISTS, rowReasons } from './row-reasons.ts'

/** Maximum number of rows in a request, if they are not encoded in advance. */
const SAVED_AT_ONCE = 5_000

/** Number of characters that are parsed in one turn of the event loop, because the thread also serves requests. */
const CHARACTERS_PER_TURN = 256 * 1024

const UNAVAILABLE = 503
const NOT_SAVED: SaveStatus = { status: 4, statusText: 'not saved' }
const STALE_STAMP = 1263
/** Error codes for a key in a relation or a foreign key that no entity has. */
const NOT_FOUND: ReadonlySet<number> = new Set([1155, 1542])

/** A row as it was read. */
interface ReadLoadRow extends ReadRow {
  readonly row: LoadRow
}

/** An element of a save. */
interface Element {
  readonly read: ReadLoadRow
  readonly json: string
}

/** @param isEarly a later row may be the entity that this one refers to */
type OnFailed = (row: LoadRow, isEarly: boolean, reasons: readonly string[]) => void

/**
 * Saves batches of rows. Encoded rows are inserted; those that cannot be inserted as they are, for whatever reason, are sent as
 * elements of a save, which says what is wrong with each.
 */
export class RowSaver {
  private readonly lookup: RelationLookup | undefined
  private readonly reader: RowReader

  /** @throws {InputError} related entities cannot be looked up as the options say */
  constructor(
    private readonly options: LoadOptions,
    private readonly summary: LoadSummary,
    private readonly onFailed: OnFailed,
  ) {
    const { dataClass, format, target } = options
    this.lookup = lookupFor(dataClass, format, options, target)
    this.reader = this.lookup?.newReader() ?? new RowReader(dataClass, format)
  }

  /** Encodes the rows of a batch that can be new entities. @returns undefined if they have to be saved one by one */
  async encode(batch: readonly LoadRow[]): Promise<Uint8Array | undefined> {
    const { target, dataClass, format, existing, isTrial, moment } = this.options
    await this.lookup?.resolve(batch)
    // The last of several rows with the same key is the one to keep.
    if (existing === 'update' || isTrial) return undefined
    // An invalid row is passed as an empty text, so that it is skipped.
    return target.encodeRows(
      dataClass,
      this.lookup?.format ?? format,
      batch.map(row => (row.problem === undefined && !row.unresolved ? textOf(row) : '')),
      moment,
    )
  }

  async save(batch: readonly LoadRow[], packedRows: Uint8Array | undefined): Promise<void> {
    const remainingRows = await this.insert(batch, packedRows)
    const { savedAtOnce = SAVED_AT_ONCE } = this.options
    for (let start = 0; start < remainingRows.length; start += savedAtOnce)
      await this.saveEach(remainingRows.slice(start, start + savedAtOnce))
  }

  /** Saves rows that failed earlier, now that more entities exist. */
  async saveAgain(batch: readonly LoadRow[]): Promise<void> {
    await this.lookup?.resolve(batch)
    await this.save(batch, undefined)
  }

  /** @returns rows that were not inserted */
  private async insert(batch: readonly LoadRow[], packedRows: Uint8Array | undefined): Promise<readonly LoadRow[]> {
    if (!packedRows) return batch
    const { target, dataClass } = this.options
    try {
      const mark = this.options.onSend?.(batch.map(({ position }) => position))
      const indexes = [...(await target.insert(dataClass, packedRows, mark))]
      this.options.onReceived?.(indexes)
      this.summary.inserted += batch.length - indexes.length
      return indexes.map(index => batch[index]!)
    } catch (error) {
      if (isForAllRows(error)) throw error
      return batch
    }
  }

  private async saveEach(remainder: readonly LoadRow[]): Promise<void> {
    const { dataClass, existing } = this.options
    const rows: ReadLoadRow[] = []
    let characters = 0
    for (const row of remainder) {
      characters += row.text.length
      if (characters > CHARACTERS_PER_TURN) {
        characters = 0
        await setImmediate()
      }
      if (row.unresolved) {
        this.onFailed(row, row.unresolved.mayCome, [row.unresolved.reason])
        continue
      }
      const read = { row, ...this.reader.read({ ...row, text: textOf(row) }) }
      if (read.value instanceof Error) this.onFailed(row, false, [read.value.message])
      else rows.push(read)
    }
    const stamps = await this.stampsOf(rows)
    const updates: { read: ReadLoadRow; stamp: number }[] = []
    const take = (read: ReadLoadRow, stamp: number): void => {
      if (existing === 'update') updates.push({ read, stamp })
      else this.summary.skipped++
    }
    for (const [read, stamp] of stamps) take(read, stamp)
    const failures = new Map<ReadLoadRow, SavedEntity>()
    await this.write(
      rows.flatMap(read => (stamps.has(read) ? [] : [{ read, json: asNewEntity(read, dataClass).json }])),
      ({ read }, entity) => {
        if (!entity.failure) this.summary.inserted++
        else if (codes(entity).includes(KEY_EXISTS) && this.mayExist(read)) take(read, 0)
        else failures.set(read, entity)
      },
    )
    // An earlier row may have created the entity.
    const late = await this.stampsOf([...failures.keys()])
    for (const [read, entity] of failures) {
      const stamp = late.get(read)
      if (stamp === undefined) this.keepOrReject(read.row, entity)
      else take(read, stamp)
    }
    await this.update(updates)
  }

  /**
   * Stamps of existing entities in a database, by the rows that have their keys. The store reports an existing key together with all other
   * problems of a new entity; a database cannot, because an entity with problems is not sent to it. A change without values shows which
   * keys exist.
   */
  private async stampsOf(rows: readonly ReadLoadRow[]): Promise<Map<ReadLoadRow, number>> {
    const { target, dataClass } = this.options
    const keyedRows = !dataClass.place.tellsKeys
      ? rows.filter(read => this.mayExist(read) && (keyOf(read, dataClass) ?? null) !== null)
      : []
    if (keyedRows.length === 0) return new Map()
    const body = Buffer.from(stringifyExact(keyedRows.map(read => ({ __KEY: keyOf(read, dataClass), __STAMP: 0 }))))
    const request = { kind: 'save', dataClass: dataClass.name, body, mode: 'validate', trusted: true } as const
    try {
      const { entities } = await target.write({ ...request, atomic: false })
      return new Map(entities.flatMap(({ row }, i) => (row ? [[keyedRows[i]!, stampOf(row)] as const] : [])))
    } catch (error) {
      if (isForAllRows(error)) throw error
      return new Map()
    }
  }

  /**
   * Changes existing entities. A save with a wrong stamp is refused with the current entity, which has the right stamp. If several rows
   * have the same key, one of them is saved in each round.
   */
  private async update(rows: readonly { readonly read: ReadLoadRow; readonly stamp: number }[]): Promise<void> {
    const { dataClass } = this.options
    let open = rows
    while (open.length > 0) {
      const again: { read: ReadLoadRow; stamp: number }[] = []
      await this.write(
        open.map(({ read, stamp }) => ({ read, json: asChange(read, dataClass, stamp) })),
        ({ read }, entity) => {
          if (!entity.failure) this.summary.updated++
          else if (entity.row && codes(entity).includes(STALE_STAMP)) again.push({ read, stamp: stampOf(entity.row) })
          else this.keepOrReject(read.row, entity)
        },
      )
      open = again
    }
  }

  /** Sends elements of a save. An element that makes a whole save fail is found by halving the save. */
  private async write(items: readonly Element[], each: (item: Element, entity: SavedEntity) => void): Promise<void> {
    if (items.length === 0) return
    const { target, isTrial, moment, onSend, onReceived } = this.options
    const body = Buffer.from(`[${items.map(({ json }) => json).join(',')}]`)
    const dataClass = this.options.dataClass.name
    const mode = isTrial ? 'validate' : 'update'
    let entities: readonly SavedEntity[]
    try {
      const mark = onSend?.(items.map(({ read }) => read.row.position))
      const request = { kind: 'save', dataClass, body, mode, atomic: false, trusted: true, mark, moment } as const
      entities = (await target.write(request)).entities
      onReceived?.(entities.flatMap(({ failure }, index) => (failure ? [index] : [])))
    } catch (error) {
      if (isForAllRows(error)) throw error
      const data = (error as ProtocolError).toData()
      if (items.length === 1) return each(items[0]!, { failure: { status: NOT_SAVED, error: data } })
      const half = Math.ceil(items.length / 2)
      await this.write(items.slice(0, half), each)
      return this.write(items.slice(half), each)
    }
    for (const [i, entity] of entities.entries()) each(items[i]!, entity)
  }

  private keepOrReject(row: LoadRow, entity: SavedEntity): void {
    // The last entry only says that the entity was not saved.
    const isEarly = codes(entity)
      .slice(0, -1)
      .every(code => NOT_FOUND.has(code))
    this.onFailed(row, isEarly, entity.failure ? rowReasons(entity.failure.error) : [])
  }

  /** True if the key of a row may exist. */
  private mayExist({ row }: ReadLoadRow): boolean {
    const { existing, resumed } = this.options
    return existing !== 'reject' || resumed?.uncertain.has(row.position) === true
  }
}

const textOf = ({ text, resolvedText }: LoadRow): string => resolvedText ?? text

/** True for an error that affects all rows, such as a full disk; an error of plugin code may affect only one row. */
const isForAllRows = (error: unknown): boolean => !(error instanceof ProtocolError) || error.httpStatus === UNAVAILABLE

const codes = ({ failure }: SavedEntity): number[] => failure?.error.entries.map(({ errCode }) => errCode) ?? []

/** `__STAMP` in the bytes of a row, see `row-layout.ts`. */
const stampOf = (row: Uint8Array): number => new DataView(row.buffer, row.byteOffset).getUint32(4, true)
