import type { CalculatedAttribute, RelatedEntityAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { Value } from '../../catalog/value.ts'
import type { RowView } from '../../row-format/row-view.ts'
import {
  type ColumnAttribute,
  SEGMENT_ROWS,
  type Segment,
  type Snapshot,
  type TableSnapshot,
  type TextPool,
  UNPARSED,
} from '../../data/snapshot.ts'
import { rowExists } from '../../data/existing.ts'
import { fold } from '../../base/text/fold.ts'
import type { Scalar } from '../bind/predicate.ts'
import { codeOf } from '../contract/calculated-code.ts'
import type { QueryBudget } from './query-budget.ts'

/**
 * A value in comparisons: a scalar (text folded, a bool as 0 or 1, a N→1 relation as the row id of the related entity), the
 * parsed JSON of an object, true for an existing vector, image or blob; undefined for null and for rows that do not exist.
 */
export type Cell = Scalar | object | true | undefined

/** Minimum number of rows to read per segment: for fewer, reading the rows costs less than building the segment of all its rows. */
const MIN_ROWS_OF_SEGMENT = 32

/**
 * Returns a function that reads one attribute of single rows.
 * @param expectedRows expected number of rows to read, which decides between the column and the rows themselves
 * @param budget asked before long values are read
 */
export function cellReader(
  table: TableSnapshot,
  attribute: ColumnAttribute | CalculatedAttribute,
  expectedRows: number,
  budget?: QueryBudget,
): (rowId: number) => Cell {
  if (attribute.kind === 'calculated') return codeReader(table, attribute)
  const readRow = rowReader(table, attribute, budget)
  if (!readsSegments(table, expectedRows) && table.rowsToDecode(attribute, 0) > 0) return readRow
  const column = table.column(attribute)
  const segmentCount = Math.ceil(table.rowIdLimit / SEGMENT_ROWS)
  const segments: (Segment | undefined)[] = new Array(segmentCount)
  return rowId => {
    const index = Math.floor(rowId / SEGMENT_ROWS)
    if (index >= segmentCount) return undefined
    segments[index] ??= column.segment(index)
    const cell = cellOfSegment(segments[index]!, rowId % SEGMENT_ROWS)
    return cell === UNPARSED ? readRow(rowId) : cell
  }
}

/**
 * Returns a function that reads an attribute at the end of N→1 relations; undefined as soon as one of them is null.
 * @param budget asked before long values are read
 * @param last reads the attribute, if something other than its cell is wanted
 */
export function pathReader(
  relations: readonly RelatedEntityAttribute[],
  attribute: ColumnAttribute | CalculatedAttribute,
  expectedRows: number,
  { snapshot, budget }: { readonly snapshot: Snapshot; readonly budget: QueryBudget },
  last?: (rowId: number) => number | undefined,
): (rowId: number) => Cell {
  const reader = (each: ColumnAttribute | CalculatedAttribute) =>
    cellReader(snapshot.table(each.dataClass), each, expectedRows, budget)
  const readers = [...relations.map(reader), last ?? reader(attribute)]
  if (readers.length === 1) return readers[0]!
  return rowId => {
    let cell: Cell = rowId
    for (const read of readers) {
      cell = read(cell as number)
      if (cell === undefined) return undefined
    }
    return cell
  }
}

/** Texts in shared memory, as pointers. */
export interface TextPointers {
  readonly texts: TextPool
  read(rowId: number): number | undefined
}

type PointerSegment = Segment & { kind: 'pointers' }

/** Reader of a text attribute that creates no strings; undefined when its column is not in shared memory. */
export function pointerReader(
  table: TableSnapshot,
  attribute: ColumnAttribute | CalculatedAttribute,
): TextPointers | undefined {
  if (attribute.kind === 'calculated') return undefined
  if (table.rowIdLimit === 0 || table.rowsToDecode(attribute, 0) > 0) return undefined
  const column = table.column(attribute)
  const first = column.segment(0)
  if (first.kind !== 'pointers') return undefined
  const segments: (PointerSegment | undefined)[] = [first]
  let segment: PointerSegment = first
  let current = 0
  const segmentCount = Math.ceil(table.rowIdLimit / SEGMENT_ROWS)
  return {
    texts: first.texts,
    read(rowId) {
      const index = Math.floor(rowId / SEGMENT_ROWS)
      if (index >= segmentCount) return undefined
      if (index !== current) {
        segments[index] ??= column.segment(index) as PointerSegment
        segment = segments[index]!
        current = index
      }
      const entry = rowId % SEGMENT_ROWS
      return isPresent(segment, entry) ? segment.values[entry]! : undefined
    },
  }
}

/**
 * Reads a numeric attribute of many rows from the segments, without a call for each row.
 * @param rowIds fastest in ascending order
 */
export function readNumbers(
  table: TableSnapshot,
  attribute: ColumnAttribute,
  rowIds: Uint32Array,
  whenNull: number,
  budget: QueryBudget,
): Float64Array {
  const column = table.column(attribute)
  const numbers = new Float64Array(rowIds.length).fill(whenNull)
  let current = -1
  let segment: Segment | undefined
  for (let i = 0; i < rowIds.length; i++) {
    if (i % SEGMENT_ROWS === 0) budget.examine(Math.min(SEGMENT_ROWS, rowIds.length - i))
    const rowId = rowIds[i]!
    if (rowId >= table.rowIdLimit) continue
    const index = Math.floor(rowId / SEGMENT_ROWS)
    if (index !== current) {
      segment = column.segment(index)
      current = index
    }
    const entry = rowId % SEGMENT_ROWS
    const { presence: present, values } = segment as Segment & { kind: 'number' }
    if (present[entry >>> 5]! & (1 << (entry & 31))) numbers[i] = values[entry]!
  }
  return numbers
}

/** True if this many rows should be read by segments rather than one by one. */
export const readsSegments = (table: TableSnapshot, expectedRows: number): boolean =>
  expectedRows >= MIN_ROWS_OF_SEGMENT * Math.ceil(table.rowIdLimit / SEGMENT_ROWS)

function codeReader(table: TableSnapshot, attribute: CalculatedAttribute): (rowId: number) => Cell {
  const code = codeOf(attribute)
  return rowId => (rowExists(table, rowId) ? cellOf(attribute, code.value(rowId)) : undefined)
}

/** Returns a function that reads one attribute from the rows themselves. */
export function rowReader(
  table: TableSnapshot,
  attribute: ColumnAttribute,
  budget: QueryBudget | undefined,
): (rowId: number) => Cell {
  return rowId => {
    const row = table.row(rowId)
    if (row && budget) lookAt(row, attribute, budget)
    return row && cellOfRow(row, attribute)
  }
}

function lookAt(row: RowView, attribute: ColumnAttribute, budget: QueryBudget): void {
  const slot = attribute.kind === 'relatedEntity' ? undefined : row.layout.slotOf.get(attribute)
  if (slot === undefined) return
  const bytes = row.slotStart(slot + 1) - row.valueStart(slot)
  if (TYPES[(attribute as ValueAttribute).type].cell === 'json') budget.parse(bytes)
  else budget.look(bytes)
}

function cellOfRow(row: RowView, attribute: ColumnAttribute): Cell {
  if (attribute.kind === 'relatedEntity') return row.reference(row.layout.referenceOf.get(attribute)!)
  return cellOf(attribute, row.value(attribute))
}

function cellOf(attribute: ValueAttribute, value: Value | true): Cell {
  if (value === null) return undefined
  const { cell } = TYPES[attribute.type]
  switch (cell) {
    case 'text':
      return fold(value as string)
    case 'bit':
      return Number(value)
    case 'vector':
    case 'presence':
      return true
    case 'double':
    case 'integer':
    case 'date':
    case 'json':
      return value as Cell
    default:
      return cell satisfies never
  }
}

export const isPresent = (segment: Segment, entry: number): boolean =>
  (segment.presence[entry >>> 5]! & (1 << (entry & 31))) !== 0

export function cellOfSegment(segment: Segment, entry: number): Cell {
  if (!isPresent(segment, entry)) return undefined
  switch (segment.kind) {
    case 'presence':
    case 'vector':
      return true
    case 'bigint': {
      // A number if that is exact, as in all other readers, so that equal values are identical.
      const value = segment.values[entry]!
      const number = Number(value)
      return Number.isSafeInteger(number) ? number : value
    }
    case 'pointers':
      return segment.texts.text(segment.values[entry]!)
    case 'number':
    case 'text':
    case 'json':
      return segment.values[entry] as Cell
    default:
      return segment satisfies never
  }
}
