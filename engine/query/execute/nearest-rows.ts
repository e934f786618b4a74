import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { TableSnapshot } from '../../data/snapshot.ts'
import { isHigherNearer } from '../../vector/math/similarity.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { filterVectors } from '../scan/filter-vectors.ts'
import { Rows } from '../contract/rows.ts'
import { sortedPage } from './sort.ts'

/** Rows of a table that are nearest to a vector, found by a scan. */
export function nearestRows(
  { dataClass, live }: TableSnapshot,
  attribute: StorageAttribute,
  vector: Float32Array,
  count: number,
  context: QueryContext,
): Uint32Array {
  const similarity = { metric: attribute.vector!.metric, vector }
  const rows = Rows.ofSet(
    filterVectors({ attribute, similarity, test: undefined }, context.snapshot.table(dataClass), live, context.budget),
  )
  const descending = isHigherNearer(similarity.metric)
  const key: SortKey = { path: attribute.name, relations: [], attribute, properties: [], descending, similarity }
  return sortedPage({ dataClass, keys: [key], skip: 0, count }, rows, undefined, context).rowIds
}
