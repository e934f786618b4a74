import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import type { Predicate, Scalar } from '../../query/bind/predicate.ts'
import type {
  RemoteCondition,
  RemoteData,
  RemoteDistinct,
  RemotePage,
  RemoteQuery,
  RemoteStep,
  RemoteTotals,
  RemoteValues,
} from '../../query/plan/nodes/remote-query.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import type { RowView } from '../../row-format/row-view.ts'
import type { DescribedTables } from '../tables/described-tables.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import type { Need, RemoteCall, RemoteFetch } from '../tables/remote-needed.ts'
import { RemoteRows, type RowNumbers } from './remote-rows.ts'
import type { RemoteColumn, RemoteTable, RemoteTables } from '../sql/remote-table.ts'
import { evaluate } from '../../query/operators/evaluate.ts'
import type { QueryContext } from '../../query/operators/query-context.ts'
import { lower } from '../../query/plan/lower.ts'
import type { SqlScope } from '../sql/predicate-sql.ts'
import { columnForm } from '../sql/choose-form.ts'
import type { ColumnForm } from '../sql/column-form.ts'
import { fromStored } from '../sql/fold-sql.ts'
import { readDouble, sumOfParts } from '../sql/read-text.ts'
import {
  countStatement,
  distinctStatement,
  totalsStatement,
  keysStatement,
  pageStatement,
  referencingStatement,
  valuesStatement,
} from '../sql/statements.ts'
import type { Cells, Statement } from '../sql/statement.ts'
import { Unfit } from '../sql/unfit.ts'

/** Maximum number of entities of a page, and of the related entities that are fetched together. */
const MAX_ROWS = 100_000
/** Maximum number of entities that are fetched because they may be needed. */
const MAX_TOGETHER = 500
/** Maximum number of entities of a whole selection, of which only the keys are fetched, unless the task has a lower one. */
const MAX_KEYS = 1_000_000

interface RemoteReadsOptions {
  readonly tables: DescribedTables
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  readonly need: Need
  readonly maxKeys?: number
  /** Name of the user for whom the reads are, if databases know it. */
  readonly user?: () => string | undefined
  /** Numbers of entities that outlive the reads. */
  readonly numbers?: RowNumbers
  /** False if rows have to be counted each time, because a transaction sees its own writes. */
  readonly knowsCounts?: () => boolean
  /** Conditions for the entities of a remote dataclass that exist for the task; undefined for all. */
  readonly visible?: (dataClass: DataClass) => readonly RemoteCondition[] | undefined
}

/** Reads of one task from databases. They outlive the snapshots of the task, which begins again each time when data have arrived. */
export class RemoteReads implements RemoteData {
  readonly steps: RemoteStep[] = []
  private readonly rows = new Map<DataClass, RemoteRows>()
  /** Pages by statement. */
  private readonly pages = new Map<string, RemotePage>()
  private readonly answers: { readonly query: RemoteQuery; readonly page: RemotePage }[] = []
  private readonly values = new Map<string, readonly Value[]>()
  private readonly distincts = new Map<string, RemoteDistinct>()
  private readonly sums = new Map<string, RemoteTotals | undefined>()
  private readonly referrers = new Map<RelatedEntityAttribute, Map<number, Uint32Array>>()
  /** State of the store that the task sees now, and its limits. */
  context: QueryContext | undefined

  private readonly maxKeys: number

  constructor(private readonly options: RemoteReadsOptions) {
    this.maxKeys = options.maxKeys ?? MAX_KEYS
  }

  has({ remote }: DataClass): boolean {
    return remote !== undefined
  }

