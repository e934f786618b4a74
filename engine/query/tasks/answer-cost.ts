import { isRelation, type RelationAttribute } from '../../catalog/attribute.ts'
import { type DataClass, defaultTop } from '../../catalog/dataclass.ts'
import type { Snapshot } from '../../data/snapshot.ts'
import type { Measure } from '../aggregate/measure.ts'
import { columnTarget } from '../execute/over-columns.ts'
import type { PathListItem } from '../parse/parse-path-list.ts'
import type { Output } from '../contract/request.ts'
import { relatedPerEntity } from './selection-cost.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import { costOfReading } from '../estimate/reading-cost.ts'

/** Expected time to write this many entities, in microseconds. Unknown names cost nothing. */
export function costOfEntities(output: Output, dataClass: DataClass, rows: number, snapshot: Snapshot): number {
  const { attributes, expand, pretty, rowFormat } = output
  let relatedCount = 0
  for (const item of expand ?? []) relatedCount += relatedRows(item, dataClass, snapshot)
  if (attributes?.from === 'parameter') {
    for (const item of attributes.items)
      if (item.path.length > 1) relatedCount += relatedRows(item, dataClass, snapshot)
  }
  const copyCost = snapshot.table(dataClass).copyEntities ? MICROSECONDS.rowInMemory : MICROSECONDS.row
  const row = pretty || rowFormat ? MICROSECONDS.rewrittenRow : copyCost
  return rows * (row + relatedCount * (row + MICROSECONDS.relatedRow))
}

/** Expected number of related rows of one entity, over all relations in the path. */
function relatedRows({ path, range }: PathListItem, dataClass: DataClass, snapshot: Snapshot): number {
  let owner = dataClass
  let atOnce = 1
  let all = 0
  for (const name of path) {
    const relations = relationsNamed(name, owner)
    if (relations.length === 0) break
    const countShown = (relation: RelationAttribute) =>
      Math.min(range?.count ?? defaultTop(relation.target), relatedPerEntity(relation, snapshot))
    atOnce *= relations.reduce((sum, relation) => sum + countShown(relation), 0)
    all += atOnce
    owner = relations.at(-1)!.target
  }
  return all
}

function relationsNamed(name: string, owner: DataClass): readonly RelationAttribute[] {
  if (name === '$all') return owner.attributes.filter(isRelation)
  const attribute = owner.attributesByName.get(name)
  if (attribute?.kind === 'alias') {
    return isRelation(attribute.target) ? [...attribute.relations, attribute.target] : attribute.relations
  }
  return attribute && isRelation(attribute) ? [attribute] : []
}

/** Expected time to aggregate values, in microseconds. */
export function costOfAggregate(measure: Measure, isDistinct: boolean, rows: number, snapshot: Snapshot): number {
  const { relations, attribute, properties, values } = columnTarget(measure)
  let microseconds = 0
  for (const each of [...relations, attribute]) {
    // At the end of the path, entities of a 1→N relation are only counted, with the column of the inverse relation.
    const column = each.kind === 'relatedEntities' ? each.inverse : each
    microseconds += costOfReading(snapshot.table(column.dataClass), column, rows)
  }
  const isNumber = (values === 'number' || values === 'date') && properties.length === 0
  const perValue = isDistinct
    ? MICROSECONDS.distinct
    : isNumber
      ? MICROSECONDS.aggregate.number
      : MICROSECONDS.aggregate.other
  return microseconds + rows * perValue
}
