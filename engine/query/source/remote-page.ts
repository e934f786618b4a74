import { isExactText } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import type { View } from '../../catalog/view.ts'
import { Suspended } from '../../data/suspended.ts'
import { KeyList } from '../../row-set/key-list.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { convertKey } from '../bind/convert-value.ts'
import { uniqueAttribute } from '../bind/demand-unique-address.ts'
import { combine, type Predicate } from '../bind/predicate.ts'
import type { RemoteData, RemotePage, RemoteQuery } from '../plan/nodes/remote-query.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { optimizePredicate } from '../plan/optimize.ts'
import type { PreparedQuery } from '../plan/query-cache.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import { Rows } from '../contract/rows.ts'
import type { Selection } from './select.ts'
import { rowOfIdentity } from './remote-identity.ts'
import { attributePredicate, relatedRows, relationsOf, rowOfKey } from '../execute/open-source.ts'

/** Entities of a request before its filter, as a database finds them. */
interface RemoteSource extends Pick<RemoteQuery, 'among' | 'referring'> {
  readonly predicate?: Predicate
  /** Set if the entities have an order of their own. */
  readonly list?: EntityList | undefined
  /** Name in the request, for the message that there are none. */
  readonly name: string
}

/** Entities in an order of their own, of which a page needs only some. */
interface EntityList {
  readonly size: number
  rowIds(first?: number, end?: number): Uint32Array
}

type Question = Pick<Selection, 'request' | 'dataClass' | 'predicate' | 'orderBy'>

/**
 * Finds the entities of a selection of a remote dataclass: its database filters, sorts and counts.
 * @param page undefined for the whole selection
 * @param isUncounted true if the size of the whole selection is not needed
 * @throws {Suspended} errors of the source
 */
export function remotePage(
  selection: Question,
  page: RemoteQuery['page'],
  view: View,
  context: QueryContext,
  isUncounted = false,
): RemotePage & { readonly name: string } {
  const { dataClass, request, orderBy } = selection
  const remote = remoteOf(dataClass, context)
  const source = openRemote(request, dataClass, view, context)
  const { list, name } = source
  const end = page && page.skip + page.count
  if (list && orderBy.length === 0 && !source.predicate && !selection.predicate)
    return { rowIds: list.rowIds(page?.skip, end), total: list.size, name }
  const query = questionOf(selection, source, page, remote)
  if (!list || orderBy.length > 0) return { ...remote.find({ ...query, isUncounted }), name }
  const found = RowSet.fromIds(remote.find({ ...query, page: undefined }).rowIds)
  const rows = list.rowIds().filter(rowId => found.has(rowId))
  return { rowIds: page ? rows.subarray(page.skip, end) : rows, total: rows.length, name }
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
  const isOrdered = source.kind === 'keys' || source.kind === 'keyList' || (source.kind === 'rows' && source.ordered)
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
  selection: Question,
  page: RemoteQuery['page'],
  view: View,
  context: QueryContext,
): RemoteQuery {
  const remote = remoteOf(selection.dataClass, context)
  return questionOf(selection, openRemote(selection.request, selection.dataClass, view, context), page, remote)
}

function questionOf(
  { dataClass, predicate, orderBy }: Question,
  { list, among, referring, ...source }: RemoteSource,
  page: RemoteQuery['page'],
  remote: RemoteData,
): RemoteQuery {
  const conditions = [source.predicate, predicate].filter(each => each !== undefined)
  return {
    dataClass,
    among: list ? keysOf(list.rowIds(), dataClass, remote) : among,
    isListed: list !== undefined,
    referring,
    predicate: conditions.length > 0 ? combine('and', conditions) : undefined,
    orderBy,
    page,
  }
}

/** @throws {Suspended} */
function remoteOf({ name }: DataClass, { remote }: QueryContext): RemoteData {
  if (!remote) throw new Suspended({ kind: 'entities', dataClass: name })
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
      return { name: source.keys.join(','), list: listOf(list), among: undefined, referring: undefined }
    }
    case 'attribute':
      return attributeSource(source, dataClass, view, context)
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
    case 'rows':
    case 'keyList': {
      // Every row of the database passes, and the members without a row do not.
      const condition = source.existing && { predicate: ALWAYS }
      return { name: 'in the set', list: membersOf(source, dataClass, context), ...NOT_RELATED, ...condition }
    }
  }
}

/**
 * Entities of `Class:attribute(value)`. If the attribute is unique, it is the one with this very value, otherwise the only one that a filter
 * finds.
 * @throws {QueryErrors.UNKNOWN_ENTITY} {@link QueryErrors.SEVERAL_ENTITIES} for a unique attribute
 */
function attributeSource(
  source: { readonly attribute: string; readonly value: string },
  dataClass: DataClass,
  view: View,
  context: QueryContext,
): RemoteSource {
  const name = `${source.attribute}(${source.value})`
  const predicate = optimizePredicate(attributePredicate(source, dataClass, view))
  const attribute = uniqueAttribute(source.attribute, dataClass, view)
  if (!attribute) return { name, predicate, ...NOT_RELATED }
  const find = (predicate: Predicate): Uint32Array => {
    const page = { skip: 0, count: 2 }
    const query = { dataClass, predicate, page, orderBy: [], isUncounted: true, ...NOT_RELATED }
    return remoteOf(dataClass, context).find(query).rowIds
  }
  const texts = [source.value]
  // Texts in a table that the server has made are unique by their folds.
  const isFolded = dataClass.remote!.owned && attribute !== dataClass.key
  const exact =
    isExactText(attribute) && !isFolded ? find({ kind: 'identity', attribute, texts, negated: false }) : NONE
  const found = exact.length > 0 ? exact : find(predicate)
  if (found.length === 0) throw QueryErrors.UNKNOWN_ENTITY(name, dataClass.name)
  if (found.length > 1) throw QueryErrors.SEVERAL_ENTITIES(name, dataClass.name)
  return { name, list: listOf(found), ...NOT_RELATED }
}

const NONE = new Uint32Array(0)
const ALWAYS: Predicate = { kind: 'always' }
const NOT_RELATED = { among: undefined, referring: undefined }

function membersOf(
  source: Selection['request']['source'] & { kind: 'set' | 'rows' | 'keyList' },
  dataClass: DataClass,
  { remote }: QueryContext,
): EntityList {
  if (source.kind !== 'keyList')
    return listOf(source.kind === 'set' ? RowSet.revive(source.members).toIds() : source.rowIds)
  const members = KeyList.revive(source.members)
  const { size } = members
  const rowIds = (first?: number, end?: number) =>
    Uint32Array.from(members.texts(first, end), each => rowOfIdentity(each, dataClass, remote!))
  return { size, rowIds }
}

const listOf = (rows: Uint32Array): EntityList => ({
  size: rows.length,
  rowIds: (first, end) => rows.subarray(first, end),
})

const keysOf = (rowIds: Iterable<number>, dataClass: DataClass, remote: RemoteData): Value[] =>
  Array.from(rowIds, rowId => remote.keyOf(dataClass, rowId))