  find(query: RemoteQuery): RemotePage {
    // A repeated request sends the same query, unless its values are bound again.
    const answer = this.answers.find(each => isSame(each.query, query))
    if (answer) return answer.page
    const { dataClass, page } = query
    const rows = this.rowsOf(dataClass)
    const scope = this.scopeOf(dataClass)
    const most = page ? MAX_ROWS : this.maxKeys
    const wantedCount = page ? page.count : Number.POSITIVE_INFINITY
    const limit = Math.min(wantedCount, most + 1)
    const columns = page ? 'all' : 'key'
    const isCounted = page !== undefined && !query.isUncounted && rows.table.isOrdinary
    const statement = pageStatement(
      rows.table,
      { ...query, skip: page?.skip ?? 0, count: limit, columns, isCounted },
      scope,
    )
    const key = JSON.stringify([dataClass.name, statement, page !== undefined])
    const knownPage = this.pages.get(key)
    if (knownPage) return knownPage
    // Built now: a condition on the store needs the snapshot, which the task releases while it waits.
    const counting =
      query.isUncounted || wantedCount === Number.POSITIVE_INFINITY
        ? undefined
        : countStatement(rows.table, query, scope)
    this.options.need(() => this.readPage(query, limit > 0 ? statement : undefined, counting, key))
    return this.pages.get(key)!
  }

  /** @param counting undefined: the page is the whole selection, or its size is not needed */
  private *readPage(
    query: RemoteQuery,
    statement: Statement | undefined,
    counting: Statement | undefined,
    key: string,
  ): RemoteFetch {
    const { dataClass, page, isUncounted } = query
    const rows = this.rowsOf(dataClass)
    const most = page ? MAX_ROWS : this.maxKeys
    const cells = statement ? yield* this.run(dataClass, statement) : []
    if (cells.length > most) throw RemoteErrors.TOO_MANY_ROWS(dataClass.name, most)
    const rowIds = Uint32Array.from(cells, row => (page ? rows.add(row) : rows.keyIdOf(row, 0)))
    const skip = page?.skip ?? 0
    const isWhole = !counting || (cells.length < page!.count && (cells.length > 0 || skip === 0))
    const state = page && !isUncounted && rows.table.isOrdinary ? cells[0]?.at(-1) : undefined
    const total = isWhole ? skip + cells.length : yield* this.count(dataClass, counting, state)
    const newPage = { rowIds, total }
    this.pages.set(key, newPage)
    this.answers.push({ query, page: newPage })
  }

  keyOf(dataClass: DataClass, rowId: number): Value {
    return this.rowsOf(dataClass).keyOf(rowId) ?? null
  }

  /** @throws {Suspended} the database has not described the table yet */
  rowsOf(dataClass: DataClass): RemoteRows {
    let rows = this.rows.get(dataClass)
    if (!rows) {
      const { tables, layouts, numbers } = this.options
      rows = new RemoteRows(this.tableOf(dataClass), layouts.get(dataClass)!, tables.onUnfit, numbers)
      this.rows.set(dataClass, rows)
    }
    return rows
  }

  private tableOf(dataClass: DataClass): RemoteTable {
    return this.options.tables.of(dataClass, this.options.need)
  }

  rowOf(dataClass: DataClass, key: Value): number {
    return this.rowsOf(dataClass).idOf(key)
  }

  row(dataClass: DataClass, rowId: number): RowView | undefined {
    const rows = this.rowsOf(dataClass)
    if (!rows.has(rowId)) this.fetch(dataClass, [rowId])
    return rows.get(rowId)
  }

  /** @throws {Suspended} some of the rows have not been read */
  fetch(dataClass: DataClass, rowIds: Iterable<number>): void {
    const rows = this.rowsOf(dataClass)
    const missingIds = [...new Set(rowIds)].filter(rowId => !rows.has(rowId))
    if (missingIds.length === 0) return
    if (missingIds.length > MAX_ROWS) throw RemoteErrors.TOO_MANY_ROWS(dataClass.name, MAX_ROWS)
    const keys = missingIds.map(rowId => rows.keyOf(rowId)).filter(key => key !== undefined)
    const statement = keys.length > 0 ? keysStatement(rows.table, keys, this.scopeOf(dataClass)) : undefined
    this.options.need(() => this.readRows(rows, missingIds, statement))
  }

  private *readRows(rows: RemoteRows, rowIds: readonly number[], statement: Statement | undefined): RemoteFetch {
    if (statement) for (const row of yield* this.run(rows.table.dataClass, statement)) rows.add(row)
    rows.addMissing(rowIds)
  }

