import type { Test } from 'tap'
import type { RelatedEntityAttribute, StorageAttribute } from '../../../engine/catalog/attribute.ts'
import type { DataClass } from '../../../engine/catalog/dataclass.ts'
import { columnsOver, indexesOf } from '../../../engine/catalog/property-columns.ts'
import type { Value } from '../../../engine/catalog/value.ts'
import { MemoryWriter } from '../../../engine/memory/writer/memory-writer.ts'
import { createSharedMemory, SharedHeap } from '../../../engine/memory/heap/shared-heap.ts'
import { SharedStore } from '../../../engine/memory/reader/shared-store.ts'
import { changesBetween } from '../../../engine/storage/change-log.ts'
import type { RowSet } from '../../../engine/row-set/row-set.ts'
import { compareFolded } from '../../../engine/base/text/fold.ts'
import {
  type ColumnAttribute,
  SEGMENT_ROWS,
  type Segment,
  type Snapshot,
  type TableSnapshot,
} from '../../../engine/data/snapshot.ts'
import { LmdbWritable } from '../../../engine/storage/lmdb-writable.ts'
import { readGlobalStamp } from '../../../engine/storage/store-state.ts'
import { createRowStore, type RowStore, type RowWriter } from './write-rows.ts'

/** A store whose commits are applied to a shared memory, as by the writer thread. */
export interface MemoryWorld {
  path: string
  rows: RowStore
  memory: WebAssembly.Memory
  heap: SharedHeap
  writer: MemoryWriter
  /** Notes of the writer, oldest first. */
  notes: string[]
  /** Commits to LMDB only, as when the writer is between commit and version. @returns a function that publishes the version */
  commitOnly(work: (rows: RowWriter) => void): () => void
  commit(work: (rows: RowWriter) => void): void
  fill(): void
  /** Continues with a new memory, as after a start: from the image if there is one. Readers must be closed before. */
  reopen(bytes?: number): Promise<void>
  /** A reader in the given slot. */
  reader(slot: number): SharedStore
}

export function openMemoryWorld(t: Test, model: unknown, memoryBytes = 64 * 2 ** 20): MemoryWorld {
  const path = t.testdir()
  const rows = createRowStore(path, model)
  t.teardown(() => rows.environment.close())
  const { environment, catalog, layouts } = rows
  const store = new LmdbWritable(environment, rows)
  const memory = createSharedMemory(memoryBytes)!
  const onError = (error: unknown) => t.fail(String((error as Error).stack))
  const notes: string[] = []
  const onNote = (text: string) => void notes.push(text)
  const newWriter = (memory: WebAssembly.Memory) => new MemoryWriter({ memory, store, folder: path, onError, onNote })
  const world: MemoryWorld = {
    path,
    rows,
    memory,
    heap: new SharedHeap(memory),
    writer: newWriter(memory),
    notes,
    commitOnly(work) {
      environment.root.resetReadTxn()
      const before = readGlobalStamp(environment)
      rows.commit(work)
      environment.root.resetReadTxn()
      const after = readGlobalStamp(environment)
      const changes = changesBetween(environment, before, after) ?? []
      return () => world.writer.committed(changes, after)
    },
    commit: work => world.commitOnly(work)(),
    fill() {
      while (world.writer.isBuilding) world.writer.build(1)
    },
    async reopen(bytes = memoryBytes) {
      world.memory = createSharedMemory(bytes)!
      world.heap = new SharedHeap(world.memory)
      world.writer = newWriter(world.memory)
      await world.writer.load()
    },
    reader: slot =>
      new SharedStore({ store: rows.open(), memory: world.memory, catalog, layouts, cacheBytes: 2 ** 22 }, slot),
  }
  return world
}

/** Full content of a snapshot as plain values: equal for equal states, whatever store they are read from. */
export function picture(snapshot: Snapshot, dataClasses: readonly DataClass[]): unknown {
  return {
    globalStamp: snapshot.globalStamp,
    tables: dataClasses.map(dataClass => tablePicture(snapshot.table(dataClass), snapshot)),
  }
}

