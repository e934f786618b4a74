import type { DataClass } from '../../catalog/dataclass.ts'
import { isRelation, type RelationAttribute } from '../../catalog/attribute.ts'
import { isScalarType } from '../../catalog/value-type.ts'
import type { View } from '../../catalog/view.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import { existingRows } from '../../data/existing.ts'
import { visibleOf } from '../../data/restricted-snapshot.ts'
import { referenceOf, referencingOf } from '../../data/reference-of.ts'
import type { Snapshot, TableSnapshot } from '../../data/snapshot.ts'
import { bindComparison } from '../bind/bind-comparison.ts'
import { convertKey } from '../bind/convert-value.ts'
import { uniqueAttribute } from '../bind/demand-unique-address.ts'
import { resolvePath } from '../bind/resolve-path.ts'
import { lower } from '../plan/lower.ts'
import { combine, NEVER, type Predicate } from '../bind/predicate.ts'
import { joinConditions } from '../bind/join-conditions.ts'
import { excerpt } from '../../base/text/excerpt.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import type { ReadRequest, SelectionSource } from '../contract/request.ts'
import { evaluate } from '../operators/evaluate.ts'
import type { QueryContext } from '../operators/query-context.ts'
import { Rows } from '../contract/rows.ts'

/** Rows of a request before its filter. */
interface Source {
  readonly dataClass: DataClass
  readonly rows: Rows
  /** Name of the rows in the request, for the error that they do not exist. */
  readonly name: string
}

/**
 * Dataclass of the entities that a request selects. Reads no rows.
 * @throws {EngineErrors.UNKNOWN_DATACLASS} {@link QueryErrors.UNKNOWN_ATTRIBUTE} {@link QueryErrors.PATH}
 */
export function sourceClass({ dataClass, source }: Pick<ReadRequest, 'dataClass' | 'source'>, view: View): DataClass {
  if (source.kind !== 'related') return view.dataClass(dataClass)
  return relationsOf(source.relation, view.dataClass(source.from.dataClass), view).at(-1)!.target
}

/**
 * Finds the rows of a request's source.
 * @throws {EngineErrors.UNKNOWN_DATACLASS} {@link QueryErrors.UNKNOWN_ATTRIBUTE} {@link QueryErrors.UNKNOWN_ENTITY}
 * Source: protocol notes, 1.4, 1.5 and 4.1.
 */
export function openSource(
  { dataClass: name, source }: Pick<ReadRequest, 'dataClass' | 'source'>,
  view: View,
  context: QueryContext,
): Source {
  if (source.kind === 'related') return relatedSource(source, view, context)
  const dataClass = view.dataClass(name)
  const table = context.snapshot.table(dataClass)
  switch (source.kind) {
    case 'all':
      return { dataClass, rows: Rows.ofSet(table.live), name: 'any' }
    case 'keys': {
      // A selection holds an entity once, at the position of its first key.
      const rowIds = Uint32Array.from(new Set(source.keys.map(key => rowOfKey(table, key))))
      return { dataClass, rows: Rows.inOrder(rowIds, table.live), name: source.keys.join(',') }
    }
    case 'attribute':
      return attributeSource(source, dataClass, table, view, context)
    case 'set':
      return {
        dataClass,
        rows: Rows.ofMembers(visibleOf(RowSet.revive(source.members), table), table.live),
        name: 'in the set',
      }
    case 'rows':
      return { dataClass, rows: rowsSource(source, table), name: 'in the set' }
    case 'keyList':
      // Sets of remote entities have keys as members. Since this set was created, the model has moved its dataclass to the store.
      throw RemoteErrors.NOT_HERE('this', name)
  }
}

/** Deleted entities keep their positions, as undefined references, unless the table is restricted. */
function rowsSource({ rowIds, ordered }: SelectionSource & { kind: 'rows' }, table: TableSnapshot): Rows {
  const { isRestricted, live } = table
  const visibleIds = isRestricted ? rowIds.filter(rowId => live.has(rowId)) : rowIds
  return Rows.inOrder(ordered ? visibleIds : ascending(visibleIds), live)
}

const ascending = (rowIds: Uint32Array): Uint32Array =>
  rowIds.every((rowId, i) => i === 0 || rowIds[i - 1]! < rowId) ? rowIds : RowSet.fromIds(rowIds).toIds()

