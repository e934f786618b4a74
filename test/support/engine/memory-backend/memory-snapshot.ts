import { strict as assert } from 'node:assert'
import type { RelatedEntityAttribute, StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import type { DataClass } from '../../../../engine/catalog/dataclass.ts'
import type { BinaryValue, Value } from '../../../../engine/catalog/value.ts'
import { SegmentBuilder } from '../../../../engine/columns/segment-builder.ts'
import { referenceOf, referencingOf } from '../../../../engine/data/reference-of.ts'
import { RemoteErrors } from '../../../../engine/data/remote-errors.ts'
import {
  type Column,
  type ColumnAttribute,
  SEGMENT_ROWS,
  SEGMENT_WORDS,
  type SecondaryIndex,
  type Segment,
  type Snapshot,
  type TableSnapshot,
} from '../../../../engine/data/snapshot.ts'
import type { RowView } from '../../../../engine/row-format/row-view.ts'
import { RowSet } from '../../../../engine/row-set/row-set.ts'
import { fakeIndex } from '../fake-table.ts'
import { type MemoryTable, type MemoryTables, NO_ENTITY } from './memory-tables.ts'

/** A state of the store with the whole tables, in which the pipeline of the store finds, sorts and adds. */
export function wholeSnapshot(local: Snapshot, tables: MemoryTables): Snapshot {
  const snapshot = joined(local, dataClass => tables.get(dataClass) && whole.get(dataClass))
  const whole = new Map([...tables].map(([key, table]) => [key, new WholeTable(key, table, snapshot)]))
  return snapshot
}

/** The same with tables that have only rows, as a task sees entities that are elsewhere. */
export function rowsSnapshot(local: Snapshot, tables: MemoryTables, whole: Snapshot): Snapshot {
  const rows = new Map([...tables].map(([key, table]) => [key, new RowsTable(key, table, whole)]))
  return joined(local, dataClass => rows.get(dataClass))
}

const joined = (local: Snapshot, other: (dataClass: DataClass) => TableSnapshot | undefined): Snapshot => ({
  globalStamp: local.globalStamp,
  table: dataClass => other(dataClass) ?? local.table(dataClass),
  release() {},
})

class WholeTable implements TableSnapshot {
  private readonly columns = new Map<ColumnAttribute, Map<number, Segment>>()

  constructor(
    readonly dataClass: DataClass,
    private readonly table: MemoryTable,
    /** With the whole tables. */
    protected readonly snapshot: Snapshot,
  ) {}

  get live(): RowSet {
    return RowSet.fromIds(this.table.rows.keys())
  }

  get rowIdLimit(): number {
    return this.table.state.nextRowId
  }

  row(rowId: number): RowView | undefined {
    return this.table.rows.get(rowId)
  }

  column(attribute: ColumnAttribute): Column {
    const segments = this.columns.get(attribute) ?? new Map<number, Segment>()
    this.columns.set(attribute, segments)
    return {
      attribute,
      segment: index => {
        const known = segments.get(index) ?? this.segment(attribute, index)
        segments.set(index, known)
        return known
      },
    }
  }

  rowsToDecode(): number {
    return 0
  }

  /** Joins with other places look up foreign keys in their index. */
  index(attribute: StorageAttribute): SecondaryIndex | undefined {
    if (!this.table.layout.references.some(({ foreignKey }) => foreignKey === attribute)) return undefined
    const values = Array.from({ length: this.rowIdLimit }, (_, rowId) => this.row(rowId)?.value(attribute) as Value)
    return fakeIndex(values)
  }

  referencing(_relation: RelatedEntityAttribute, _targetRowId: number): Uint32Array {
    return assert.fail('the foreign key leads to entities that are not in the store')
  }

  findKey(key: Value): number | undefined {
    return this.table.idOf(key)
  }

  binary(rowId: number, { name }: StorageAttribute): BinaryValue | undefined {
    return this.table.binaries.get(`${rowId} ${name}`)
  }

  private segment(attribute: ColumnAttribute, index: number): Segment {
    const first = index * SEGMENT_ROWS
    const rows = [...this.table.rows].filter(([rowId]) => rowId >= first && rowId < first + SEGMENT_ROWS)
    if (attribute.kind === 'relatedEntity') return this.targets(attribute, rows)
    const builder = new SegmentBuilder(this.table.layout, attribute)
    for (const [rowId, row] of rows) builder.put(rowId - first, row)
    return builder.finish().segment
  }

  private targets(relation: RelatedEntityAttribute, rows: readonly [number, RowView][]): Segment {
    const present = new Uint32Array(SEGMENT_WORDS)
    const values = new Float64Array(SEGMENT_ROWS)
    for (const [rowId, row] of rows) {
      const target = referenceOf(row, row.layout.referenceOf.get(relation)!, this.snapshot)
      if (target === undefined) continue
      const entry = rowId % SEGMENT_ROWS
      present[entry >>> 5]! |= 1 << (entry & 31)
      values[entry] = target
    }
    return { kind: 'number', presence: present, values }
  }
}

const ELSEWHERE = 'an order or an aggregate over a relation from another place'

/** A whole table of which only rows can be read. */
class RowsTable extends WholeTable {
  readonly rowsOnly = true

  override get live(): RowSet {
    return assert.fail(`${this.dataClass.name} has only rows`)
  }

  override get rowIdLimit(): number {
    throw RemoteErrors.NOT_HERE(ELSEWHERE, this.dataClass.name)
  }

  override column(): Column {
    throw RemoteErrors.NOT_HERE(ELSEWHERE, this.dataClass.name)
  }

  override index(): SecondaryIndex | undefined {
    return undefined
  }

  override referencing(relation: RelatedEntityAttribute, targetRowId: number): Uint32Array {
    return referencingOf(relation, targetRowId, this.snapshot)
  }

  fetch(): void {}

  rowIdOf(key: Value): number {
    return this.findKey(key) ?? NO_ENTITY
  }
}
