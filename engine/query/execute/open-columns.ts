import type { DataClass } from '../../catalog/dataclass.ts'
import type { Snapshot } from '../../storage/snapshot.ts'
import type { Operator } from '../plan/physical-plan.ts'

/** Opens the columns that an operator may read, so that segments not in memory are decoded from each row once. */
export function openColumns(operator: Operator, dataClass: DataClass, snapshot: Snapshot): void {
  switch (operator.kind) {
    case 'ColumnFilter':
    case 'NullFilter':
    case 'VectorFilter':
    case 'JsonFilter':
      if (operator.attribute.kind !== 'calculated') snapshot.table(dataClass).column(operator.attribute)
      break
    case 'SemiJoin':
      snapshot.table(dataClass).column(operator.relation)
      openColumns(operator.input, operator.relation.target, snapshot)
      break
    case 'ReverseSemiJoin':
      snapshot.table(operator.relation.target).column(operator.relation.inverse)
      openColumns(operator.input, operator.relation.target, snapshot)
      break
    case 'Intersect':
    case 'Union':
      for (const input of operator.inputs) openColumns(input, dataClass, snapshot)
      break
    case 'Difference':
      openColumns(operator.left, dataClass, snapshot)
      openColumns(operator.right, dataClass, snapshot)
      break
    case 'Complement':
      openColumns(operator.input, dataClass, snapshot)
      break
    default:
      // An index scan reads its column only for a handful of candidates.
      break
  }
}
