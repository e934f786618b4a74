import { isByRow, isRelation } from '../../catalog/attribute.ts'
import { parseExact } from '../../base/exact-json.ts'
import { type AggregateFunction, type Aggregation, aggregate, bindAggregates } from '../../query/aggregate/aggregate.ts'
import { type Measure, ownScalar } from '../../query/aggregate/measure.ts'
import { itemText } from '../../query/aggregate/read-values.ts'
import { distinctValues } from '../../query/aggregate/summarise.ts'
import { compareItems } from '../../query/aggregate/summary.ts'
import { resolvePath, visibleAttribute } from '../../query/bind/resolve-path.ts'
import { cellReader } from '../../query/scan/cell-reader.ts'
import { Rows } from '../../query/contract/rows.ts'
import type { PreparedQuery } from '../../query/plan/query-cache.ts'
import { ALWAYS } from '../../query/bind/predicate.ts'
import { countRemote, type Selected } from '../../query/aggregate/selected.ts'
import { relatedRows } from '../../query/execute/open-source.ts'
import type { RemoteCondition, RemoteQuery } from '../../query/plan/nodes/remote-query.ts'
import { finderOf } from '../../query/source/select.ts'
import { existingRows, rowExists } from '../../data/existing.ts'
import { visibleOf } from '../../data/restricted-snapshot.ts'
import { RowSet } from '../../row-set/row-set.ts'
import { valueAt } from './attributes.ts'
import { BINDING, type Binding, isEntity, isSelection, KIND } from './binding.ts'
import { construct, takeArgument } from './construct.ts'
import type { EntityBase } from './entity.ts'
import { internals } from './entity-internals.ts'
import { LanguageErrors } from './language-errors.ts'
import { UsageErrors } from '../declare/usage-error.ts'
import { queryTexts } from './query-values.ts'
import { Reading } from './reading.ts'
import { objectWriter, type ObjectOptions } from './to-object.ts'

/** Rows that are found when they are first needed, or before the snapshot moves on. */
export interface PendingRows {
  /** Rows to select from; undefined for all entities of a remote dataclass. */
  readonly from: Rows | undefined
  readonly query: PreparedQuery
  readonly page?: { readonly skip: number; readonly count: number }
}

/** Number of entities of a database that an iteration fetches together. */
const FETCHED = 500

const ALL: PreparedQuery = { predicate: undefined, orderBy: [] }

export class SelectionBase implements Iterable<EntityBase> {
  declare readonly [BINDING]: Binding
  #rows: Rows | undefined
  #pending: PendingRows | undefined
  /** Version of the code session for which the rows were pending. */
  #version = -1
  /** Rows from {@link add} that are not yet part of the rows. */
  #added: number[] = []

  constructor() {
    const rows = takeArgument<Rows | PendingRows>(new.target)
    if (!rows) throw LanguageErrors.NOT_CONSTRUCTIBLE(new.target.name)
    if (rows instanceof Rows) this.#rows = rows
    else this.#pending = rows
  }

  get [KIND](): 'selection' {
    return 'selection'
  }