  /** Code that follows a relation from one entity often follows it from all: their targets are fetched together. */
  fetchReference({ dataClass, target, foreignKey }: RelatedEntityAttribute, targetRowId: number): void {
    const targets = this.rowsOf(target)
    if (targets.has(targetRowId)) return
    const wantedIds = new Set([targetRowId])
    for (const row of this.rowsOf(dataClass).loadedRows()) {
      const key = row?.value(foreignKey) as Value | undefined
      const rowId = key == null ? targetRowId : targets.idOf(key)
      if (!targets.has(rowId)) wantedIds.add(rowId)
      if (wantedIds.size === MAX_TOGETHER) break
    }
    this.fetch(target, wantedIds)
  }

  referencing(relation: RelatedEntityAttribute, targetRowId: number): Uint32Array {
    const knownIds = this.referrers.get(relation)?.get(targetRowId)
    if (knownIds) return knownIds
    this.fetchReferencing(relation, [targetRowId])
    return this.referrers.get(relation)!.get(targetRowId)!
  }

  /** @throws {Suspended} the rows that refer to some of these rows have not been read */
  fetchReferencing(relation: RelatedEntityAttribute, targetRowIds: Iterable<number>): void {
    const { dataClass, target } = relation
    const rows = this.rowsOf(dataClass)
    const knownReferrers = this.referrers.get(relation) ?? new Map<number, Uint32Array>()
    this.referrers.set(relation, knownReferrers)
    const missingIds = [...new Set(targetRowIds)].filter(rowId => !knownReferrers.has(rowId))
    if (missingIds.length === 0) return
    // Built now, while there is a snapshot.
    const keys = missingIds.map(rowId => this.targetKey(target, rowId))
    const statement = referencingStatement(rows.table, relation, keys, MAX_ROWS + 1, this.scopeOf(dataClass))
    const places = new Map(keys.map((key, i) => [keyIdentity(key), missingIds[i]!]))
    this.options.need(() => this.readReferencing(relation, places, statement, knownReferrers))
  }

  /** @param places rows of the targets by the identities of their keys */
  private *readReferencing(
    { dataClass, foreignKey }: RelatedEntityAttribute,
    places: ReadonlyMap<string, number>,
    statement: Statement,
    knownReferrers: Map<number, Uint32Array>,
  ): RemoteFetch {
    const rows = this.rowsOf(dataClass)
    const cells = yield* this.run(dataClass, statement)
    if (cells.length > MAX_ROWS) throw RemoteErrors.TOO_MANY_ROWS(dataClass.name, MAX_ROWS)
    const lists = new Map<number, number[]>(Array.from(places.values(), rowId => [rowId, []]))
    for (const row of cells) {
      const rowId = rows.add(row)
      const key = rows.get(rowId)!.value(foreignKey) as Value
      lists.get(places.get(keyIdentity(key))!)?.push(rowId)
    }
    for (const [rowId, list] of lists) knownReferrers.set(rowId, Uint32Array.from(list))
  }

  private targetKey(target: DataClass, rowId: number): Value {
    if (target.remote) return this.keyOf(target, rowId)
    return this.context!.snapshot.table(target).row(rowId)!.value(target.key) as Value
  }

  /** The tables of the connection of a dataclass. */
  private tablesOf({ remote }: DataClass): RemoteTables {
    return {
      find: other => {
        if (other.remote?.connection !== remote!.connection) return undefined
        // Throws in a thread without plugin code if a restrict event applies to the dataclass.
        this.context?.snapshot.table(other)
        return this.tableOf(other)
      },
    }
  }

  keysWhere(dataClass: DataClass, predicate: Predicate): readonly Value[] {
    if (!dataClass.remote) return this.localValues(dataClass, dataClass.key, predicate)
    const all = { among: undefined, referring: undefined, orderBy: [], page: undefined }
    return Array.from(this.find({ ...all, dataClass, predicate }).rowIds, rowId => this.keyOf(dataClass, rowId))
  }

