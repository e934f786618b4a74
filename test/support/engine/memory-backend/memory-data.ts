import { setImmediate as nextTurn } from 'node:timers/promises'
import type { StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import type { Value } from '../../../../engine/catalog/value.ts'
import type { Snapshot } from '../../../../engine/data/snapshot.ts'
import { Suspended } from '../../../../engine/data/suspended.ts'
import { type Measure, ownScalar, valuesOf } from '../../../../engine/query/aggregate/measure.ts'
import { distinctValues, summarise } from '../../../../engine/query/aggregate/summarise.ts'
import type { Predicate } from '../../../../engine/query/bind/predicate.ts'
import { Rows } from '../../../../engine/query/contract/rows.ts'
import { evaluate } from '../../../../engine/query/operators/evaluate.ts'
import type { QueryContext } from '../../../../engine/query/operators/query-context.ts'
import { lower } from '../../../../engine/query/plan/lower.ts'
import type { RemoteData, RemoteQuery, RemoteValues } from '../../../../engine/query/plan/nodes/remote-query.ts'
import { LOCAL } from '../../../../engine/query/source/local.ts'
import { QueryBudget } from '../../../../engine/query/scan/query-budget.ts'
import type { QueryLimits } from '../../../../engine/query/contract/query-limits.ts'
import { RowSet } from '../../../../engine/row-set/row-set.ts'
import { rowsSnapshot, wholeSnapshot } from './memory-snapshot.ts'
import { type MemoryTables, NO_ENTITY } from './memory-tables.ts'

/**
 * The tables for one task, which suspends until it has a state of them. It asks as a task asks a database, and the pipeline of the store
 * answers over the whole tables.
 */
export class MemoryData {
  private tables: MemoryTables | undefined
  /** Context with the whole tables. */
  private whole: QueryContext | undefined

  /** @param current the committed state */
  constructor(private readonly current: () => MemoryTables) {}

  /** Context of one attempt of the task. @throws {Suspended} */
  contextOf(local: Snapshot, limits: QueryLimits): QueryContext {
    const { tables, remote } = this
    if (!tables) throw new Suspended({ kind: 'rows', fetch: () => this.fetch() })
    const budget = new QueryBudget(limits)
    const snapshot = wholeSnapshot(local, tables)
    this.whole = { snapshot, budget, remote }
    return { snapshot: rowsSnapshot(local, tables, snapshot), budget, remote }
  }

  private readonly remote: RemoteData = {
    steps: [],
    has: dataClass => this.tables!.has(dataClass),
    find: ({ page, ...query }) => {
      const { rowIds, total } = LOCAL.among(this.source(query), query, query.dataClass, this.whole!, page)
      return { rowIds, total }
    },
    distinct: (query, of) => distinctValues(measureOf(query, of), this.setOf(query), this.whole!),
    totals: (query, of) => {
      const measure = measureOf(query, of)
      const { count, numbers, min, max } = summarise(measure, this.setOf(query), this.whole!)
      const { attribute, descriptor } = ownScalar(measure) ?? {}
      const exact = descriptor?.totals?.sum(numbers.integerTotal, attribute!)
      const sum = exact?.replaceAll('"', '') ?? String(numbers.total)
      return { count, sum, min: min?.value as number | bigint, max: max?.value as number | bigint }
    },
    keysWhere: (dataClass, predicate) => this.valuesIn(dataClass.key, predicate),
    valuesWhere: ({ foreignKey }, predicate) => this.valuesIn(foreignKey, predicate),
    keyOf: (dataClass, rowId) => this.tables!.get(dataClass)!.keyOf(rowId),
    rowOf: (dataClass, key) => this.tables!.get(dataClass)!.idOf(key) ?? NO_ENTITY,
  }

  private async fetch(): Promise<void> {
    await nextTurn()
    this.tables = this.current()
  }

  private setOf(query: RemoteQuery): RowSet {
    return RowSet.fromIds(this.remote.find({ ...query, orderBy: [], page: undefined }).rowIds)
  }

  /** Rows of a question before its condition. */
  private source({ dataClass, among, isListed, referring }: Omit<RemoteQuery, 'page'>): Rows {
    const table = this.tables!.get(dataClass)!
    if (referring) return Rows.ofSet(RowSet.fromIds(table.rowsWith(referring.relation.foreignKey, referring.key)))
    if (!among) return Rows.ofSet(this.whole!.snapshot.table(dataClass).live)
    const rowIds = Uint32Array.from(among.flatMap(key => table.idOf(key) ?? []))
    return isListed ? Rows.ofExisting(rowIds) : Rows.ofSet(RowSet.fromIds(rowIds))
  }

  /** Different values, not null, in the entities for which a condition is true, here or in the store. */
  private valuesIn(attribute: StorageAttribute, predicate: Predicate): readonly Value[] {
    const context = this.whole!
    const { dataClass } = attribute
    const table = context.snapshot.table(dataClass)
    const rows = evaluate(lower(predicate, dataClass, context.snapshot), dataClass, table.live, context)
    const values = new Set([...rows].map(rowId => table.row(rowId)!.value(attribute) as Value))
    values.delete(null)
    return [...values]
  }
}

const measureOf = ({ dataClass }: RemoteQuery, of: RemoteValues): Measure => ({
  ...of,
  name: '',
  dataClass,
  values: valuesOf(of.attribute, of.properties),
  presence: { kind: 'always' },
})
