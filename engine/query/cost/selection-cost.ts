import type { RelationAttribute } from '../../catalog/attribute.ts'
import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import type { Snapshot } from '../../storage/snapshot.ts'
import type { SortKey } from '../bind/bind-order-by.ts'
import { attributeOperator, relationsOf } from '../execute/open-source.ts'
import type { LogicalPlan } from '../plan/logical-plan.ts'
import type { SelectRequest, Selection } from '../select.ts'
import { type Expectation, expect } from './operator-cost.ts'
import { costOfReading, MICROSECONDS } from './work.ts'

/** What finding the rows of a selection is expected to take, and how many there are to be. */
export function expectSelection(selection: Selection, catalog: Catalog, snapshot: Snapshot): Expectation {
  const source = expectSource(selection.request, selection.dataClass, catalog, snapshot)
  return expectPlan(selection.plan, selection, source, snapshot)
}

function expectPlan(plan: LogicalPlan, selection: Selection, source: Expectation, snapshot: Snapshot): Expectation {
  if (plan.kind === 'Source') return source
  const input = expectPlan(plan.input, selection, source, snapshot)
  switch (plan.kind) {
    case 'Filter': {
      const { rows, microseconds } = expect(selection.filter!, plan.dataClass, input.rows, snapshot)
      return { rows, microseconds: input.microseconds + microseconds }
    }
    case 'Sort':
    case 'TopN':
      return { rows: input.rows, microseconds: input.microseconds + costOfSort(plan, input.rows, snapshot) }
    case 'Limit':
      return { rows: Math.max(0, Math.min(plan.count, input.rows - plan.skip)), microseconds: input.microseconds }
  }
}

function costOfSort(plan: LogicalPlan & { kind: 'Sort' | 'TopN' }, rows: number, snapshot: Snapshot): number {
  const isTop = plan.kind === 'TopN' && plan.count * 2 < rows
  let microseconds = 0
  for (const key of plan.keys) {
    const kind = isText(key) ? 'text' : 'number'
    for (const attribute of [...key.relations, key.attribute]) {
      microseconds += costOfReading(snapshot.table(attribute.dataClass), attribute, rows)
    }
    microseconds += rows * (isTop ? MICROSECONDS.topRow[kind] : MICROSECONDS.sortStep * Math.log2(Math.max(2, rows)))
  }
  return microseconds
}

const isText = ({ attribute: { type } }: SortKey): boolean => type === 'string' || type === 'uuid' || type === 'object'

function expectSource(
  { source }: SelectRequest,
  dataClass: DataClass,
  catalog: Catalog,
  snapshot: Snapshot,
): Expectation {
  switch (source.kind) {
    case 'all':
      return { rows: snapshot.table(dataClass).live.size, microseconds: 0 }
    case 'keys':
      return { rows: source.keys.length, microseconds: source.keys.length * MICROSECONDS.key }
    case 'attribute': {
      const operator = attributeOperator(source, dataClass, snapshot)
      return expect(operator, dataClass, snapshot.table(dataClass).live.size, snapshot)
    }
    case 'related': {
      let rows = 1
      for (const relation of relationsOf(source.relation, catalog.dataClassesByName.get(source.from.dataClass)!)) {
        rows *= fanOut(relation, snapshot)
      }
      return { rows, microseconds: MICROSECONDS.key + rows * MICROSECONDS.indexHit }
    }
    case 'set':
      return { rows: source.members.size, microseconds: 0 }
    case 'rows':
      return { rows: source.rowIds.length, microseconds: source.ordered ? 0 : source.rowIds.length * MICROSECONDS.cell }
  }
}

/** Entities at the end of a relation, of one entity, on average. */
export function fanOut(relation: RelationAttribute, snapshot: Snapshot): number {
  if (relation.kind === 'relatedEntity') return 1
  return snapshot.table(relation.target).live.size / Math.max(1, snapshot.table(relation.dataClass).live.size)
}
