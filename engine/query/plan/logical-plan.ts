import type { DataClass } from '../../catalog/dataclass.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { Predicate } from '../bind/predicate.ts'

/** What to compute, from the inside out: Source, Filter, Sort and Limit or both of them as TopN. The rows are always of one dataclass. */
export type LogicalPlan =
  | { readonly kind: 'Source'; readonly dataClass: DataClass }
  | {
      readonly kind: 'Filter'
      readonly dataClass: DataClass
      readonly predicate: Predicate
      readonly input: LogicalPlan
    }
  | {
      readonly kind: 'Sort'
      readonly dataClass: DataClass
      readonly keys: readonly SortKey[]
      readonly input: LogicalPlan
    }
  /** A page of the sort. */
  | {
      readonly kind: 'TopN'
      readonly dataClass: DataClass
      readonly keys: readonly SortKey[]
      readonly skip: number
      readonly count: number
      readonly input: LogicalPlan
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
  /** Undefined: the whole selection. */
  readonly page: { readonly skip: number; readonly count: number } | undefined
}
