import type { RelationAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import { attributePredicate, relationsOf } from '../execute/open-source.ts'
import { columnTarget } from '../execute/over-columns.ts'
import { keptOrder, nearestCondition } from '../execute/sort.ts'
import { lower } from '../plan/lower.ts'
import type { LogicalPlan } from '../plan/nodes/logical-plan.ts'
import type { Selection, SelectRequest } from '../source/finder.ts'
import { estimate } from '../operators/estimate.ts'
import type { Expectation } from '../operators/operator.ts'
import { fanOut } from '../operators/related-rows.ts'
import { orderCost, sortCost } from '../estimate/sort-cost.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import { costOfReading } from '../estimate/reading-cost.ts'

/** Expected time to find the rows of a selection, and their expected number. */
export function expectSelection(selection: Selection, view: View, snapshot: Snapshot): Expectation {
  const source = expectSource(selection.request, selection.dataClass, view, snapshot)
  return expectPlan(selection.plan, selection, source, snapshot)
}

function expectPlan(plan: LogicalPlan, selection: Selection, source: Expectation, snapshot: Snapshot): Expectation {
  if (plan.kind === 'Source') return source
  const input = expectPlan(plan.input, selection, source, snapshot)
  switch (plan.kind) {
    case 'Filter': {
      const { rows, microseconds } = estimate(selection.filter!, plan.dataClass, input.rows, snapshot)
      return { rows, microseconds: input.microseconds + microseconds }
    }
    case 'Sort':
      return { rows: input.rows, microseconds: input.microseconds + costOfSort(plan, input.rows, snapshot) }
    case 'TopN': {
      const isFound = nearestCondition(plan.keys[0]!, selection.filter)?.access === 'index'
      const microseconds = input.microseconds + (isFound ? 0 : costOfSort(plan, input.rows, snapshot))
      return { rows: pageRows(plan, input.rows), microseconds }
    }
    case 'Limit':
      return { rows: pageRows(plan, input.rows), microseconds: input.microseconds }
  }
}

const pageRows = ({ skip, count }: { skip: number; count: number }, rows: number): number =>
  Math.max(0, Math.min(count, rows - skip))

/** Expected time to sort, by the method that `sortedPage` would choose. */
function costOfSort(plan: LogicalPlan & { kind: 'Sort' | 'TopN' }, rows: number, snapshot: Snapshot): number {
  const { skip, count } = plan.kind === 'TopN' ? plan : { skip: 0, count: rows }
  const keys = plan.keys.map(columnTarget)
  let sorting = sortCost(keys, rows, skip + count)
  for (const key of keys) {
    for (const attribute of [...key.relations, key.attribute]) {
      sorting += costOfReading(snapshot.table(attribute.dataClass), attribute, rows)
    }
  }
  const order = keptOrder(keys[0]!, snapshot.table(plan.dataClass))
  if (!order) return sorting
  return Math.min(sorting, orderCost(keys, rows, order.size, rows === order.size ? count : skip + count))
}

function expectSource({ source }: SelectRequest, dataClass: DataClass, view: View, snapshot: Snapshot): Expectation {
  switch (source.kind) {
    case 'all':
      return { rows: snapshot.table(dataClass).live.size, microseconds: 0 }
    case 'keys':
      return { rows: source.keys.length, microseconds: source.keys.length * MICROSECONDS.key }
    case 'attribute': {
      const operator = lower(attributePredicate(source, dataClass, view), dataClass, snapshot)
      return estimate(operator, dataClass, snapshot.table(dataClass).live.size, snapshot)
    }
    case 'related': {
      let rows = 1
      for (const relation of relationsOf(source.relation, view.dataClass(source.from.dataClass), view)) {
        rows *= relatedPerEntity(relation, snapshot)
      }
      return { rows, microseconds: MICROSECONDS.key + rows * MICROSECONDS.indexHit }
    }
    case 'set':
    case 'keyList':
      return { rows: source.members.size, microseconds: 0 }
    case 'rows':
      return { rows: source.rowIds.length, microseconds: source.ordered ? 0 : source.rowIds.length * MICROSECONDS.cell }
  }
}

/** Average number of related entities per entity. */
export const relatedPerEntity = (relation: RelationAttribute, snapshot: Snapshot): number =>
  relation.kind === 'relatedEntity' ? 1 : fanOut(snapshot.table(relation.target), snapshot.table(relation.dataClass))
