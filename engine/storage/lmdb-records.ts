import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fingerprints } from '../catalog/calculated.ts'
import type { Change } from '../data/change.ts'
import type { RecordStore, RowReader, TableState } from '../data/record-store.ts'
import type { BinaryFiles } from '../files/binary-files.ts'
import { sweepIncoming } from './binary-table.ts'
import { changesBetween } from './change-log.ts'
import { DATA_FILE } from './data-file.ts'
import { EntitySetTable } from './entity-set-table.ts'
import type { Environment } from './environment.ts'
import { readFingerprints } from './fingerprints.ts'
import { LOG_FOLDER } from './store-folder.ts'
import { readGlobalStamp, readTableState } from './store-state.ts'
import { readPosition } from './store-log.ts'
import { rowReader } from './table-rows.ts'
import { UploadTable } from './upload-table.ts'

/** The LMDB tables that snapshots do not cover, in the read transaction of this thread. */
export class LmdbRecords implements RecordStore {
  readonly sets: EntitySetTable
  readonly uploads: UploadTable
  readonly files: BinaryFiles

  constructor(private readonly environment: Environment) {
    this.sets = new EntitySetTable(environment)
    this.uploads = new UploadTable(environment)
    this.files = environment.files
  }

  refresh(): void {
    this.environment.root.resetReadTxn()
  }

  globalStamp(): number {
    return readGlobalStamp(this.environment)
  }

  tableState(tableNumber: number): TableState {
    return readTableState(this.environment, tableNumber)
  }

  rowReader(tableNumber: number): RowReader {
    return rowReader(this.environment, tableNumber)
  }

  changesBetween(from: number, to: number): Change[] | undefined {
    return changesBetween(this.environment, from, to)
  }

  fingerprints(tableNumber: number): Fingerprints {
    return readFingerprints(this.environment, tableNumber)
  }

  record(key: string): unknown {
    return this.environment.records.get(key)
  }

  records(prefix: string, limit: number, after = prefix): { key: string; value: unknown }[] {
    const range = { start: after, end: `${prefix}\u{10ffff}`, limit: limit + 1 }
    const entries = [...this.environment.records.getRange(range)]
    return entries.filter(({ key }) => key > after).slice(0, limit)
  }

  lastRecords(prefix: string, limit: number): { key: string; value: unknown }[] {
    return [...this.environment.records.getRange({ start: `${prefix}\u{10ffff}`, end: prefix, reverse: true, limit })]
  }

  logEnd(): ReturnType<RecordStore['logEnd']> {
    const { sequence, hash } = readPosition(this.environment)
    return sequence === 0 ? undefined : { folder: join(this.environment.path, LOG_FOLDER), sequence, hash }
  }

  async sizes(): Promise<{ dataBytes: number; logBytes: number }> {
    const { path } = this.environment
    const folder = join(path, LOG_FOLDER)
    const names = await readdir(folder).catch(() => [])
    // The writer removes files meanwhile.
    const logs = await Promise.all(names.map(name => stat(join(folder, name)).catch(() => ({ size: 0 }))))
    const { size } = await stat(join(path, DATA_FILE))
    return { dataBytes: size, logBytes: logs.reduce((sum, log) => sum + log.size, 0) }
  }

  sweepIncoming(): Promise<void> {
    return sweepIncoming(this.environment)
  }
}
