import type { DataClass } from '../catalog/dataclass.ts'
import type { Value } from '../catalog/value.ts'
import type { View } from '../catalog/view.ts'
import { RequiresRemote } from '../data/requires-remote.ts'
import { RowSet } from '../row-set/row-set.ts'
import { convertKey } from './bind/convert-value.ts'
import { combine, type Predicate } from './bind/predicate.ts'
import type { RemoteData, RemotePage, RemoteQuery } from './nodes/remote-query.ts'
import type { QueryContext } from './operators/query-context.ts'
import { optimizePredicate } from './plan/optimize.ts'
import type { PreparedQuery } from './plan/query-cache.ts'
import { Rows } from './contract/rows.ts'
import type { Selection } from './select.ts'
import { attributePredicate, relatedRows, relationsOf, rowOfKey } from './execute/open-source.ts'

/** Entities of a request before its filter, as a database finds them. */
interface RemoteSource extends Pick<RemoteQuery, 'among' | 'referring'> {
  readonly predicate?: Predicate
  /** Set if the entities have an order of their own. */
  readonly list?: Uint32Array | undefined
  /** Name in the request, for the message that there are none. */
  readonly name: string
}

type Question = Pick<Selection, 'request' | 'dataClass' | 'predicate' | 'orderBy'>

/**
 * Finds the entities of a selection of a remote dataclass: its database filters, sorts and counts.
 * @param page undefined for the whole selection
 * @param isUncounted true if the size of the whole selection is not needed
 * @throws {RequiresRemote} {@link RemoteNeeded} errors of the source
 */
export function remotePage(
  selection: Question,
  page: RemoteQuery['page'],
  view: View,
  context: QueryContext,
  isUncounted = false,
): RemotePage & { readonly name: string } {
  const remote = remoteOf(selection.dataClass, context)
  const { list, name, ...query } = remoteQuery(selection, page, view, context)
  if (!list || query.orderBy.length > 0) return { ...remote.find({ ...query, isUncounted }), name }
  const found = query.predicate && RowSet.fromIds(remote.find({ ...query, page: undefined }).rowIds)
  const rows = found ? list.filter(rowId => found.has(rowId)) : list
  return { rowIds: page ? rows.subarray(page.skip, page.skip + page.count) : rows, total: rows.length, name }
}

/** Entities of a request before its filter; undefined for all. @throws as {@link remotePage} */
export function remoteSource(
  request: Selection['request'],
  dataClass: DataClass,
  view: View,
  context: QueryContext,
): Rows | undefined {
  const { source } = request
  if (source.kind === 'all') return undefined
  const { rowIds } = remotePage({ request, dataClass, predicate: undefined, orderBy: [] }, undefined, view, context)
  const isOrdered = source.kind === 'keys' || (source.kind === 'rows' && source.ordered)
  return isOrdered ? Rows.found(rowIds) : Rows.ofSet(RowSet.fromIds(rowIds))
}

/**
 * Applies a query to given entities of a remote dataclass, for plugin code that queries a selection.
 * @param from undefined for all
 */
export function remoteRows(
  dataClass: DataClass,
  query: PreparedQuery,
  from: Rows | undefined,
  context: QueryContext,
  page?: RemoteQuery['page'],
): Rows {
  const remote = remoteOf(dataClass, context)
  const isListed = from !== undefined && !(from.selection instanceof RowSet)
  const { rowIds } = remote.find({
    ...remoteSelected(dataClass, query, from, context),
    isListed,
    page,
    isUncounted: true,
  })
  return isListed || query.orderBy.length > 0 ? Rows.found(rowIds) : Rows.ofSet(RowSet.fromIds(rowIds))
}

/** A selection as a question, for an aggregate. */
export function remoteSelected(
  dataClass: DataClass,
  { predicate, orderBy }: PreparedQuery,
  from: Rows | undefined,
  context: QueryContext,
): RemoteQuery {
  const among = from && keysOf(from.rowIds, dataClass, remoteOf(dataClass, context))
  return { dataClass, among, referring: undefined, predicate, orderBy, page: undefined }
}

/** The question to the database that a selection of a remote dataclass is. @throws as {@link remotePage} */
export function remoteQuery(
  { request, dataClass, predicate, orderBy }: Question,
  page: RemoteQuery['page'],
  view: View,
  context: QueryContext,
): RemoteQuery & Pick<RemoteSource, 'list' | 'name'> {
  const remote = remoteOf(dataClass, context)
  const { list, name, ...source } = openRemote(request, dataClass, view, context)
  const conditions = [source.predicate, predicate].filter(each => each !== undefined)
  return {
    dataClass,
    among: list ? keysOf(list, dataClass, remote) : source.among,
    isListed: list !== undefined,
    referring: source.referring,
    predicate: conditions.length > 0 ? combine('and', conditions) : undefined,
    orderBy,
    page,
    list,
    name,
  }
}

/** @throws {RequiresRemote} */
function remoteOf({ name }: DataClass, { remote }: QueryContext): RemoteData {
  if (!remote) throw new RequiresRemote(name)
  return remote
}

function openRemote(
  { source }: Selection['request'],
  dataClass: DataClass,
  view: View,
  context: QueryContext,
): RemoteSource {
  const { snapshot } = context
  const table = snapshot.table(dataClass)
  switch (source.kind) {
    case 'all':
      return { name: 'any', among: undefined, referring: undefined }
    case 'keys': {
      const keys = source.keys.map(key => convertKey(key, dataClass.key)).filter(key => key !== undefined)
      table.fetch!(keys.map(key => table.rowIdOf!(key)))
      const list = Uint32Array.from(new Set(source.keys.map(key => rowOfKey(table, key))))
      return { name: source.keys.join(','), list, among: undefined, referring: undefined }
    }
    case 'attribute': {
      const predicate = optimizePredicate(attributePredicate(source, dataClass, view))
      return { name: `${source.attribute}(${source.value})`, predicate, among: undefined, referring: undefined }
    }
    case 'related': {
      const { from, relation: path } = source
      const owner = view.dataClass(from.dataClass)
      const relations = relationsOf(path, owner, view)
      const rowId = rowOfKey(snapshot.table(owner), from.key)
      const name = `${from.dataClass}(${from.key})/${path}`
      const [relation] = relations
      if (relations.length === 1 && relation!.kind === 'relatedEntities') {
        const key = snapshot.table(owner).row(rowId)!.value(owner.key) as Value
        return { name, among: undefined, referring: { relation: relation!.inverse, key } }
      }
      const related = [...relatedRows(relations, RowSet.fromIds([rowId]), snapshot)]
      return { name, among: keysOf(related, dataClass, context.remote!), referring: undefined }
    }
    case 'set':
      return { name: 'in the set', list: RowSet.revive(source.members).toIds(), among: undefined, referring: undefined }
    case 'rows':
      return { name: 'in the set', list: source.rowIds, among: undefined, referring: undefined }
  }
}

const keysOf = (rowIds: Iterable<number>, dataClass: DataClass, remote: RemoteData): Value[] =>
  Array.from(rowIds, rowId => remote.keyOf(dataClass, rowId))
