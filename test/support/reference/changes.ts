/**
 * Changes of a world that keep its references whole. Source: protocol notes, 5; the `onDelete` of the model.
 */
import { type OneSpec, type Plain, type Row, relatedEntity, rowsOf, type World } from './world.ts'

export function addRow(world: World, dataClass: string, values: Map<string, Plain>): Row {
  const table = world.classes.get(dataClass)!
  const row: Row = { id: table.nextId++, stamp: 1, values }
  table.rows.push(row)
  return row
}

/**
 * Deletes a row and what `onDelete` makes of those that point to it.
 * @returns false, without any change, when a row that stays forbids it
 */
export function deleteRow(world: World, dataClass: string, row: Row): boolean {
  const doomed = new Map<Row, string>([[row, dataClass]])
  const cleared: { row: Row; relation: OneSpec }[] = []
  const restricting: Row[] = []
  for (const [target, targetClass] of doomed) {
    for (const { relation, from, row: pointing } of referencesTo(world, targetClass, target)) {
      if (relation.onDelete === 'cascade') doomed.set(pointing, from)
      else if (relation.onDelete === 'restrict') restricting.push(pointing)
      else cleared.push({ row: pointing, relation })
    }
  }
  if (restricting.some(each => !doomed.has(each))) return false
  for (const each of new Set(cleared.map(({ row }) => row))) each.stamp++
  for (const { row, relation } of cleared) row.values.set(relation.foreignKey, null)
  for (const { spec, rows } of world.classes.values()) {
    const left = rows.filter(each => !(doomed.get(each) === spec.name))
    rows.splice(0, rows.length, ...left)
  }
  return true
}

function referencesTo(world: World, dataClass: string, target: Row): { relation: OneSpec; from: string; row: Row }[] {
  return [...world.classes.values()].flatMap(({ spec }) =>
    spec.attributes
      .filter((each): each is OneSpec => each.kind === 'relatedEntity' && each.target === dataClass)
      .flatMap(relation =>
        rowsOf(world, spec.name)
          .filter(row => relatedEntity(world, relation, row) === target)
          .map(row => ({ relation, from: spec.name, row })),
      ),
  )
}
