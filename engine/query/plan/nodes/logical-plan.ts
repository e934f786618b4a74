import type { DataClass } from '../../../catalog/dataclass.ts'
import type { SortKey } from '../../bind/bind-order-by.ts'
import type { Predicate } from '../../bind/predicate.ts'

export interface SourcePlan {
  readonly kind: 'Source'
  readonly dataClass: DataClass
}

/** Rows before they are sorted. */
export type SelectedPlan =
  | SourcePlan
  | {
      readonly kind: 'Filter'
      readonly dataClass: DataClass
      readonly predicate: Predicate
      readonly input: SourcePlan
    }

/** Plan, from the inside out: Source, Filter, and Sort and Limit, or both as TopN. All rows are of one dataclass. */
export type LogicalPlan =
  | SelectedPlan
  | {
      readonly kind: 'Sort'
      readonly dataClass: DataClass
      readonly keys: readonly SortKey[]
      readonly input: SelectedPlan
    }
  /** A page of the sort. */
  | {
      readonly kind: 'TopN'
      readonly dataClass: DataClass
      readonly keys: readonly SortKey[]
      readonly skip: number
      readonly count: number
      readonly input: SelectedPlan
    }
  | {
      readonly kind: 'Limit'
      readonly dataClass: DataClass
      readonly skip: number
      readonly count: number
      readonly input: LogicalPlan
    }

export interface Query {
  readonly dataClass: DataClass
  readonly predicate: Predicate | undefined
  readonly orderBy: readonly SortKey[]
  /** Page to send; undefined for the whole selection. */
  readonly page: { readonly skip: number; readonly count: number } | undefined
}
