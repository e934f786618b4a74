import type { StorageAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import { SEGMENT_ROWS, SEGMENT_WORDS, type Segment } from '../../storage/snapshot.ts'
import { cellOfSegment, pointerReader, readsSegments, type TextPointers } from '../execute/cell-reader.ts'
import type { QueryContext } from '../execute/evaluate.ts'
import { overColumn } from '../execute/over-columns.ts'
import { entryOf, summariseNumbers, summaryOf } from '../execute/segment-summary.ts'
import { type Measure, valuesOf } from './measure.ts'
import { forEachValue } from './read-values.ts'
import { type Item, Summary } from './summary.ts'

/**
 * One pass over the values of some rows. Numbers and dates of the rows' own are read segment by segment unless there are
 * only a few in each; everything else row by row.
 * @throws {QueryErrors.TOO_MANY_ROWS} {@link QueryErrors.TIMEOUT}
 */
export function summarise(whole: Measure, rows: RowSet, context: QueryContext): Summary {
  const measure = overColumnOf(whole, context)
  const { attribute, relations, properties, values } = measure
  const isOwnNumber = relations.length === 0 && properties.length === 0 && (values === 'number' || values === 'date')
  const isDense = readsSegments(context.snapshot.table(measure.dataClass), rows.size)
  if (isOwnNumber && isDense && attribute.kind === 'storage') return summariseColumn(attribute, rows, context)
  const pointers = pointersOf(measure, context)
  if (pointers) return summariseTexts(measure, pointers, rows, context)
  const summary = new Summary()
  forEachValue(measure, rows, context, (value, rowId) => summary.add(value, rowId))
  return summary
}

/** The same for each different value, once. */
export function summariseDistinct(measure: Measure, rows: RowSet, context: QueryContext): Summary {
  const summary = new Summary()
  for (const [value, rowId] of distinctValues(measure, rows, context)) summary.add(value, rowId)
  return summary
}

/** The different values, texts by fold, each with the first row that has it. Objects and arrays inside JSON are none. */
export function distinctValues(whole: Measure, rows: RowSet, context: QueryContext): Map<Item, number> {
  const measure = overColumnOf(whole, context)
  const pointers = pointersOf(measure, context)
  if (pointers) return distinctTexts(measure, pointers, rows, context).first
  const first = new Map<Item, number>()
  forEachValue(measure, rows, context, (value, rowId) => {
    if (typeof value !== 'object' && !first.has(value)) first.set(value, rowId)
  })
  return first
}

/** Its values are what the column has: of dates inside of objects the texts. */
function overColumnOf(measure: Measure, { snapshot }: QueryContext): Measure {
  const found = overColumn(measure, snapshot)
  return found === measure ? measure : { ...found, values: valuesOf(found.attribute, found.properties) }
}

function summariseTexts(measure: Measure, pointers: TextPointers, rows: RowSet, context: QueryContext): Summary {
  const summary = new Summary()
  const { first, count } = distinctTexts(measure, pointers, rows, context)
  for (const [text, rowId] of first) summary.add(text, rowId)
  summary.count = count
  return summary
}

/** Different texts have different pointers, so that only those are looked at of each row. */
function distinctTexts(
  measure: Measure,
  pointers: TextPointers,
  rows: RowSet,
  context: QueryContext,
): { first: Map<Item, number>; count: number } {
  const first = new Map<number, number>()
  let count = 0
  forEachValue(
    measure,
    rows,
    context,
    (pointer, rowId) => {
      count++
      if (!first.has(pointer as number)) first.set(pointer as number, rowId)
    },
    pointers.read,
  )
  return { first: new Map([...first].map(([pointer, rowId]) => [pointers.texts.text(pointer), rowId])), count }
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
    let missing = 0
    for (let word = 0; word < SEGMENT_WORDS; word++) {
      const present = segment.present[word]!
      entries[word] = bits[word]! & present
      missing |= entries[word]! ^ present
    }
    const firstRow = index * SEGMENT_ROWS
    if (segment.kind !== 'number') return addOthers(summary, segment, entries, firstRow)
    const numbers = missing === 0 ? summaryOf(segment) : summariseNumbers(segment, entries)
    summary.addNumbers(numbers, value => firstRow + entryOf(segment, entries, value))
  })
  return summary
}

/** 64-bit integers in a segment that has large ones. */
function addOthers(summary: Summary, segment: Segment, entries: Uint32Array, firstRow: number): void {
  for (let word = 0; word < SEGMENT_WORDS; word++) {
    for (let bits = entries[word]!; bits !== 0; bits &= bits - 1) {
      const entry = word * 32 + (31 - Math.clz32(bits & -bits))
      summary.add(cellOfSegment(segment, entry) as number | bigint, firstRow + entry)
    }
  }
}
