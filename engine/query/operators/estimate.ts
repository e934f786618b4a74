import type { DataClass } from '../../catalog/dataclass.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { Expectation, Operator } from './operator.ts'
import { kindOf } from './registry.ts'

/**
 * Estimates the result and the time of `evaluate` with this many candidates. Hits in indexes have already been counted; without
 * an index the estimate is a guess.
 */
export const estimate = (
  operator: Operator,
  dataClass: DataClass,
  candidates: number,
  snapshot: Snapshot,
): Expectation =>
  kindOf(operator).estimate(operator, candidates, {
    dataClass,
    table: snapshot.table(dataClass),
    snapshot,
    estimate,
  })
