import type { LockHolder } from '../../caller/lock-holder.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { FIRST_TASK_ROW } from '../../query/plan/nodes/remote-query.ts'
import { identityOf } from '../../query/source/identity.ts'
import { LockTable } from '../../write/entity/lock-table.ts'
import type { RemoteRows } from '../reads/remote-rows.ts'

/** Numbers of keys without a lock that are kept until they are removed together. */
const SPARE = 1_000

/** Locks of entities of databases. A row id that belongs to a task represents its key, which has a number while it is locked. */
export class RemoteLocks {
  private readonly table: LockTable
  /** Numbers of keys, by table number and identity. */
  private readonly numbers = new Map<string, { readonly dataClass: DataClass; readonly id: number }>()
  private last = FIRST_TASK_ROW

  /**
   * @param now milliseconds since 1970
   * @param count receives the number of locks, perhaps including expired ones, for other threads
   */
  constructor(
    now: () => number,
    private readonly count?: Int32Array,
  ) {
    this.table = new LockTable(now)
    this.share()
  }

  /** Lock that keeps `owner` from changing an entity; undefined if there is none. */
  blocker(rows: RemoteRows, rowId: number, owner: string | undefined): ReturnType<LockTable['blocker']> {
    if (this.table.isEmpty) return undefined
    const id = this.idOf(rows, rowId)
    return id === undefined ? undefined : this.table.blocker(rows.table.dataClass, id, owner)
  }

  /** Locks an entity that no other owner has locked. @returns false if the owner has too many locks */
  take(rows: RemoteRows, rowId: number, holder: LockHolder): boolean {
    const { dataClass } = rows.table
    let id = this.idOf(rows, rowId)
    if (id === undefined) {
      this.removeSpare()
      id = this.last++
      this.numbers.set(textOf(rows, rowId), { dataClass, id })
    }
    const isTaken = this.table.take({ dataClass, rowId: id }, holder)
    this.share()
    return isTaken
  }

  /** Unlocks an entity. @returns true if `owner` had locked it */
  free(rows: RemoteRows, rowId: number, owner: string): boolean {
    const id = this.idOf(rows, rowId)
    const wasLocked = id !== undefined && this.table.free({ dataClass: rows.table.dataClass, rowId: id }, owner)
    this.share()
    return wasLocked
  }

  freeAll(owner: string): void {
    this.table.freeAll(owner)
    this.share()
  }

  private share(): void {
    if (this.count) Atomics.store(this.count, 0, this.table.size)
  }

  private idOf(rows: RemoteRows, rowId: number): number | undefined {
    return rowId < FIRST_TASK_ROW ? rowId : this.numbers.get(textOf(rows, rowId))?.id
  }

  private removeSpare(): void {
    if (this.numbers.size < 2 * this.table.size + SPARE) return
    for (const [text, { dataClass, id }] of this.numbers) {
      if (!this.table.blocker(dataClass, id, undefined)) this.numbers.delete(text)
    }
    if (this.numbers.size === 0) this.last = FIRST_TASK_ROW
  }
}

const textOf = (rows: RemoteRows, rowId: number): string =>
  `${rows.table.dataClass.tableNumber} ${identityOf(rowId, () => rows.keyOf(rowId)!, rows.layout)}`
