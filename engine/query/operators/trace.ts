import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { Operator } from './operator.ts'
import { kindOf } from './registry.ts'

/** A step of `__queryPath`. A step of a join has only `steps`: what was asked of the other side. */
export interface TraceStep {
  readonly description?: string
  /** Milliseconds. */
  readonly time?: number
  /** Spelled like this by the protocol. */
  readonly recordsfounds?: number
  readonly steps?: readonly TraceStep[]
}

/**
 * Rows and time of each operator of a filter, reported by `evaluate` while it carries them out.
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
