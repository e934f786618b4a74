import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { ColumnAttribute, SecondaryIndex, Snapshot, TableSnapshot } from '../../data/snapshot.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { All } from './all.ts'
import type { ColumnFilter } from './column-filter.ts'
import type { Complement } from './complement.ts'
import type { Difference } from './difference.ts'
import type { IndexScan } from './index-scan.ts'
import type { Intersect } from './intersect.ts'
import type { JsonFilter } from './json-filter.ts'
import type { None } from './none.ts'
import type { NullFilter } from './null-filter.ts'
import type { QueryContext } from './query-context.ts'
import type { RemoteJoin } from './remote-join.ts'
import type { ReverseSemiJoin } from './reverse-semi-join.ts'
import type { SemiJoin } from './semi-join.ts'
import type { Union } from './union.ts'
import type { VectorFilter } from './vector-filter.ts'

/**
 * Finds the rows for which a predicate is true; plain data. Every operator takes candidates and returns those that pass, so that
 * each input of an Intersect only tests the rows that passed the previous ones.
 *
 * An operator is a file with its data and an {@link OperatorKind}, a line here and a line in `registry.ts`.
 */
export type Operator =
  | All
  | None
  | IndexScan
  | ColumnFilter
  | NullFilter
  | VectorFilter
  | JsonFilter
  | SemiJoin
  | ReverseSemiJoin
  | RemoteJoin
  | Intersect
  | Union
  | Difference
  | Complement

/** Behaviour of a kind of operator. */
export interface OperatorKind<O extends Operator> {
  /** Inputs of the operator; absent if it has none. */
  inputs?(operator: O, dataClass: DataClass): readonly Input[]
  /**
   * Changes the inputs for which a missing row can only remove rows from the result, and never add one; absent if the operator has no such
   * input.
   */
  withInputs?(operator: O, dataClass: DataClass, change: (input: Input) => Operator): O
  /** Columns that the operator may read; absent if it reads none, or reads them only for a handful of candidates. */
  columns?(operator: O): readonly ColumnAttribute[]
  /** Text for developers after the name of the kind; absent if none. */
  explain?(operator: O): string
  describe(operator: O, dataClass: DataClass, view: View): Description
  /** @param inputs weights of the inputs */
  weigh(operator: O, inputs: readonly Weight[], snapshot: PlannedSnapshot): Weight
  /** Estimates the result and the time of {@link evaluate} with this many candidates. */
  estimate(operator: O, candidates: number, scope: EstimateScope): Expectation
  /** @param candidates at least one */
  evaluate(operator: O, candidates: RowSet, scope: EvaluateScope): RowSet
}

/** An operator below another. */
export interface Input {
  readonly operator: Operator
  /** Dataclass of its rows. */
  readonly dataClass: DataClass
}

/** An operator as clients see it, without its inputs. */
export interface Description {
  readonly text: string
  /** Word that connects the inputs of a set operation. */
  readonly word?: 'And' | 'Or' | 'Except' | 'Not'
  /** True if the operator concerns something that the client may not see. */
  readonly isHidden?: boolean
}

/** Expected work on one candidate, which decides the order of an Intersect. */
export interface Weight {
  /** Share of the candidates that pass, 0 to 1. */
  readonly share: number
  readonly microseconds: number
  /** True if the operator starts from index hits, so that its cost depends on the hits and not on the candidates. */
  readonly isIndexed?: boolean | undefined
}

/** Part of a snapshot that the choice of a plan needs. */
export interface PlannedSnapshot {
  table(dataClass: DataClass): PlannedTable
}
export interface PlannedTable extends Pick<TableSnapshot, 'live'> {
  index(attribute: StorageAttribute): PlannedIndex | undefined
}
export type PlannedIndex = Pick<SecondaryIndex, 'estimate' | 'order'>

/** Expected rows and time of an operator. */
export interface Expectation {
  readonly rows: number
  readonly microseconds: number
}

interface OperatorScope {
  /** Dataclass of the candidates. */
  readonly dataClass: DataClass
  readonly table: TableSnapshot
}

interface EstimateScope extends OperatorScope {
  readonly snapshot: Snapshot
  estimate(input: Operator, dataClass: DataClass, candidates: number, snapshot: Snapshot): Expectation
}

interface EvaluateScope extends OperatorScope {
  readonly context: QueryContext
  evaluate(input: Operator, dataClass: DataClass, candidates: RowSet, context: QueryContext): RowSet
}
