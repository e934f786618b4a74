import type { LogicalPlan } from '../plan/nodes/logical-plan.ts'
import type { Operator } from '../operators/operator.ts'
import { evaluate, openColumns } from '../operators/evaluate.ts'
import type { QueryContext } from '../operators/query-context.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import { overColumn } from './over-columns.ts'
import type { Rows } from '../contract/rows.ts'
import { indexedPage, sortedPage } from './sort.ts'

/**
 * Runs a plan over the rows of its source. `filter` is the operator for its predicate.
 * @throws {QueryErrors.TIMEOUT} @throws {QueryErrors.TOO_MANY_ROWS} when the plan costs more than the budget allows
 */
export function execute(plan: LogicalPlan, filter: Operator | undefined, source: Rows, context: QueryContext): Rows {
  const run = (input: LogicalPlan) => execute(input, filter, source, context)
  switch (plan.kind) {
    case 'Source':
      return source
    case 'Filter': {
      const input = run(plan.input)
      openColumns(filter!, plan.dataClass, context.snapshot)
      return input.narrow(evaluate(filter!, plan.dataClass, input.set, context))
    }
    case 'Sort': {
      const page = { ...plan, keys: overColumns(plan.keys, context), skip: 0, count: Number.POSITIVE_INFINITY }
      return sortedPage(page, run(plan.input), filter, context)
    }
    case 'TopN': {
      const sort = { ...plan, keys: overColumns(plan.keys, context) }
      return indexedPage(sort, source, filter, context) ?? sortedPage(sort, run(plan.input), filter, context)
    }
    case 'Limit': {
      const input = run(plan.input)
      return input.reordered(input.page(plan.skip, plan.count))
    }
  }
}

const overColumns = (keys: readonly SortKey[], { snapshot }: QueryContext): SortKey[] =>
  keys.map(key => overColumn(key, snapshot))
