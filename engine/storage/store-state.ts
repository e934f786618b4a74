import type { TableState } from '../data/record-store.ts'
import { type Environment, getBytes } from './environment.ts'

const GLOBAL = Buffer.from('global')
const tableKey = (tableNumber: number): Buffer => {
  const key = Buffer.allocUnsafe(2)
  key.writeUInt16BE(tableNumber)
  return key
}

/** `__GlobalStamp` of the store: the number of changes of entities so far. */
export function readGlobalStamp(environment: Environment): number {
  const bytes = getBytes(environment.state, GLOBAL)
  return bytes ? new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0) : 0
}

export function writeGlobalStamp(environment: Environment, globalStamp: number): void {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeDoubleBE(globalStamp)
  environment.state.putSync(GLOBAL, bytes)
}

export function readTableState(environment: Environment, tableNumber: number): TableState {
  const bytes = getBytes(environment.state, tableKey(tableNumber))
  if (!bytes) return { nextRowId: 0, rowCount: 0, nextAutoIncrement: 1 }
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  return { nextRowId: view.getUint32(0), rowCount: view.getUint32(4), nextAutoIncrement: view.getFloat64(8) }
}

export function writeTableState(environment: Environment, tableNumber: number, state: TableState): void {
  const bytes = Buffer.allocUnsafe(16)
  bytes.writeUInt32BE(state.nextRowId, 0)
  bytes.writeUInt32BE(state.rowCount, 4)
  bytes.writeDoubleBE(state.nextAutoIncrement, 8)
  environment.state.putSync(tableKey(tableNumber), bytes)
}
