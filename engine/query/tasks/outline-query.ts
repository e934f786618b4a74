import type { View } from '../../catalog/view.ts'
import { needsOf } from '../../data/suspended.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { QueryLimits } from '../contract/query-limits.ts'
import type { ClientText, ReadRequest } from '../contract/request.ts'
import { outlineOperator } from '../operators/describe.ts'
import { withoutValues } from '../parse/without-values.ts'
import type { QueryCache } from '../plan/query-cache.ts'
import type { Selection } from '../source/finder.ts'
import { planSelection } from '../source/select.ts'

/** Description of a read for the log: texts and plan, without values. */
export interface QueryOutline {
  readonly filter?: string
  readonly orderBy?: string
  readonly plan?: string
}

/** Maximum length of texts: longer ones take too long to parse and plan for a request that has already been answered. */
const MAX_LENGTH = 2_000

/** @throws {ProtocolError} the request is invalid */
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
  const selection = planOf(() => planSelection(request, view, queries, { snapshot }))
  return {
    ...(filter !== undefined && { filter: withoutValues(filter, limits) }),
    ...(orderBy !== undefined && { orderBy }),
    ...(selection?.filter && { plan: outlineOperator(selection.filter, selection.dataClass) }),
  }
}

/** @returns undefined if the entities are not in this store, so that another system plans the query */
function planOf(plan: () => Selection): Selection | undefined {
  try {
    return plan()
  } catch (error) {
    if (needsOf(error)?.kind !== 'entities') throw error
    return undefined
  }
}

const textOf = (text: ClientText | undefined): string | undefined => (typeof text === 'object' ? text.withBlanks : text)
