import type { Change } from '../data/change.ts'
import { changeRecords } from './change-log.ts'
import type { Environment } from './environment.ts'
import { changeKey } from './keys.ts'

/** Share of records above the limit at which the oldest are removed, so that not every commit removes some. */
const PRUNE_SHARE = 0.01

/** The change log inside a write transaction: puts the records of a commit, and removes the oldest ones. */
export class ChangeLogWriter {
  /** Number of records; undefined when unknown. */
  private count: number | undefined

  /** @param keptRecords number of records that a reader may lag behind and still catch up */
  constructor(
    private readonly table: Environment['changes'],
    private readonly keptRecords: number,
  ) {}

  /** @param globalStamp global stamp after the last of the changes */
  put(changes: readonly Change[], globalStamp: number): void {
    let recordCount = 0
    for (const { stamp, record } of changeRecords(changes, globalStamp)) {
      this.table.putSync(changeKey(stamp), record)
      recordCount++
    }
    this.prune(recordCount)
  }

  /** Called after a rollback. */
  forget(): void {
    this.count = undefined
  }

  /** Removes the oldest records, many at a time. */
  private prune(addedCount: number): void {
    const { table, keptRecords } = this
    this.count =
      this.count === undefined ? (table.getStats() as { entryCount: number }).entryCount : this.count + addedCount
    const superfluous = this.count - keptRecords
    if (superfluous <= keptRecords * PRUNE_SHARE) return
    for (const key of [...table.getKeys({ limit: superfluous })]) table.removeSync(key)
    this.count -= superfluous
  }
}
