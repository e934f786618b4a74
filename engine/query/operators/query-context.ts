import type { PieceSink } from '../../answer/byte-writer.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { RemoteData } from '../plan/nodes/remote-query.ts'
import type { QueryBudget } from '../scan/query-budget.ts'
import type { Trace } from './trace.ts'

export interface QueryContext {
  readonly snapshot: Snapshot
  readonly budget: QueryBudget
  /** Databases of remote dataclasses, in the thread that queries them. */
  readonly remote?: RemoteData | undefined
  /** Sink of a large answer; undefined to keep the whole answer in memory. */
  readonly sink?: PieceSink | undefined
  /** Called with every operator. */
  readonly trace?: Trace | undefined
}
