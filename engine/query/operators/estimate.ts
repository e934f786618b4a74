import type { DataClass } from '../../catalog/dataclass.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { Expectation, Operator } from './operator.ts'
import { kindOf } from './registry.ts'

/**
 * Expects of an operator what `evaluate` would do with this many candidates. Indexes have counted their hits already;
 * without one it is guesswork.
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
