import { strict as assert } from 'node:assert'
import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { BinaryValue, Value } from '../../catalog/value.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import type { Column, SecondaryIndex, Snapshot, TableSnapshot } from '../../data/snapshot.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { RowView } from '../../row-format/row-view.ts'
import type { RemoteReads } from './remote-reads.ts'

/**
 * A snapshot in which remote dataclasses have the rows that a task has read so far.
 * @throws {Suspended} from its tables, for data that have not been read yet
 */
export class RemoteSnapshot implements Snapshot {
  private readonly tables = new Map<DataClass, TableSnapshot>()

  constructor(
    private readonly local: Snapshot,
    private readonly reads: RemoteReads,
  ) {}

  get globalStamp(): number {
    return this.local.globalStamp
  }

  get vectorIndexes(): Snapshot['vectorIndexes'] {
    return this.local.vectorIndexes
  }

  table(dataClass: DataClass): TableSnapshot {
    if (!dataClass.remote) return this.local.table(dataClass)
    let table = this.tables.get(dataClass)
    if (!table) {
      table = new RemoteTableSnapshot(dataClass, this.reads)
      this.tables.set(dataClass, table)
    }
    return table
  }

  release(): void {
    this.local.release()
  }
}

const ELSEWHERE = 'an order or an aggregate over a relation from another place'

class RemoteTableSnapshot implements TableSnapshot {
  readonly rowsOnly = true

  constructor(
    readonly dataClass: DataClass,
    private readonly reads: RemoteReads,
  ) {}

  get live(): RowSet {
    return assert.fail(`all rows of ${this.dataClass.name} are in a database`)
  }

  get rowIdLimit(): number {
    throw RemoteErrors.NOT_HERE(ELSEWHERE, this.dataClass.name)
  }

  row(rowId: number): RowView | undefined {
    return this.reads.row(this.dataClass, rowId)
  }

  fetch(rowIds: Iterable<number>): void {
    this.reads.fetch(this.dataClass, rowIds)
  }

  rowIdOf(key: Value): number {
    return this.reads.rowOf(this.dataClass, key)
  }

  findKey(key: Value): number | undefined {
    const rowId = this.rowIdOf(key)
    return this.row(rowId) && rowId
  }

  referencing(relation: RelatedEntityAttribute, targetRowId: number): Uint32Array {
    return this.reads.referencing(relation, targetRowId)
  }

  fetchReferencing(relation: RelatedEntityAttribute, targetRowIds: Iterable<number>): void {
    this.reads.fetchReferencing(relation, targetRowIds)
  }

  fetchReference(relation: RelatedEntityAttribute, targetRowId: number): void {
    this.reads.fetchReference(relation, targetRowId)
  }

  column(): Column {
    throw RemoteErrors.NOT_HERE(ELSEWHERE, this.dataClass.name)
  }

  rowsToDecode(): number {
    return 0
  }

  index(): SecondaryIndex | undefined {
    return undefined
  }

  binary(_rowId: number, _attribute: StorageAttribute): BinaryValue | undefined {
    return undefined
  }
}
