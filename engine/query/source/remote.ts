import { isExactText } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import type { View } from '../../catalog/view.ts'
import { fold } from '../../base/text/fold.ts'
import { inKeyOrder } from '../../data/key-order.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import { KeyList } from '../../row-set/key-list.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { convertKey } from '../bind/convert-value.ts'
import { uniqueAttribute } from '../bind/demand-unique-address.ts'
import { combine, type Predicate, type Scalar } from '../bind/predicate.ts'
import { FIRST_TASK_ROW, type RemoteData, type RemoteQuery } from '../plan/nodes/remote-query.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { optimizePredicate } from '../plan/optimize.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import { Rows } from '../contract/rows.ts'
import { attributePredicate, relatedRows, relationsOf, rowOfKey, sourceClass } from '../execute/open-source.ts'
import { describeRemote } from './describe-remote.ts'
import type { Finder, Found, PageRange, Selection, SelectRequest } from './finder.ts'
import { identityOf, rowOfIdentity } from './identity.ts'

/** Entities of a request before its filter, as parts of a {@link RemoteQuery}. */
interface RemoteSource extends Pick<RemoteQuery, 'among' | 'referring'> {
  readonly predicate?: Predicate
  /** Set if the entities have a given order. */
  readonly list?: EntityList | undefined
  /** Name in the request, for the error that the entities do not exist. */
  readonly name: string
}

/** Entities in a given order, of which a page needs only some. */
interface EntityList {
  readonly size: number
  rowIds(first?: number, end?: number): Uint32Array
}

type Question = Pick<Selection, 'request' | 'dataClass' | 'predicate' | 'orderBy'>

/** Finds entities outside this store. Their databases filter, sort, count and add. */
export const REMOTE: Finder = {
  operatorFor: () => undefined,

  page: (selection, page, view, context, isUncounted) => find(selection, page, view, context, isUncounted),

  all(selection, view, context) {
    const rowIds = REMOTE.rowIds(selection, view, context)
    if (rowIds.some(rowId => rowId >= FIRST_TASK_ROW)) throw RemoteErrors.NOT_HERE('this', selection.dataClass.name)
    return Rows.ofExisting(rowIds)
  },

  rowIds: (selection, view, context) => find(selection, undefined, view, context).rowIds,

  aggregateInput: (selection, view, context) =>
    questionOf(
      selection,
      openRemote(selection.request, selection.dataClass, view, context),
      undefined,
      context.remote!,
    ),

  members(selection, view, context, layouts) {
    const rows = Rows.ofExisting(REMOTE.rowIds(selection, view, context))
    return REMOTE.lasting(rows, selection.dataClass, context, layouts)
  },

  source(request, view, context) {
    const { source } = request
    if (source.kind === 'all') return undefined
    const dataClass = sourceClass(request, view)
    const { rowIds } = find({ request, dataClass, predicate: undefined, orderBy: [] }, undefined, view, context)
    const isOrdered = source.kind === 'keys' || source.kind === 'keyList' || (source.kind === 'rows' && source.ordered)
    return isOrdered ? Rows.ofExisting(rowIds) : Rows.byKey(rowIds)
  },

  describe: ({ predicate }, parts, view, { remote }) =>
    predicate && describeRemote(predicate, remote!.steps, parts, view),

  keysOf(attribute, values, context) {
    const { dataClass, unique } = attribute
    const test = { kind: 'in', values: new Set(values.map(foldedOf)) } as const
    const { rowIds } = context.remote!.find({
      ...ALL,
      dataClass,
      predicate: { kind: 'test', attribute, test, negated: false },
      page: { skip: 0, count: Number.POSITIVE_INFINITY },
      isUncounted: true,
    })
    // An exact match of a unique text takes precedence over texts with the same fold, as in addresses.
    const alike = new Map<Scalar, string[]>()
    const exact = new Map<Value, string[]>()
    const table = context.snapshot.table(dataClass)
    for (const rowId of rowIds) {
      const row = table.row(rowId)!
      const value = row.value(attribute) as Value
      keep(alike, foldedOf(value), row.key)
      if (unique) keep(exact, value, row.key)
    }
    return values.map(value => exact.get(value) ?? alike.get(foldedOf(value)) ?? [])
  },

  among(rows, query, dataClass, context, page) {
    const isListed = rows !== undefined && !(rows.selection instanceof RowSet)
    const question = REMOTE.question!(rows, query, dataClass, context)
    const { rowIds } = context.remote!.find({ ...question, isListed, page, isUncounted: true })
    return isListed || query.orderBy.length > 0 ? Rows.ofExisting(rowIds) : Rows.byKey(rowIds)
  },

  question: (rows, { predicate, orderBy }, dataClass, { remote }) => ({
    ...ALL,
    dataClass,
    among: rows && keysOf(rows.rowIds, dataClass, remote!),
    predicate,
    orderBy,
  }),

  inOrder: rowIds => Rows.ofExisting(rowIds),

  unordered: (rows, dataClass, { remote }) => Rows.byKey(inKeyOrder(rows, rowId => remote!.keyOf(dataClass, rowId))),

  withoutDeleted: rows => rows,

  lasting(rows, dataClass, { remote }, layouts) {
    const { rowIds } = rows
    if (rowIds.every(rowId => rowId < FIRST_TASK_ROW)) return rows.selection
    const layout = layouts.get(dataClass)!
    return KeyList.of(Array.from(rowIds, rowId => identityOf(rowId, () => remote!.keyOf(dataClass, rowId), layout)))
  },
}

