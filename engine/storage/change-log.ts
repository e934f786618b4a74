import type { Change } from '../data/change.ts'
import type { Environment } from './environment.ts'
import { changeKey } from './keys.ts'

/** Bytes of a change in the record of a commit. */
export const CHANGE_BYTES = 7

/**
 * Maximum changes of a record, which fit into one page: finding consecutive free pages takes LMDB milliseconds in a store that
 * has many.
 */
const RECORD_CHANGES = 580

/** Maximum number of changes to read. Reading more takes longer than deriving everything from the rows. */
const MAX_CHANGES = 200_000

/**
 * The records of a commit, each with the stamp of its last change, which is its key.
 * @param globalStamp stamp of the last change; every change has its own
 */
export function* changeRecords(
  changes: readonly Change[],
  globalStamp: number,
): Generator<{ stamp: number; record: Buffer }> {
  for (let start = 0; start < changes.length; start += RECORD_CHANGES) {
    const some = changes.slice(start, start + RECORD_CHANGES)
    yield { stamp: globalStamp - changes.length + start + some.length, record: encodeChanges(some) }
  }
}

/** Encodes a record. A row that was changed several times may occur several times, in order. */
export function encodeChanges(changes: readonly Change[]): Buffer {
  const record = Buffer.allocUnsafe(changes.length * CHANGE_BYTES)
  changes.forEach(({ tableNumber, rowId, operation }, i) => {
    record.writeUInt16BE(tableNumber, i * CHANGE_BYTES)
    record.writeUInt32BE(rowId, i * CHANGE_BYTES + 2)
    record.writeUInt8(operation, i * CHANGE_BYTES + 6)
  })
  return record
}

/** See `RecordStore.changesBetween`. */
export function changesBetween(environment: Environment, from: number, to: number): Change[] | undefined {
  if (to < from || to - from > MAX_CHANGES) return undefined
  // The log is pruned from its start: if it contains the commit `from`, it contains all later commits.
  if (environment.changes.getBinaryFast(changeKey(from)) === undefined) return undefined
  const changes: Change[] = []
  let last = from
  for (const { key, value } of environment.changes.getRange({ start: changeKey(from + 1) })) {
    last = key.readDoubleBE(0)
    for (let at = 0; at < value.length; at += CHANGE_BYTES) {
      changes.push({
        tableNumber: value.readUInt16BE(at),
        rowId: value.readUInt32BE(at + 2),
        operation: value.readUInt8(at + 6),
      })
    }
  }
  return last === to ? changes : undefined
}
