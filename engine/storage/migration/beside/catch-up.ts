import { isBinary } from '../../../catalog/attribute.ts'
import { DELETED, INSERTED, UPDATED } from '../../../data/change.ts'
import type { Progress } from '../../../base/progress.ts'
import type { Effect } from '../../../log/record.ts'
import { RowView } from '../../../row-format/row-view.ts'
import { changesBetween } from '../../change-log.ts'
import { type Environment, getBytes } from '../../environment.ts'
import { binaryKey, rowKey } from '../../keys.ts'
import { LmdbTransaction } from '../../lmdb-transaction.ts'
import { readGlobalStamp, readTableState, writeGlobalStamp } from '../../store-state.ts'
import { loadSchema } from '../../stored-schema.ts'
import { type StoredRow, tableRows } from '../../table-rows.ts'
import { convertRow } from '../migrate-data.ts'
import { planMigration, type TableChange } from '../plan-migration.ts'

/** Maximum rows of a transaction, and bytes of their rows in the store. */
const SLICE_ROWS = 5_000
const SLICE_BYTES = 8 * 2 ** 20

/** Entry of `meta` of the copy: numbers of the tables in which entities were inserted or deleted since the copy was created. */
const MOVED = 'movedTables'

interface CatchUpOptions {
  /** The store, which keeps its model. */
  readonly source: Environment
  /** The copy of the store, which has been brought to the other model. */
  readonly copy: Environment
  /**
   * True if the change log of the source records all changes since the last comparison. Otherwise the stamps of all rows are compared,
   * which is necessary if the data file may have been replaced since then.
   */
  readonly hasChanges: boolean
  readonly onProgress: Progress
}

/** A row that the copy has to take over. */
interface Difference {
  readonly rowId: number
  /** Row of the source; undefined for a deleted one. */
  readonly row: Uint8Array | undefined
  /** True if the copy has the row. */
  readonly isThere: boolean
}

/**
 * Updates the entities of a copy to those of its source, which may be written to meanwhile: later changes are left to the next call. A
 * crash at any point costs only time.
 * @returns number of entities that differed
 */
export function catchUp(options: CatchUpOptions): number {
  const { source, copy } = options
  source.root.resetReadTxn()
  return new CatchUp(options, readGlobalStamp(copy), readGlobalStamp(source)).run()
}

/**
 * Finds the targets of new relations again where entities were inserted or deleted since the copy was created. The source must not be
 * written to after the last {@link catchUp}.
 */
export function relink(options: CatchUpOptions): void {
  const stamp = readGlobalStamp(options.copy)
  new CatchUp(options, stamp, stamp).relink()
  options.copy.meta.removeSync(MOVED)
}

class CatchUp {
  private readonly changes: readonly TableChange[]
  private readonly transaction: LmdbTransaction

  constructor(
    private readonly options: CatchUpOptions,
    private readonly from: number,
    private readonly to: number,
  ) {
    const { source, copy } = options
    const schema = loadSchema(copy)
    this.changes = planMigration(loadSchema(source), schema).changes
    this.transaction = new LmdbTransaction(copy, schema.layouts, undefined, {})
  }

  run(): number {
    const { copy, source, hasChanges } = this.options
    const changes = hasChanges ? changesBetween(source, this.from, this.to) : undefined
    let count = 0
    for (const change of this.changes) {
      const { tableNumber } = change.after
      const rowIds =
        changes && new Set(changes.filter(each => each.tableNumber === tableNumber).map(({ rowId }) => rowId))
      count += this.takeOver(change, first => (rowIds ? this.among(change, rowIds, first) : this.all(change, first)))
    }
    // Written last, so that the next call finds the changes that an interrupted call has not copied.
    copy.root.transactionSync(() => writeGlobalStamp(copy, this.to))
    return count
  }

  relink(): void {
    const movedTables = new Set(this.options.copy.meta.get(MOVED) as number[] | undefined)
    for (const change of this.changes)
      if (change.newRelations.some(({ target }) => movedTables.has(target.tableNumber)))
        this.takeOver(change, first => this.relinked(change, first))
  }