  static make(selectionClass: new () => SelectionBase, rows: Rows | PendingRows): SelectionBase {
    const selection = construct(selectionClass, rows)
    if (!selection.#pending) return selection
    const { codeSession } = selection[BINDING]
    codeSession.snapshots.wait(selection)
    selection.#version = codeSession.snapshots.version
    return selection
  }

  /** The selection without entities that have been deleted since its rows were found. */
  static withoutDeleted(selection: SelectionBase): SelectionBase {
    const { codeSession, dataClass } = selection[BINDING]
    const rows = selection.#find()
    return selection.#of(rows.narrow(existingRows(rows.set, codeSession.snapshots.current.table(dataClass))))
  }

  /** Condition for the entities of a selection, if they are in a database. */
  static conditionOf(selection: SelectionBase): RemoteCondition {
    const { codeSession, dataClass } = selection[BINDING]
    const question = selection.#asked()
    if (question && !question.among) return question.predicate ?? ALWAYS
    const { context } = codeSession.snapshots
    return finderOf(dataClass, context).question!(selection.#find(), ALL, dataClass, context).among!
  }

  /** Rows of a selection, for results and entity sets. */
  static rowsOf(selection: SelectionBase): Rows {
    return selection.#find()
  }

  /** Finds the rows, if that has not been done. Called by the code session. */
  settle(): void {
    if (!this.#pending) return
    const { codeSession, dataClass } = this[BINDING]
    const { from, query, page } = this.#pending
    const { context } = codeSession.snapshots
    const finder = finderOf(dataClass, context)
    // Some entities may have been deleted during an await.
    const rows =
      from && this.#version !== codeSession.snapshots.version ? finder.withoutDeleted(from, dataClass, context) : from
    this.#rows = finder.among(rows, query, dataClass, context, page)
    this.#pending = undefined
    codeSession.snapshots.removePending(this)
  }

  get length(): number {
    const question = this.#asked()
    if (question) return countRemote(question, this[BINDING].codeSession.snapshots.context)
    const { selection } = this.#find()
    return selection instanceof RowSet ? selection.size : selection.length
  }

  getDataClass(): object {
    return this[BINDING].instance
  }

  isOrdered(): boolean {
    return !(this.#find().selection instanceof RowSet)
  }

  query(text: string, ...values: unknown[]): SelectionBase {
    const { dataClass, codeSession } = this[BINDING]
    const query = codeSession.prepare(dataClass, queryTexts(text, values))
    return this.#derive({ from: this.#find(), query })
  }

  orderBy(order: string): SelectionBase {
    const { dataClass, codeSession } = this[BINDING]
    const texts = { orderBy: order, orderedFilter: this.#pending?.query.filter }
    const { orderBy } = codeSession.prepare(dataClass, texts)
    const pending = this.#pending
    // Combined with the pending query, unless that has an order or a page.
    return pending && !pending.page && pending.query.orderBy.length === 0
      ? this.#derive({ ...pending, query: { ...pending.query, orderBy } })
      : this.#derive({ from: this.#find(), query: { predicate: undefined, orderBy } })
  }

  first(): EntityBase | null {
    return this.at(0)
  }

  last(): EntityBase | null {
    return this.at(-1)
  }

  at(index: number): EntityBase | null {
    // Finding the first row of an order costs less than sorting all.
    if (this.#pending && !this.#pending.page && index === 0) return this.slice(0, 1).#at(0)
    return this.#at(index < 0 ? index + this.length : index)
  }

  slice(start = 0, end = Number.POSITIVE_INFINITY): SelectionBase {
    const pending = this.#pending
    if (pending && !pending.page && start >= 0 && end >= start) {
      return this.#derive({ ...pending, page: { skip: start, count: end - start } })
    }
    const { length } = this
    const from = start < 0 ? Math.max(0, start + length) : Math.min(start, length)
    const to = end < 0 ? end + length : Math.min(end, length)
    const page = this.#find().page(from, Math.max(0, to - from))
    return this.#of(this.isOrdered() ? this.#listed(page) : RowSet.fromIds(page))
  }

  sum(attribute: string): unknown {
    return this.#aggregate('sum', attribute)
  }

  average(attribute: string): unknown {
    return this.#aggregate('average', attribute)
  }

  min(attribute: string): unknown {
    return this.#aggregate('min', attribute)
  }

  max(attribute: string): unknown {
    return this.#aggregate('max', attribute)
  }

  count(attribute: string): number {
    return this.#aggregate('count', attribute) as number
  }

  distinct(attribute: string): unknown[] {
    const { context } = this[BINDING].codeSession.snapshots
    const [measure] = this.#measures(attribute, { function: 'count', distinct: true })
    const { values, rowIds } = distinctValues(measure!, this.#selected(), context)
    return values
      .map((value, i) => [value, rowIds[i]!] as const)
      .sort(([a], [b]) => compareItems(a, b))
      .map(([value, rowId]) => this.#valueFrom(itemText(value, rowId, measure!, context), measure!))
  }

  and(other: SelectionBase | EntityBase): SelectionBase {
    return this.#of(this.#find().set.and(this.#setOf(other)))
  }

  or(other: SelectionBase | EntityBase): SelectionBase {
    return this.#of(this.#find().set.or(this.#setOf(other)))
  }

  /** Keeps the order. */
  minus(other: SelectionBase | EntityBase): SelectionBase {
    const rows = this.#find()
    return this.#of(rows.narrow(rows.set.minus(this.#setOf(other))))
  }

  contains(entity: EntityBase): boolean {
    const rowId = this.#rowIdOf(entity)
    return rowId !== undefined && this.#find().set.has(rowId)
  }

  add(other: SelectionBase | EntityBase): this {
    if (isSelection(other)) {
      this.#check(other)
      for (const rowId of other.#find().rowIds) this.#added.push(rowId)
    } else {
      const rowId = this.#rowIdOf(other)
      if (rowId === undefined) throw UsageErrors.incompatible('an entity that is not saved', 'a saved one')
      this.#added.push(rowId)
    }
    return this
  }

  copy(): SelectionBase {
    return this.#of(this.#find())
  }

  /** Position of a row, or -1. */
  positionOf(rowId: number): number {
    const rows = this.#find()
    return rows.set.has(rowId) ? rows.rowIds.indexOf(rowId) : -1
  }

  extract(...attributes: string[]): unknown[] {
    const { dataClass, codeSession } = this[BINDING]
    const paths = attributes.map(attribute => {
      const path = attribute.split('.')
      codeSession.scope.reading(view => resolvePath(path.map(stepOf), dataClass, view))
      return path
    })
    if (paths.length === 1) return Array.from(this, entity => valueAt(entity, paths[0]!))
    return Array.from(this, entity =>
      Object.fromEntries(paths.map((path, i) => [attributes[i]!, valueAt(entity, path)])),
    )
  }

  related(relation: string): SelectionBase {
    const { codeSession, dataClass } = this[BINDING]
    const { current: snapshot } = codeSession.snapshots
    const attribute = codeSession.scope.reading(view => visibleAttribute(dataClass, relation, view))
    const target = attribute.kind === 'alias' ? attribute.target : attribute
    if (!isRelation(target)) throw UsageErrors.notARelation(relation, dataClass.name)
    let rows = this.#find().set
    for (const step of attribute.kind === 'alias' ? [...attribute.relations, target] : [target]) {
      const relatedIds: number[] = []
      if (!isByRow(step)) {
        rows = relatedRows([step], rows, snapshot)
        continue
      }
      if (step.kind === 'relatedEntities') {
        const table = snapshot.table(step.target)
        for (const rowId of rows)
          for (const relatedId of table.referencing(step.inverse, rowId)) relatedIds.push(relatedId)
      } else {
        const read = cellReader(snapshot.table(step.dataClass), step, rows.size)
        for (const rowId of rows) {
          const relatedId = read(rowId)
          if (relatedId !== undefined) relatedIds.push(relatedId as number)
        }
      }
      rows = visibleOf(RowSet.fromIds(relatedIds), snapshot.table(step.target))
    }
    return codeSession.bindings.get(target.target)!.selection(rows)
  }

  /** Values at the end of a path from all of its entities: a selection if the path ends with a relation, otherwise an array. */
  valuesAt(names: readonly string[]): unknown {
    const [name, ...rest] = names as [string, ...string[]]
    const { dataClass, codeSession } = this[BINDING]
    const attribute = codeSession.scope.reading(view => visibleAttribute(dataClass, name, view))
    if (!isRelation(attribute.kind === 'alias' ? attribute.target : attribute)) return this.extract(names.join('.'))
    const relatedSelection = this.related(name)
    return rest.length === 0 ? relatedSelection : relatedSelection.valuesAt(rest)
  }

  toCollection(
    filter?: string | readonly string[],
    {
      begin = 0,
      howMany = Number.POSITIVE_INFINITY,
      ...options
    }: ObjectOptions & { begin?: number; howMany?: number } = {},
  ): Record<string, unknown>[] {
    const write = objectWriter(this[BINDING], filter, options)
    const part = begin === 0 && howMany === Number.POSITIVE_INFINITY ? this : this.slice(begin, begin + howMany)
    return Array.from(part, write)
  }

  toJSON(): Record<string, unknown>[] {
    return this.toCollection()
  }

  drop(): SelectionBase {
    const { codeSession, dataClass } = this[BINDING]
    const rows = this.#find()
    if (rows.set.size > 0)
      codeSession.writes.drop({ dataClass: dataClass.name, rowIds: rows.set.toIds().slice(), atomic: false })
    return this.#of(rows.narrow(existingRows(rows.set, codeSession.snapshots.current.table(dataClass))))
  }

  /** Entities that have been deleted meanwhile are left out. */
  [Symbol.iterator](): Iterator<EntityBase> {
    const binding = this[BINDING]
    const { codeSession, dataClass } = binding
    const { rowIds } = this.#find()
    const reading = new Reading(binding, rowIds.length)
    let { version } = codeSession.snapshots
    let table = codeSession.snapshots.current.table(dataClass)
    let position = 0
    let fetchedTo = 0
    return {
      next() {
        while (position < rowIds.length) {
          if (version !== codeSession.snapshots.version) {
            version = codeSession.snapshots.version
            table = codeSession.snapshots.current.table(dataClass)
            fetchedTo = position
          }
          if (table.fetch && position >= fetchedTo) {
            fetchedTo = position + FETCHED
            table.fetch(rowIds.subarray(position, fetchedTo))
          }
          const rowId = rowIds[position++]!
          if (rowExists(table, rowId)) return { done: false, value: binding.entity(rowId, reading) }
        }
        return { done: true, value: undefined }
      },
    }
  }

  #find(): Rows {
    this.settle()
    if (this.#added.length > 0) {
      const { rowIds } = this.#rows!
      const all = new Uint32Array(rowIds.length + this.#added.length)
      all.set(rowIds)
      all.set(this.#added, rowIds.length)
      this.#rows = this.#listed(all)
      this.#added = []
    }
    return this.#rows!
  }

  #at(index: number): EntityBase | null {
    const { codeSession, dataClass } = this[BINDING]
    const [rowId] = index < 0 ? [] : this.#find().page(index, 1)
    const exists = rowId !== undefined && rowExists(codeSession.snapshots.current.table(dataClass), rowId)
    return exists ? this[BINDING].entity(rowId) : null
  }

  #listed(rowIds: Uint32Array): Rows {
    const { codeSession, dataClass } = this[BINDING]
    const { context } = codeSession.snapshots
    return finderOf(dataClass, context).inOrder(rowIds, dataClass, context)
  }

  /** The database query behind the selection, if it has not been run. */
  #asked(): RemoteQuery | undefined {
    const { codeSession, dataClass } = this[BINDING]
    const { from, query, page } = this.#pending ?? {}
    if (!query || page || this.#added.length > 0) return undefined
    const { context } = codeSession.snapshots
    return finderOf(dataClass, context).question?.(from, query, dataClass, context)
  }

  /** Entities of the selection, for an aggregate. */
  #selected(): Selected {
    const { codeSession, dataClass } = this[BINDING]
    const question = this.#asked()
    if (question) return question
    const rows = this.#find()
    const { context } = codeSession.snapshots
    return finderOf(dataClass, context).question?.(rows, ALL, dataClass, context) ?? rows.set
  }

  #of(rows: Rows | RowSet): SelectionBase {
    return this[BINDING].selection(rows)
  }

  #derive(pending: PendingRows): SelectionBase {
    return this[BINDING].selection(pending)
  }

  #measures(attribute: string, aggregation: Aggregation): Measure[] {
    const { codeSession, dataClass } = this[BINDING]
    return codeSession.scope.reading(view => bindAggregates([itemOf(attribute)], aggregation, dataClass, view))
  }

  #aggregate(name: AggregateFunction, attribute: string): unknown {
    const { codeSession } = this[BINDING]
    const aggregation = { function: name, distinct: false } as const
    const [measure] = this.#measures(attribute, aggregation)
    const texts = aggregate(measure!, aggregation, this.#selected(), codeSession.snapshots.context)
    const json = texts.get(name)!
    if (name === 'count') return Number(json)
    const value = this.#valueFrom(json, measure!)
    // An average is a double, even if the values are 64-bit integers.
    return name === 'average' && typeof value === 'bigint' ? Number(value) : value
  }

  /** Converts the JSON of an aggregate to its value. */
  #valueFrom(json: string, measure: Measure): unknown {
    if (json === 'null') return null
    const scalar = ownScalar(measure)
    const { wire } = this[BINDING].layout
    return scalar ? scalar.descriptor.codeOfJson(json, scalar.attribute, wire) : parseExact(json)
  }

  #setOf(other: SelectionBase | EntityBase): RowSet {
    if (isEntity(other)) {
      const rowId = this.#rowIdOf(other)
      return rowId === undefined ? RowSet.empty : RowSet.fromIds([rowId])
    }
    this.#check(other)
    return other.#find().set
  }

  #rowIdOf(entity: EntityBase): number | undefined {
    this.#check(entity)
    return internals.rowId(entity)
  }

  #check(other: SelectionBase | EntityBase): void {
    const { dataClass, instance } = this[BINDING]
    const isOurs = isSelection(other) || isEntity(other)
    if (isOurs && other.getDataClass() === instance) return
    const description = isOurs ? `something of ${other[BINDING].dataClass.name}` : typeof other
    throw UsageErrors.incompatible(description, `an entity or a selection of ${dataClass.name}`)
  }
}

const stepOf = (name: string) => ({ name, classIndex: undefined, element: undefined })
const itemOf = (attribute: string) => ({ path: attribute.split('.') })