function tablePicture(table: TableSnapshot, snapshot: Snapshot): unknown {
  const { dataClass } = table
  const attributes = [...dataClass.attributes, ...dataClass.head.values()].flatMap(
    (each): readonly ColumnAttribute[] => {
      if (each.kind === 'storage') return [each, ...columnsOver(each)]
      return each.kind === 'relatedEntity' ? [each] : []
    },
  )
  const live = [...table.live]
  const values = new Map(attributes.map(attribute => [attribute.name, columnValues(table, attribute)]))
  const indexed = indexesOf(dataClass)
  return {
    live,
    limit: table.rowIdLimit,
    rows: live.map(rowId => rowText(table, rowId)),
    gone: table.row(table.rowIdLimit) === undefined,
    values: Object.fromEntries([...values].map(([name, column]) => [name, [...column]])),
    equal: indexed.map(attribute => equalPicture(table, attribute, values.get(attribute.name)!)),
    ordered: indexed.map(attribute => orderPicture(table, attribute, values.get(attribute.name)!)),
    keys: live.map(rowId => table.findKey(table.row(rowId)!.value(dataClass.key) as Value)),
    referencing: attributes
      .filter((each): each is RelatedEntityAttribute => each.kind === 'relatedEntity')
      .map(relation =>
        [...snapshot.table(relation.target).live].map(target => [...table.referencing(relation, target)]),
      ),
  }
}

function rowText(table: TableSnapshot, rowId: number): string {
  const row = table.row(rowId)!
  return `${row.stamp} ${row.globalStamp} ${row.buffer.toString('utf8', row.headStart, row.slotStart(row.layout.slots.length))}`
}

function columnValues(
  table: TableSnapshot,
  attribute: StorageAttribute | RelatedEntityAttribute,
): Map<number, unknown> {
  const column = table.column(attribute)
  const values = new Map<number, unknown>()
  for (let index = 0; index * SEGMENT_ROWS < table.rowIdLimit; index++) {
    const segment = column.segment(index)
    for (let entry = 0; entry < SEGMENT_ROWS; entry++) {
      if (!(segment.presence[entry >>> 5]! & (1 << (entry & 31)))) continue
      values.set(index * SEGMENT_ROWS + entry, valueAt(segment, entry))
    }
  }
  return values
}

function valueAt(segment: Segment, entry: number): unknown {
  switch (segment.kind) {
    case 'presence':
      return true
    case 'pointers':
      return segment.texts.text(segment.values[entry]!)
    case 'bigint': {
      // A segment that once held a large integer may keep its kind or not.
      const value = segment.values[entry]!
      return Number.isSafeInteger(Number(value)) ? Number(value) : value
    }
    case 'vector':
      return true
    case 'number':
      return Object.is(segment.values[entry], -0) ? 0 : segment.values[entry]
    default:
      return segment.values[entry]
  }
}

function equalPicture(table: TableSnapshot, attribute: StorageAttribute, values: Map<number, unknown>): unknown {
  const index = table.index(attribute)!
  const asked = new Set<unknown>([...values.values()].slice(0, 50))
  return [...asked, null].map(value => [
    value,
    [...index.equal((attribute.type === 'bool' && value !== null ? value === 1 : value) as Value)],
  ])
}

/** Rows in the order of an index, and the rows of some of its ranges. */
function orderPicture(table: TableSnapshot, attribute: StorageAttribute, values: Map<number, unknown>): unknown {
  const index = table.index(attribute)!
  const live = [...table.live]
  const sorted = live.toSorted((a, b) => compare(values.get(a), values.get(b)) || a - b)
  const { order } = index
  const asValue = (value: unknown) => (attribute.type === 'bool' ? value === 1 : value) as Value
  const asked = [...new Set([...values.values()].slice(0, 12))].map(asValue)
  const bounds = asked.flatMap((value, i) => [
    { lower: { value, inclusive: i % 2 === 0 } },
    { upper: { value, inclusive: i % 3 === 0 } },
    {
      lower: { value, inclusive: i % 3 === 0 },
      upper: { value: asked[(i * 7) % asked.length]!, inclusive: i % 2 === 1 },
    },
  ])
  const prefixes = asked.filter(value => typeof value === 'string').map(text => text.slice(0, text.length >> 1))
  return {
    all: order ? [...order.rowIds({ start: 0, end: order.size })] : sorted,
    middle: order ? [...order.rowIds({ start: 3, end: Math.min(order.size, 9) })] : sorted.slice(3, 9),
    groups: sorted.slice(0, 60).map(rowId => {
      if (!order) {
        const isSame = (other: number) => compare(values.get(other), values.get(rowId)) === 0
        return { start: sorted.findIndex(isSame), end: sorted.findLastIndex(isSame) + 1 }
      }
      return order.same(rowId)
    }),
    ranges: bounds.map(each => counted(index.range(each), order && index.estimate(each, 1e9))),
    prefixes: prefixes.map(prefix => counted(index.prefix(prefix), order && index.estimate({ prefix }, 1e9))),
    nulls: index.estimate({ equal: null }, 1e9),
  }
}

/** @param estimate exact if the index is in memory */
const counted = (rows: RowSet, estimate = rows.size): unknown => [[...rows], estimate]

function compare(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  if (typeof a === 'string') return compareFolded(a, b as string)
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0
}