  valuesWhere({ dataClass, foreignKey }: RelatedEntityAttribute, predicate: Predicate): readonly Value[] {
    if (!dataClass.remote) return this.localValues(dataClass, foreignKey, predicate)
    const rows = this.rowsOf(dataClass)
    const statement = valuesStatement(rows.table, foreignKey, predicate, this.maxKeys + 1, this.scopeOf(dataClass))
    return this.once(this.values, dataClass, statement, cells => {
      if (cells.length > this.maxKeys) throw RemoteErrors.TOO_MANY_ROWS(dataClass.name, this.maxKeys)
      const { read } = rows.table.forms.get(foreignKey)!
      return cells.map(([cell]) => read(cell!)).filter((value): value is Value => !(value instanceof Unfit))
    })
  }

  distinct(query: RemoteQuery, of: RemoteValues): RemoteDistinct {
    const { dataClass } = query
    const rows = this.rowsOf(dataClass)
    const statement = distinctStatement(rows.table, query, of, this.maxKeys + 1, this.scopeOf(dataClass))
    return this.once(this.distincts, dataClass, statement, cells => {
      if (cells.length > this.maxKeys) throw RemoteErrors.TOO_MANY_ROWS(dataClass.name, this.maxKeys)
      const form = this.formOf(of)
      const items = cells.flatMap(row => {
        const value = readItem(row, form, of)
        return value instanceof Unfit ? [] : [{ value, rowId: rows.keyIdOf(row, 3), count: Number(row[4]) }]
      })
      return {
        values: items.map(({ value }) => value),
        rowIds: items.map(({ rowId }) => rowId),
        counts: items.map(({ count }) => count),
      }
    })
  }

  totals(query: RemoteQuery, of: RemoteValues): RemoteTotals {
    // Testing every value for infinity and NaN, which are rare, takes a third of the database's time.
    return this.totalsOf(query, of, true) ?? this.totalsOf(query, of, false)!
  }

  /** @param isWhole see {@link totalsStatement} @returns undefined: some values are not finite */
  private totalsOf(query: RemoteQuery, of: RemoteValues, isWhole: boolean): RemoteTotals | undefined {
    const { dataClass } = query
    const rows = this.rowsOf(dataClass)
    const statement = totalsStatement(rows.table, query, of, this.scopeOf(dataClass), isWhole)
    return this.once(this.sums, dataClass, statement, cells => {
      const [[count, wholeSum, min, max, fractions]] = cells as [Cells]
      if (isWhole && fractions === 'NaN') return undefined
      const sum = wholeSum != null && fractions != null ? sumOfParts(Number(count), wholeSum, fractions) : wholeSum
      const { read } = this.formOf(of)
      const number = (text: string | null | undefined) => {
        const value = text == null ? undefined : read(text)
        return value instanceof Unfit ? undefined : (value as number | bigint | undefined)
      }
      return { count: Number(count), sum: sum ?? '0', min: number(min), max: number(max) }
    })
  }

  /** Form in which values are compared. */
  private formOf({ attribute, properties }: RemoteValues): ColumnForm {
    // Durations are compared in milliseconds.
    if (properties.length > 0 || attribute.type === 'duration') return NUMBER_FORM
    return this.tableOf(attribute.dataClass).forms.get(attribute as StorageAttribute)!
  }

  /** The result of a statement. */
  private once<T>(
    results: Map<string, T>,
    dataClass: DataClass,
    statement: Statement,
    result: (cells: readonly Cells[]) => T,
  ): T {
    const key = JSON.stringify(statement)
    if (results.has(key)) return results.get(key)!
    this.options.need(() => this.readOnce(results, key, dataClass, statement, result))
    return results.get(key)!
  }

  private *readOnce<T>(
    results: Map<string, T>,
    key: string,
    dataClass: DataClass,
    statement: Statement,
    result: (cells: readonly Cells[]) => T,
  ): RemoteFetch {
    results.set(key, result(yield* this.run(dataClass, statement)))
  }

