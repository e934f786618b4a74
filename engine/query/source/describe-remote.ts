import type { Attribute } from '../../catalog/attribute.ts'
import type { View } from '../../catalog/view.ts'
import type { Predicate } from '../bind/predicate.ts'
import type { Output } from '../contract/request.ts'
import type { RemoteStep } from '../plan/nodes/remote-query.ts'
import type { TraceStep } from '../operators/trace.ts'
import type { PlanDescription } from '../operators/describe.ts'

interface Description {
  readonly __queryPlan?: PlanDescription
  readonly __queryPath?: { readonly steps: readonly TraceStep[] }
}

const HIDDEN = 'not shown'

/**
 * Describes the statements of a filter to a client, unless the filter reads something that the client may not see. Source: protocol notes,
 * 2.14.
 */
export function describeRemote(
  predicate: Predicate,
  steps: readonly RemoteStep[],
  parts: NonNullable<Output['describe']>,
  view: View,
): Description {
  const isHidden = readsHidden(predicate, view)
  const items = isHidden ? [HIDDEN] : [...new Set(steps.map(({ statement }) => statement))]
  const path: TraceStep[] = isHidden
    ? [{ description: HIDDEN }]
    : steps.map(({ statement, time, rows }) => ({ description: statement, time, recordsfounds: rows }))
  return {
    ...(parts.plan && {
      __queryPlan: items.length === 1 ? { item: items[0]! } : { And: items.map(item => ({ item })) },
    }),
    ...(parts.path && { __queryPath: { steps: path } }),
  }
}

function readsHidden(predicate: Predicate, view: View): boolean {
  const isHidden = (attribute: Attribute): boolean => {
    const shownAttribute = (attribute.kind === 'storage' && attribute.source?.object) || attribute
    return !view.shows(shownAttribute) && !(attribute.kind === 'storage' && attribute.head !== undefined)
  }
  switch (predicate.kind) {
    case 'always':
    case 'never':
      return false
    case 'test':
    case 'identity':
    case 'isNull':
    case 'similarity':
    case 'json':
      return isHidden(predicate.attribute)
    case 'via':
    case 'some':
      return isHidden(predicate.relation) || readsHidden(predicate.input, view)
    case 'and':
    case 'or':
      return predicate.inputs.some(input => readsHidden(input, view))
    case 'except':
      return readsHidden(predicate.left, view) || readsHidden(predicate.right, view)
    case 'not':
    case 'complement':
      return readsHidden(predicate.input, view)
  }
}
