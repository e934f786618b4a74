import type { View } from '../catalog/view.ts'
import type { Snapshot } from '../data/snapshot.ts'
import type { QueryLimits } from '../query/contract/query-limits.ts'
import type { ClientText, ReadRequest } from '../query/contract/request.ts'
import { outlineOperator } from '../query/operators/describe.ts'
import { withoutValues } from '../query/parse/without-values.ts'
import type { QueryCache } from '../query/plan/query-cache.ts'
import { planSelection } from '../query/select.ts'

/** A read for the log: texts and plan, without values. */
export interface QueryOutline {
  readonly filter?: string
  readonly orderBy?: string
  readonly plan?: string
}

/** Longer texts take too long to read and to plan beside a request that is answered already. */
const MAX_LENGTH = 2_000

/** @throws {ProtocolError} what is wrong with the request */
export function outlineQuery(
  request: ReadRequest,
  view: View,
  snapshot: Snapshot,
  queries: QueryCache,
  limits: QueryLimits,
): QueryOutline {
  const filter = textOf(request.filter)
  const orderBy = textOf(request.orderBy)
  const length = (filter?.length ?? 0) + (orderBy?.length ?? 0)
  if (length > MAX_LENGTH) return { filter: `(${length} characters)` }
  const selection = planSelection(request, view, snapshot, queries)
  return {
    ...(filter !== undefined && { filter: withoutValues(filter, limits) }),
    ...(orderBy !== undefined && { orderBy }),
    ...(selection.filter && { plan: outlineOperator(selection.filter, selection.dataClass) }),
  }
}

const textOf = (text: ClientText | undefined): string | undefined => (typeof text === 'object' ? text.withBlanks : text)
