import type { LogicalPlan, Query } from './logical-plan.ts'

/** The plan of a query, before any rule has seen it. */
export function buildPlan({ dataClass, predicate, orderBy, page }: Query): LogicalPlan {
  let plan: LogicalPlan = { kind: 'Source', dataClass }
  if (predicate) plan = { kind: 'Filter', dataClass, predicate, input: plan }
  if (orderBy.length > 0) plan = { kind: 'Sort', dataClass, keys: orderBy, input: plan }
  return page ? { kind: 'Limit', dataClass, ...page, input: plan } : plan
}
