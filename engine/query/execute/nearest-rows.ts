import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { TableSnapshot } from '../../storage/snapshot.ts'
import { isHigherNearer } from '../../vector/similarity.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { VectorFilter } from '../plan/physical-plan.ts'
import type { QueryContext } from './evaluate.ts'
import { filterVectors } from './filter-vectors.ts'
import { Rows } from './rows.ts'
import { sortedPage } from './sort.ts'

/** The nearest to a vector of all rows, by a scan. */
export function nearestRows(
  { dataClass, live }: TableSnapshot,
  attribute: StorageAttribute,
  vector: Float32Array,
  count: number,
  context: QueryContext,
): Uint32Array {
  const similarity = { metric: attribute.vector!.metric, vector }
  const filter: VectorFilter = { kind: 'VectorFilter', attribute, similarity, test: undefined, access: 'scan' }
  const rows = Rows.ofSet(filterVectors(filter, context.snapshot.table(dataClass), live, context.budget))
  const descending = isHigherNearer(similarity.metric)
  const key: SortKey = { path: attribute.name, relations: [], attribute, properties: [], descending, similarity }
  return sortedPage({ dataClass, keys: [key], skip: 0, count }, rows, undefined, context).rowIds
}