  /** Distinct values, not null, of an attribute in the rows of the store that a condition finds. */
  private localValues(dataClass: DataClass, attribute: StorageAttribute, predicate: Predicate): readonly Value[] {
    const context = this.context!
    const table = context.snapshot.table(dataClass)
    const rows = evaluate(lower(predicate, dataClass, context.snapshot), dataClass, table.live, context)
    if (rows.size > this.maxKeys) throw RemoteErrors.TOO_MANY_ROWS(dataClass.name, this.maxKeys)
    const values = new Set<Value>()
    for (const rowId of rows) {
      context.budget.step()
      values.add(table.row(rowId)!.value(attribute) as Value)
    }
    values.delete(null)
    return [...values]
  }

  /** A scope for statements with one predicate, whose conditions elsewhere are evaluated once. */
  private scopeOf(dataClass: DataClass): SqlScope {
    const cache = new Map<object, Map<Predicate, readonly Value[]>>()
    const once = (of: object, predicate: Predicate, readValues: () => readonly Value[]): readonly Value[] => {
      const values = cache.get(of)?.get(predicate) ?? readValues()
      cache.set(of, (cache.get(of) ?? new Map()).set(predicate, values))
      return values
    }
    const { visible } = this.options
    return {
      tables: this.tablesOf(dataClass),
      ...(visible && { visible }),
      keysWhere: (other, predicate) => once(other, predicate, () => this.keysWhere(other, predicate)),
      valuesWhere: (relation, predicate) => once(relation, predicate, () => this.valuesWhere(relation, predicate)),
    }
  }

  /** @param state of the database that the page is of, if known */
  private *count(
    dataClass: DataClass,
    statement: Statement,
    state: string | null | undefined,
  ): Generator<RemoteCall, number, Cells[]> {
    const { tables, user, knowsCounts } = this.options
    const counts = tables.countsOf(dataClass.remote!.connection)
    const key = JSON.stringify([user?.(), statement])
    const isKnown = knowsCounts?.() ?? true
    const knownCount = state == null || !isKnown ? undefined : counts.find(key, state)
    if (knownCount !== undefined) return knownCount
    const [[count, newState]] = (yield* this.run(dataClass, statement)) as [Cells]
    if (newState != null && isKnown) counts.put(key, newState, Number(count))
    return Number(count)
  }

  private *run({ remote }: DataClass, statement: Statement): Generator<RemoteCall, Cells[], Cells[]> {
    const startedAt = performance.now()
    const rows = yield { connection: remote!.connection, statement }
    const time = Math.round((performance.now() - startedAt) * 1000) / 1000
    if (statement.shownText) this.steps.push({ statement: statement.shownText, time, rows: rows.length })
    return rows
  }
}

/** True for queries that consist of the same parts. */
const isSame = (a: RemoteQuery, b: RemoteQuery): boolean =>
  a.dataClass === b.dataClass &&
  a.predicate === b.predicate &&
  (a.orderBy === b.orderBy || (a.orderBy.length === 0 && b.orderBy.length === 0)) &&
  a.among === b.among &&
  a.referring === b.referring &&
  a.page?.skip === b.page?.skip &&
  a.page?.count === b.page?.count &&
  a.isListed === b.isListed &&
  a.isUncounted === b.isUncounted

const NUMBER_FORM = columnForm({ type: 'number' } as StorageAttribute, [
  { type: 'numeric' } as RemoteColumn,
]) as ColumnForm

/** A value of `distinctStatement` in the form for comparisons. */
function readItem(
  [first, number, text]: Cells,
  form: ColumnForm,
  { attribute, properties }: RemoteValues,
): Scalar | boolean | Unfit {
  if (properties.length > 0) {
    return text != null ? fromStored(text) : first === 'boolean' ? number === '1' : readDouble(number!)
  }
  if (attribute.type === 'bool') return first === 't' ? 1 : 0
  return form.isText ? fromStored(first!) : (form.read(first!) as Scalar | Unfit)
}

/** Text that is the same for equal keys of a key and a foreign key, whose types belong to one family. */
const keyIdentity = (key: Value): string => String(key)
