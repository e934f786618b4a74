import type { DataClass } from '../../catalog/dataclass.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import { RowSet } from '../../row-set/row-set.ts'
import type { Operator } from './operator.ts'
import type { QueryContext } from './query-context.ts'
import { inputsOf, kindOf } from './registry.ts'

/** Returns the candidates, rows of `dataClass`, that pass an operator. */
export function evaluate(operator: Operator, dataClass: DataClass, candidates: RowSet, context: QueryContext): RowSet {
  const { trace } = context
  if (!trace) return run(operator, dataClass, candidates, context)
  return trace.step(operator, dataClass, () => run(operator, dataClass, candidates, context))
}

function run(operator: Operator, dataClass: DataClass, candidates: RowSet, context: QueryContext): RowSet {
  if (candidates.size === 0) return RowSet.empty
  return kindOf(operator).evaluate(operator, candidates, {
    dataClass,
    table: context.snapshot.table(dataClass),
    context,
    evaluate,
  })
}

/** Opens all columns that an operator may read, so that segments that are not in memory are decoded in one pass over the rows. */
export function openColumns(operator: Operator, dataClass: DataClass, snapshot: Snapshot): void {
  for (const column of kindOf(operator).columns?.(operator) ?? []) snapshot.table(column.dataClass).column(column)
  for (const input of inputsOf(operator, dataClass)) openColumns(input.operator, input.dataClass, snapshot)
}