function attributeSource(
  { attribute, value }: SelectionSource & { kind: 'attribute' },
  dataClass: DataClass,
  table: TableSnapshot,
  view: View,
  context: QueryContext,
): Source {
  const name = `${attribute}(${value})`
  const operator = lower(attributePredicate({ attribute, value }, dataClass, view), dataClass, context.snapshot)
  const rows = evaluate(operator, dataClass, table.live, context)
  // The address identifies a single entity.
  if (rows.size === 0 && uniqueAttribute(attribute, dataClass, view))
    throw QueryErrors.UNKNOWN_ENTITY(name, dataClass.name)
  return { dataClass, rows: Rows.ofSet(rows), name }
}

/** Condition for the entities of `Class:attribute(value)`. @throws {QueryErrors.UNKNOWN_ATTRIBUTE} */
export function attributePredicate(
  { attribute, value }: { attribute: string; value: string },
  dataClass: DataClass,
  view: View,
): Predicate {
  const path = resolvePath([{ name: attribute, classIndex: undefined, element: undefined }], dataClass, view)
  const { target } = path
  // No entity has a value that the attribute cannot have.
  if (!isRelation(target) && isScalarType(target.type) && convertKey(value, target) === undefined) return NEVER
  const condition = bindComparison(path, 'is', { kind: 'literal', text: value, quoted: true })
  return combine('and', joinConditions([condition]))
}

function relatedSource(
  { from, relation: name }: SelectionSource & { kind: 'related' },
  view: View,
  { snapshot }: QueryContext,
): Source {
  const owner = view.dataClass(from.dataClass)
  const relations = relationsOf(name, owner, view)
  const rows = relatedRows(relations, RowSet.fromIds([rowOfKey(snapshot.table(owner), from.key)]), snapshot)
  const dataClass = relations.at(-1)!.target
  return { dataClass, rows: Rows.ofSet(rows), name: `${from.dataClass}(${from.key})/${name}` }
}

/** The relation with this name, or the relations along an alias. */
export function relationsOf(name: string, owner: DataClass, view: View): RelationAttribute[] {
  const { relations, target } = resolvePath([{ name, classIndex: undefined, element: undefined }], owner, view)
  if (!isRelation(target)) throw QueryErrors.PATH(excerpt(name), 'it is not a relation')
  return [...relations.map(({ relation }) => relation), target]
}

/** Entities at the end of a path of relations that begins at some entities. */
export function relatedRows(relations: readonly RelationAttribute[], from: RowSet, snapshot: Snapshot): RowSet {
  let rows = from
  for (const relation of relations) {
    fetchAlong(relation, rows, snapshot)
    const targets = RowSet.fromIds([...rows].flatMap(each => rowsAlong(relation, each, snapshot)))
    const table = snapshot.table(relation.target)
    // Foreign keys may refer to entities that do not exist in a database.
    rows = table.rowsOnly ? existingRows(targets, table) : visibleOf(targets, table)
  }
  return rows
}

/** Fetches the rows that one step of a path from these rows needs. @throws {Suspended} */
function fetchAlong(relation: RelationAttribute, rowIds: Iterable<number>, snapshot: Snapshot): void {
  const target = snapshot.table(relation.target)
  if (relation.kind === 'relatedEntities' && target.fetchReferencing) target.fetchReferencing(relation.inverse, rowIds)
  else snapshot.table(relation.dataClass).fetch?.(rowIds)
}

/**
 * Fetches the rows that paths of relations from these rows need, so that following the paths does not wait for each. @returns the rows at
 * their ends @throws {Suspended}
 */
export function fetchPaths(
  relations: readonly RelationAttribute[],
  rowIds: Iterable<number>,
  snapshot: Snapshot,
): Set<number> {
  let rows: Set<number> = new Set(rowIds)
  for (const relation of relations) {
    fetchAlong(relation, rows, snapshot)
    rows = new Set([...rows].flatMap(each => rowsAlong(relation, each, snapshot)))
  }
  return rows
}

function rowsAlong(relation: RelationAttribute, rowId: number, snapshot: Snapshot): number[] {
  if (relation.kind === 'relatedEntities') {
    return [...referencingOf(relation.inverse, rowId, snapshot)]
  }
  const row = snapshot.table(relation.dataClass).row(rowId)
  const target = row && referenceOf(row, row.layout.referenceOf.get(relation)!, snapshot)
  return target === undefined ? [] : [target]
}

/** The row of a key in an address. @throws {QueryErrors.UNKNOWN_ENTITY} also for a text that cannot be a key */
export function rowOfKey(table: TableSnapshot, key: string): number {
  const value = convertKey(key, table.dataClass.key)
  const rowId = value === undefined ? undefined : table.findKey(value)
  if (rowId === undefined) throw QueryErrors.UNKNOWN_ENTITY(key, table.dataClass.name)
  return rowId
}
