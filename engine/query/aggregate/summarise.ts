import type { StorageAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import { SEGMENT_ROWS, SEGMENT_WORDS, type Segment } from '../../data/snapshot.ts'
import { cellOfSegment, pointerReader, readsSegments, type TextPointers } from '../scan/cell-reader.ts'
import type { QueryContext } from '../operators/query-context.ts'
import type { RemoteValues } from '../plan/nodes/remote-query.ts'
import { overColumn } from '../execute/over-columns.ts'
import { entryOf, summariseNumbers, summaryOf } from '../scan/segment-summary.ts'
import { type Measure, valuesOf } from './measure.ts'
import { forEachValue } from './read-values.ts'
import { isRemote, type Selected } from './selected.ts'
import { summariseRemote } from './summarise-remote.ts'
import { inRange, type Item, Summary, type Totals } from './summary.ts'

/**
 * Summarises the values of some rows in one pass. Numbers and dates in the rows themselves are read segment by segment unless
 * there are only a few rows in each; everything else row by row.
 * @throws {QueryErrors.TOO_MANY_ROWS} {@link QueryErrors.TIMEOUT}
 */
export function summarise(wholeMeasure: Measure, selection: Selected, context: QueryContext): Totals {
  if (isRemote(selection)) return summariseRemote(wholeMeasure, selection, context)
  const measure = overColumnOf(wholeMeasure, context)
  return inRange(scale => (scale === 1 ? summariseRows : summariseEach)(measure, selection, context, scale))
}

function summariseRows(measure: Measure, rows: RowSet, context: QueryContext): Summary {
  const { attribute, relations, properties, values } = measure
  const isOwnNumber = relations.length === 0 && properties.length === 0 && (values === 'number' || values === 'date')
  const table = context.snapshot.table(measure.dataClass)
  const isDense = readsSegments(table, rows.size) && !table.isRestricted
  if (isOwnNumber && isDense && attribute.kind === 'storage') return summariseColumn(attribute, rows, context)
  const pointers = pointersOf(measure, context)
  return pointers ? summariseTexts(measure, pointers, rows, context) : summariseEach(measure, rows, context, 1)
}

function summariseEach(measure: Measure, rows: RowSet, context: QueryContext, scale: number): Summary {
  const summary = new Summary(context.snapshot.table(measure.dataClass).isRestricted, scale)
  forEachValue(measure, rows, context, (value, rowId) => summary.add(value, rowId))
  return summary
}

/** Summarises the distinct values of some rows. */
export function summariseDistinct(measure: Measure, selection: Selected, context: QueryContext): Totals {
  const { values, rowIds } = distinctValues(measure, selection, context)
  return inRange(scale => {
    const summary = new Summary(context.snapshot.table(measure.dataClass).isRestricted, scale)
    for (let i = 0; i < values.length; i++) summary.add(values[i]!, rowIds[i]!)
    return summary
  })
}

/** Distinct values in the order of their first rows. */
interface Distinct<Value = Item> {
  readonly values: readonly Value[]
  /** First row with each value. */
  readonly rowIds: readonly number[]
  /** Number of rows with each value. */
  readonly counts: readonly number[]
}

/** Distinct values, texts by fold. Objects and arrays inside JSON are skipped. */
export function distinctValues(wholeMeasure: Measure, selection: Selected, context: QueryContext): Distinct {
  if (isRemote(selection)) return context.remote!.distinct(selection, wholeMeasure as RemoteValues)
  const rows = selection
  const measure = overColumnOf(wholeMeasure, context)
  const pointers = pointersOf(measure, context)
  return pointers ? distinctTexts(measure, pointers, rows, context) : collectDistinct(measure, rows, context)
}

/** @param last reads the attribute of the measure, if something other than its value is wanted */
function collectDistinct<Value extends Item>(
  measure: Measure,
  rows: RowSet,
  context: QueryContext,
  last?: (rowId: number) => number | undefined,
): Distinct<Value> {
  const values: Value[] = []
  const rowIds: number[] = []
  const counts: number[] = []
  const places = new Map<Value, number>()
  forEachValue(
    measure,
    rows,
    context,
    (item, rowId) => {
      if (typeof item === 'object') return
      const value = item as Value
      const place = places.get(value)
      if (place !== undefined) {
        counts[place]!++
        return
      }
      places.set(value, values.length)
      values.push(value)
      rowIds.push(rowId)
      counts.push(1)
    },
    last,
  )
  return { values, rowIds, counts }
}

/** Measure over the column of an indexed property if possible. Its values have the type of the column: dates in objects are texts. */
function overColumnOf(measure: Measure, { snapshot }: QueryContext): Measure {
  const columnMeasure = overColumn(measure, snapshot)
  return columnMeasure === measure
    ? measure
    : { ...columnMeasure, values: valuesOf(columnMeasure.attribute, columnMeasure.properties) }
}

function summariseTexts(measure: Measure, pointers: TextPointers, rows: RowSet, context: QueryContext): Summary {
  const summary = new Summary()
  const { values, rowIds, counts } = distinctTexts(measure, pointers, rows, context)
  for (let i = 0; i < values.length; i++) summary.add(values[i]!, rowIds[i]!)
  summary.count = counts.reduce((sum, count) => sum + count, 0)
  return summary
}

/** Compares pointers only, since different texts have different pointers. */
function distinctTexts(
  measure: Measure,
  { texts, read }: TextPointers,
  rows: RowSet,
  context: QueryContext,
): Distinct<string> {
  const { values, ...others } = collectDistinct<number>(measure, rows, context, read)
  return { ...others, values: values.map(pointer => texts.text(pointer)) }
}

function pointersOf({ attribute, properties, values }: Measure, { snapshot }: QueryContext): TextPointers | undefined {
  if (values !== 'text' || properties.length > 0) return undefined
  return pointerReader(snapshot.table(attribute.dataClass), attribute as ValueAttribute)
}

function summariseColumn(attribute: StorageAttribute, rows: RowSet, { snapshot, budget }: QueryContext): Summary {
  const summary = new Summary()
  const column = snapshot.table(attribute.dataClass).column(attribute)
  const entries = new Uint32Array(SEGMENT_WORDS)
  rows.forEachBlock(SEGMENT_WORDS, (index, bits) => {
    budget.examine(SEGMENT_ROWS)
    const segment = column.segment(index)
    let missingBits = 0
    for (let word = 0; word < SEGMENT_WORDS; word++) {
      const presentBits = segment.presence[word]!
      entries[word] = bits[word]! & presentBits
      missingBits |= entries[word]! ^ presentBits
    }
    const firstRow = index * SEGMENT_ROWS
    if (segment.kind !== 'number') return addOthers(summary, segment, entries, firstRow)
    const numbers = missingBits === 0 ? summaryOf(segment) : summariseNumbers(segment, entries)
    summary.addNumbers(numbers, value => firstRow + entryOf(segment, entries, value))
  })
  return summary
}

/** Adds the values of a segment of 64-bit integers. */
function addOthers(summary: Summary, segment: Segment, entries: Uint32Array, firstRow: number): void {
  for (let word = 0; word < SEGMENT_WORDS; word++) {
    for (let bits = entries[word]!; bits !== 0; bits &= bits - 1) {
      const entry = word * 32 + (31 - Math.clz32(bits & -bits))
      summary.add(cellOfSegment(segment, entry) as number | bigint, firstRow + entry)
    }
  }
}
