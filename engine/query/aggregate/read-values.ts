import type { ValueAttribute } from '../../catalog/attribute.ts'
import { propertyOf } from '../../catalog/property.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import { SEGMENT_ROWS } from '../../data/snapshot.ts'
import { readJson } from '../../base/read-json.ts'
import { fold } from '../../base/text/fold.ts'
import { referenceOf } from '../../data/reference-of.ts'
import { calculatedText } from '../contract/calculated-code.ts'
import { pathReader } from '../scan/cell-reader.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { type Measure, ownScalar } from './measure.ts'
import type { Item } from './summary.ts'

/**
 * Calls `visit` for each row that has a value, in ascending order. Not for an `opaque` measure.
 * @param last reads the attribute of the measure, if something other than its value is wanted
 * @throws {QueryErrors.TOO_MANY_ROWS} {@link QueryErrors.TIMEOUT}
 */
export function forEachValue(
  measure: Measure,
  rows: RowSet,
  context: QueryContext,
  visit: (value: Item | object, rowId: number) => void,
  last?: (rowId: number) => number | undefined,
): void {
  const rowIds = rows.toIds()
  const read = valueReader(measure, rowIds.length, context, last)
  for (let i = 0; i < rowIds.length; i++) {
    if (i % SEGMENT_ROWS === 0) context.budget.examine(Math.min(SEGMENT_ROWS, rowIds.length - i))
    const value = read(rowIds[i]!)
    if (typeof value === 'string') context.budget.look(value.length)
    if (value !== undefined) visit(value, rowIds[i]!)
  }
}

function valueReader(
  measure: Measure,
  rowCount: number,
  context: QueryContext,
  last?: (rowId: number) => number | undefined,
) {
  const { relations, attribute, properties } = measure
  const read = pathReader(relations, attribute as ValueAttribute, rowCount, context, last)
  if (properties.length === 0) return read
  return (rowId: number): Item | object | undefined => {
    const value = properties.reduce<unknown>(propertyOf, read(rowId)) as Item | object | null | undefined
    return typeof value === 'string' ? fold(value) : (value ?? undefined)
  }
}

/** JSON text of a value: numbers as their type writes them, other values as stored in row `rowId`, which has the value. */
export function itemText(value: Item, rowId: number, measure: Measure, { snapshot, budget }: QueryContext): string {
  const { dataClass, relations, attribute, properties, values } = measure
  // A date and a bool are numbers in a column.
  if (typeof value === 'bigint' || (typeof value === 'number' && values !== 'date' && values !== 'bool')) {
    const scalar = ownScalar(measure)
    return scalar?.descriptor.totals?.sum(BigInt(value), scalar.attribute) ?? String(value)
  }
  let owner = rowId
  let row = snapshot.table(dataClass).row(owner)!
  for (const relation of relations) {
    owner = referenceOf(row, row.layout.referenceOf.get(relation)!, snapshot)!
    row = snapshot.table(relation.target).row(owner)!
  }
  const json =
    attribute.kind === 'calculated'
      ? calculatedText(attribute, owner, row.layout.wire)
      : row.json(row.layout.slotOf.get(attribute)!)
  if (properties.length > 0) budget.parse(json.length)
  return properties.length === 0 ? json : JSON.stringify(properties.reduce(propertyOf, readJson(json)))
}
