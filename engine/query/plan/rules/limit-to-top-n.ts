import type { LogicalPlan } from '../nodes/logical-plan.ts'
import type { Rule } from './rule.ts'

/**
 * Turns Limit over Sort into TopN: a page of the order of an index, or a heap of skip + count rows instead of a full sort.
 *
 *   Limit(skip, count) ─ Sort(keys) ─ input   →   TopN(keys, skip, count) ─ input
 *
 * O(log n + count), or O(n log k) time and O(k) rows, where Sort needs O(n log n) and O(n).
 */
export const limitToTopN: Rule<LogicalPlan> = {
  name: 'limit-to-top-n',
  apply(plan) {
    if (plan.kind !== 'Limit' || plan.input.kind !== 'Sort' || plan.count === Number.POSITIVE_INFINITY) return plan
    const { dataClass, keys, input } = plan.input
    // An empty page needs no order.
    if (plan.count === 0) return { ...plan, input }
    return { kind: 'TopN', dataClass, keys, skip: plan.skip, count: plan.count, input }
  },
}
