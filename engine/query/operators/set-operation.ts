import type { DataClass } from '../../catalog/dataclass.ts'
import type { TableSnapshot } from '../../data/snapshot.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import type { Input, Operator } from './operator.ts'

/** Inputs of a set operation, which find rows of the same dataclass. */
export const sameRows = (operators: readonly Operator[], dataClass: DataClass): Input[] =>
  operators.map(operator => ({ operator, dataClass }))

/** Time of one set operation. */
export const costOfSets = ({ rowIdLimit }: TableSnapshot): number => (rowIdLimit / 32) * MICROSECONDS.word