const NOT_RELATED = { among: undefined, referring: undefined }
const ALL = { ...NOT_RELATED, orderBy: [], page: undefined }

const foldedOf = (value: Value): Scalar => (typeof value === 'string' ? fold(value) : (value as Scalar))

/** Adds a key to at most one other. */
function keep<T>(keys: Map<T, string[]>, value: T, key: string): void {
  const list = keys.get(value) ?? []
  if (list.length < 2) keys.set(value, [...list, key])
}

/** @param page undefined for the whole selection */
function find(
  question: Question,
  page: PageRange | undefined,
  view: View,
  context: QueryContext,
  isUncounted = false,
): Found {
  const { dataClass, request, orderBy, predicate } = question
  const remote = context.remote!
  const source = openRemote(request, dataClass, view, context)
  const { list, name } = source
  const end = page && page.skip + page.count
  if (list && orderBy.length === 0 && !source.predicate && !predicate)
    return { rowIds: list.rowIds(page?.skip, end), total: list.size, name }
  const query = questionOf(question, source, page, remote)
  if (!list || orderBy.length > 0) return { ...remote.find({ ...query, isUncounted }), name }
  const matches = RowSet.fromIds(remote.find({ ...query, page: undefined }).rowIds)
  const rows = list.rowIds().filter(rowId => matches.has(rowId))
  return { rowIds: page ? rows.subarray(page.skip, end) : rows, total: rows.length, name }
}

function questionOf(
  { dataClass, predicate, orderBy }: Question,
  { list, among, referring, ...source }: RemoteSource,
  page: PageRange | undefined,
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

function openRemote({ source }: SelectRequest, dataClass: DataClass, view: View, context: QueryContext): RemoteSource {
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
      const relatedIds = [...relatedRows(relations, RowSet.fromIds([rowId]), snapshot)]
      return { name, among: keysOf(relatedIds, dataClass, context.remote!), referring: undefined }
    }
    case 'set':
    case 'rows':
    case 'keyList': {
      // All rows in the database match; members without a row do not.
      const condition = source.existing && { predicate: ALWAYS }
      return { name: 'in the set', list: membersOf(source, dataClass, context), ...NOT_RELATED, ...condition }
    }
  }
}

/**
 * Entities of `Class:attribute(value)`. For a unique attribute, this is the entity with exactly this value, or else the only one that a
 * filter finds.
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
    return context.remote!.find(query).rowIds
  }
  const texts = [source.value]
  // Texts in a table that the server created are unique by their folds.
  const isFolded = !dataClass.place.exactUniques && attribute !== dataClass.key
  const exact =
    isExactText(attribute) && !isFolded ? find({ kind: 'identity', attribute, texts, negated: false }) : NONE
  const matches = exact.length > 0 ? exact : find(predicate)
  if (matches.length === 0) throw QueryErrors.UNKNOWN_ENTITY(name, dataClass.name)
  if (matches.length > 1) throw QueryErrors.SEVERAL_ENTITIES(name, dataClass.name)
  return { name, list: listOf(matches), ...NOT_RELATED }
}

const NONE = new Uint32Array(0)
const ALWAYS: Predicate = { kind: 'always' }

function membersOf(
  source: SelectRequest['source'] & { kind: 'set' | 'rows' | 'keyList' },
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
