import { TYPES } from '../../catalog/types/registry.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import { MICROSECONDS } from './costs.ts'

function isText({ attribute }: SortKey): boolean {
  const { cell } = TYPES[attribute.type]
  return cell === 'text' || cell === 'json'
}

/** Time to sort rows up to the end of the page, in microseconds, without reading their values. */
export function sortCost(keys: readonly SortKey[], rows: number, end: number): number {
  const isTop = end * 2 < rows
  return keys.reduce((sum, key) => {
    const kind = isText(key) ? 'text' : 'number'
    return sum + rows * (isTop ? MICROSECONDS.topRow[kind] : MICROSECONDS.sortStep * Math.log2(Math.max(2, rows)))
  }, 0)
}

/**
 * Time to walk along the order of an index until the page is full, in microseconds.
 * @param span number of rows of the order, among which the members are evenly distributed
 */
export function orderCost(keys: readonly SortKey[], members: number, span: number, end: number): number {
  const { ascending, descending } = MICROSECONDS.orderStep
  const rows = span * Math.min(1, end / Math.max(1, members))
  return rows * (keys[0]!.descending ? descending : ascending)
}
