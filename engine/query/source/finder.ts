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
  /** Operator of the predicate; undefined if a database chooses how to evaluate it. */
  readonly filter: Operator | undefined
  /** The first condition of the filter on a vector of the dataclass, which defines `__SCORE`. */
  readonly score?: SimilarityPredicate | undefined
}

/** Entities of a selection, or a page of them. */
export interface Found {
  /** Row ids in the order of the answer. */
  readonly rowIds: Uint32Array
  /** Number of entities in the whole selection; for an entity set including deleted ones. */
  readonly total: number
  /** Name of the entities in the request, for the error that they do not exist. */
  readonly name: string
}

/** Rows in a form that outlives a task: entities whose row ids do not last are listed by their identities. */
type LastingRows = RowSet | Uint32Array | KeyList

/**
 * Finds the entities of dataclasses. One implementation searches the columns and indexes of this store, another queries the sources of
 * other entities ({@link RemoteData}). Any method may suspend the task.
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
  /** Finds the row ids of all entities, which may be valid only in this task. */
  rowIds(selection: Selection, view: View, context: QueryContext): Uint32Array
  /** Finds all entities for an aggregate. */
  aggregateInput(selection: Selection, view: View, context: QueryContext): Selected
  /** Finds all entities, in a form that outlives the task. */
  members(selection: Selection, view: View, context: QueryContext, layouts: Layouts): LastingRows
  /** The entities of a request before its filter; undefined for all entities of the dataclass, unless their row ids are known. */
  source(request: SelectRequest, view: View, context: QueryContext): Rows | undefined
  /** Describes how the filter of a selection has been executed. @returns undefined without a description */
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
  /** The query of {@link among} for an aggregate, if a database can answer it without reading the rows. */
  question?(rows: Rows | undefined, query: PreparedQuery, dataClass: DataClass, context: QueryContext): RemoteQuery
  /** Rows in the order of these ids. */
  inOrder(rowIds: Uint32Array, dataClass: DataClass, context: QueryContext): Rows
  /** Existing rows without an order of their own, which are shown in the order of their keys. */
  unordered(rows: RowSet, dataClass: DataClass, context: QueryContext): Rows
  /** Removes the rows of an earlier snapshot that may have been deleted since, unless this is detected when the rows are used. */
  withoutDeleted(rows: Rows, dataClass: DataClass, context: QueryContext): Rows
  lasting(rows: Rows, dataClass: DataClass, context: QueryContext, layouts: Layouts): LastingRows
}

type Layouts = ReadonlyMap<DataClass, RowLayout>
type Wanted = NonNullable<ReadRequest['output']['describe']>
