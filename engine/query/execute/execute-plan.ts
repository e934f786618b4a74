import { RowSet } from '../../row-set/row-set.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import type { LogicalPlan } from '../plan/logical-plan.ts'
import type { Operator } from '../plan/physical-plan.ts'
import { evaluate, type QueryContext } from './evaluate.ts'
import { openColumns } from './open-columns.ts'
import type { Rows } from './rows.ts'
import { orderOf } from './sort-keys.ts'
import { topCandidates } from './top-candidates.ts'
import { sortPositions, topPositions } from './top-n.ts'

/**
 * Runs a plan over the rows of its source, its filter by the given operator.
 * @throws {QueryErrors.TIMEOUT} @throws {QueryErrors.TOO_MANY_ROWS} when it costs more than the budget allows
 */
export function execute(plan: LogicalPlan, filter: Operator | undefined, source: Rows, context: QueryContext): Rows {
  switch (plan.kind) {
    case 'Source':
      return source
    case 'Filter': {
      const input = execute(plan.input, filter, source, context)
      openColumns(filter!, plan.dataClass, context.snapshot)
      return input.narrow(evaluate(filter!, plan.dataClass, input.set, context))
    }
    case 'Sort':
      return sort(execute(plan.input, filter, source, context), plan.keys, Number.POSITIVE_INFINITY, context)
    case 'TopN':
      return sort(execute(plan.input, filter, source, context), plan.keys, plan.count, context)
    case 'Limit': {
      const input = execute(plan.input, filter, source, context)
      return input.reordered(input.page(plan.skip, plan.count))
    }
  }
}

/** The first `count` rows of the order. */
function sort(rows: Rows, keys: readonly SortKey[], count: number, context: QueryContext): Rows {
  const { selection } = rows
  const rowIds = selection instanceof RowSet ? topCandidates(keys[0]!, selection, count, context).toIds() : selection
  const order = orderOf(keys, rowIds, context)
  const positions =
    count < rowIds.length ? topPositions(rowIds.length, count, order) : sortPositions(rowIds.length, order)
  return rows.reordered(positions.map(position => rowIds[position]!))
}