  /** @param find differences by ascending row id, from a row id on */
  private takeOver(change: TableChange, find: (first: number) => Iterable<Difference>): number {
    const { after } = change
    const { onProgress, source } = this.options
    const total = readTableState(source, after.tableNumber).rowCount
    let count = 0
    for (let first = 0; ; ) {
      const slice: Difference[] = []
      let bytes = 0
      for (const difference of find(first)) {
        slice.push(difference)
        bytes += difference.row?.length ?? 0
        if (slice.length >= SLICE_ROWS || bytes >= SLICE_BYTES) break
      }
      if (slice.length === 0) return count
      this.apply(change, slice)
      first = slice.at(-1)!.rowId + 1
      count += slice.length
      onProgress({ dataClass: after.name, what: 'catchUp', done: count, total })
    }
  }

  private *among({ after: { tableNumber } }: TableChange, rowIds: Set<number>, first: number): Generator<Difference> {
    const { source, copy } = this.options
    for (const rowId of [...rowIds].filter(each => each >= first).sort((a, b) => a - b)) {
      const key = rowKey(tableNumber, rowId)
      const row = source.rows.get(key)
      const isThere = copy.rows.doesExist(key)
      if (row || isThere) yield { rowId, row, isThere }
    }
  }

  private *all(change: TableChange, first: number): Generator<Difference> {
    const { source, copy } = this.options
    const { tableNumber } = change.after
    const copies = tableRows(copy, tableNumber, first)
    try {
      let there = copies.next()
      for (const { rowId, bytes } of tableRows(source, tableNumber, first)) {
        for (; !there.done && there.value.rowId < rowId; there = copies.next())
          yield { rowId: there.value.rowId, row: undefined, isThere: true }
        const isThere = !there.done && there.value.rowId === rowId
        if (!isThere || !isSame(change, bytes, there.value as StoredRow)) yield { rowId, row: bytes, isThere }
        if (isThere) there = copies.next()
      }
      for (; !there.done; there = copies.next()) yield { rowId: there.value.rowId, row: undefined, isThere: true }
    } finally {
      // A slice may end before all rows have been read.
      copies.return(undefined)
    }
  }

  /** Rows whose references have changed. */
  private *relinked(change: TableChange, first: number): Generator<Difference> {
    const { source, copy } = this.options
    const { tableNumber } = change.after
    for (const { rowId, bytes } of tableRows(source, tableNumber, first)) {
      const before = getBytes(copy.rows, rowKey(tableNumber, rowId))!.slice()
      if (!this.convert(change, bytes).equals(before)) yield { rowId, row: bytes, isThere: true }
    }
  }

  private convert(change: TableChange, bytes: Uint8Array): Buffer {
    const { oldLayout, newLayout } = change
    if (oldLayout.version === newLayout.version) return Buffer.from(bytes)
    return convertRow(this.options.copy, change, this.changes, new RowView(oldLayout, bytes))
  }

  private apply(change: TableChange, slice: readonly Difference[]): void {
    const { copy, source } = this.options
    const { tableNumber } = change.after
    const binaries = change.keptPairs.filter(({ after }) => isBinary(after.type))
    const effects: Effect[] = []
    for (const { rowId, row, isThere } of slice) {
      if (!row) {
        effects.push({ kind: 'row', change: { tableNumber, rowId, operation: DELETED } })
        continue
      }
      const operation = isThere ? UPDATED : INSERTED
      effects.push({ kind: 'row', change: { tableNumber, rowId, operation, row: this.convert(change, row) } })
      for (const { after } of binaries) {
        const key = binaryKey(tableNumber, rowId, after.position)
        const value = source.binaries.get(key) ?? null
        const before = copy.binaries.get(key) ?? null
        if (value && before ? !value.equals(before) : value !== before) effects.push({ kind: 'binary', key, value })
      }
    }
    const states = new Map([[tableNumber, readTableState(source, tableNumber)]])
    this.transaction.apply([{ time: 0, globalStamp: this.from, states, effects }], () => {
      if (slice.every(({ row, isThere }) => row && isThere)) return
      const tableNumbers = new Set(copy.meta.get(MOVED) as number[] | undefined)
      copy.meta.putSync(MOVED, [...tableNumbers.add(tableNumber)])
    })
  }
}

/**
 * True if two rows have the same state. Every change of an entity gives it another global stamp; the other two values distinguish stores
 * that have diverged.
 */
function isSame({ oldLayout, newLayout }: TableChange, bytes: Uint8Array, { bytes: copiedBytes }: StoredRow): boolean {
  const [old, row] = [new RowView(oldLayout, bytes), new RowView(newLayout, copiedBytes)]
  return old.globalStamp === row.globalStamp && old.stamp === row.stamp && old.timestamp === row.timestamp
}
