import type { RowSet } from '../../row-set/row-set.ts'
import { combine, type Predicate } from '../bind/predicate.ts'
import { fetchPaths } from '../execute/open-source.ts'
import type { RemoteQuery } from '../plan/nodes/remote-query.ts'
import type { QueryContext } from '../operators/query-context.ts'
import type { Measure } from './measure.ts'

/** Entities whose values are aggregated: rows of the store, or a query of a database. */
export type Selected = RowSet | RemoteQuery

export const isRemote = (selection: Selected): selection is RemoteQuery => 'dataClass' in selection

/** Number of the entities for which a condition is true as well. */
export function countRemote(query: RemoteQuery, { remote }: QueryContext, condition?: Predicate): number {
  return remote!.find({ ...narrowQuery(query, condition), page: { skip: 0, count: 0 } }).total
}

/** The query with one more condition. */
export function narrowQuery(query: RemoteQuery, condition: Predicate | undefined): RemoteQuery {
  const conditions = [query.predicate, condition].filter(each => each !== undefined)
  return { ...query, predicate: conditions.length > 0 ? combine('and', conditions) : undefined }
}

/** Fetches all rows that are needed to write the values of a measure. @throws {Suspended} */
export function fetchValues({ dataClass, relations }: Measure, rowIds: readonly number[], context: QueryContext): void {
  const { snapshot } = context
  snapshot.table(dataClass).fetch?.(rowIds)
  const reachedIds = fetchPaths(relations, rowIds, snapshot)
  const last = relations.at(-1)
  if (last) snapshot.table(last.target).fetch?.(reachedIds)
}
