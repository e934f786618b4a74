import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { Operator } from './operator.ts'
import { kindOf } from './registry.ts'

/** A step of `__queryPath`. A step below a join has only `steps`, on the other side of the join. */
export interface TraceStep {
  readonly description?: string
  /** Milliseconds. */
  readonly time?: number
  /** The protocol's spelling. */
  readonly recordsfounds?: number
  readonly steps?: readonly TraceStep[]
}

/**
 * Rows and time of each operator of a filter, reported by `evaluate` as it runs them.
 * Source: protocol notes, 2.14.
 */
export class Trace {
  readonly steps: TraceStep[] = []
  private open = this.steps

  /** @param view of the client that sees the trace */
  constructor(private readonly view: View) {}

  step(operator: Operator, dataClass: DataClass, run: () => RowSet): RowSet {
    const around = this.open
    const below: TraceStep[] = []
    this.open = below
    const startedAt = performance.now()
    const rows = run()
    const time = Math.round((performance.now() - startedAt) * 1000) / 1000
    this.open = around
    const { text, word } = kindOf(operator).describe(operator, dataClass, this.view)
    // A join has no word for its inputs.
    const steps = word === undefined ? below.map(step => ({ steps: [step] })) : below
    around.push({ description: text, time, recordsfounds: rows.size, ...(steps.length > 0 && { steps }) })
    return rows
  }
}
