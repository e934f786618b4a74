import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { Value } from '../../catalog/value.ts'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import type { KeyList } from '../../row-set/key-list.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { Selected } from '../aggregate/selected.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { SimilarityPredicate } from '../bind/bind-scores.ts'
import type { Predicate } from '../bind/predicate.ts'
import type { ReadRequest } from '../contract/request.ts'
import type { Rows } from '../contract/rows.ts'
import type { Operator } from '../operators/operator.ts'
import type { QueryContext } from '../operators/query-context.ts'
import type { LogicalPlan } from '../plan/nodes/logical-plan.ts'
import type { RemoteQuery } from '../plan/nodes/remote-query.ts'
import type { PreparedQuery } from '../plan/query-cache.ts'

/** Part of a request that decides its selection, without the form of the answer. */
export type SelectRequest = Pick<ReadRequest, 'dataClass' | 'source' | 'filter' | 'params' | 'exact' | 'orderBy'>

/** Part of a selection, in its order. */
export interface PageRange {
  readonly skip: number
  readonly count: number
}

/** Plan to find the entities of a request in one snapshot. */
export interface Selection {
  readonly request: SelectRequest
  readonly dataClass: DataClass
  readonly finder: Finder
  readonly plan: LogicalPlan
  readonly predicate: Predicate | undefined
  readonly orderBy: readonly SortKey[]
  /** Operator of the predicate; undefined if the place of the entities chooses. */
  readonly filter: Operator | undefined
  /** The first condition of the filter on a vector of the dataclass, which defines `__SCORE`. */
  readonly score?: SimilarityPredicate | undefined
}

/** Entities of a selection, or a page of them. */
export interface Found {
  /** In the order of the answer. */
  readonly rowIds: Uint32Array
  /** Number of entities in the whole selection; for an entity set including deleted ones. */
  readonly total: number
  /** Name of the entities in the request, for the message that there are none. */
  readonly name: string
}

/** Rows as they can be kept beyond a task: identities of entities whose row ids do not last. */
type LastingRows = RowSet | Uint32Array | KeyList

/**
 * Finds the entities of dataclasses. There is one for entities in this store, over columns and indexes, and one for entities elsewhere,
 * which asks those who have them ({@link RemoteData}). Any method may suspend the task.
 */
export interface Finder {
  /** Chooses the operators for a query. Reads no data except counts of hits in indexes, and samples of vectors for thresholds. */
  operatorFor(
    query: PreparedQuery,
    request: SelectRequest,
    dataClass: DataClass,
    page: PageRange | undefined,
    context: Pick<QueryContext, 'snapshot'>,
  ): Operator | undefined
  /** Finds a page. @param isUncounted true if the size of the whole selection is not needed */
  page(selection: Selection, page: PageRange, view: View, context: QueryContext, isUncounted: boolean): Found
  /** Finds all entities, in the requested order or else by row id. @throws {RemoteErrors.NOT_HERE} their row ids do not outlive the task */
  all(selection: Selection, view: View, context: QueryContext): Rows
  /** Likewise, for this task alone. */
  rowIds(selection: Selection, view: View, context: QueryContext): Uint32Array
  /** All entities, for an aggregate. */
  aggregateInput(selection: Selection, view: View, context: QueryContext): Selected
  /** All entities, to be kept beyond the task. */
  members(selection: Selection, view: View, context: QueryContext, layouts: Layouts): LastingRows
  /** The entities of a request before its filter; undefined for all of the dataclass, unless they are known. */
  source(request: SelectRequest, view: View, context: QueryContext): Rows | undefined
  /** Describes how the filter of a selection has been executed. @returns undefined: there is none */
  describe(selection: Selection, parts: Wanted, view: View, context: QueryContext): object | undefined
  /** Keys of at most two entities for each value of an attribute with an index. */
  keysOf(attribute: StorageAttribute, values: readonly Value[], context: QueryContext): string[][]

  /** Applies a query to some rows. @param rows undefined for all @param page undefined for the whole selection */
  among(
    rows: Rows | undefined,
    query: PreparedQuery,
    dataClass: DataClass,
    context: QueryContext,
    page?: PageRange,
  ): Rows
  /** The same as a question for an aggregate, if it can be answered without its rows. */
  question?(rows: Rows | undefined, query: PreparedQuery, dataClass: DataClass, context: QueryContext): RemoteQuery
  /** Rows in the order of these ids. */
  inOrder(rowIds: Uint32Array, dataClass: DataClass, context: QueryContext): Rows
  /** Rows of an earlier snapshot without those that may have been deleted since, if that is not found out when they are used. */
  withoutDeleted(rows: Rows, dataClass: DataClass, context: QueryContext): Rows
  lasting(rows: RowSet | Uint32Array, dataClass: DataClass, context: QueryContext, layouts: Layouts): LastingRows
}

type Layouts = ReadonlyMap<DataClass, RowLayout>
type Wanted = NonNullable<ReadRequest['output']['describe']>
