import type { LogicalPlan, Query, SelectedPlan, SourcePlan } from './nodes/logical-plan.ts'

/** Builds the plan of a query, before any rule is applied. */
export function buildPlan({ dataClass, predicate, orderBy, page }: Query): LogicalPlan {
  const source: SourcePlan = { kind: 'Source', dataClass }
  const filterPlan: SelectedPlan = predicate ? { kind: 'Filter', dataClass, predicate, input: source } : source
  const sortPlan: LogicalPlan =
    orderBy.length > 0 ? { kind: 'Sort', dataClass, keys: orderBy, input: filterPlan } : filterPlan
  return page ? { kind: 'Limit', dataClass, ...page, input: sortPlan } : sortPlan
}
