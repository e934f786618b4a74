/**
 * Changes of a world that keep its references valid. Source: protocol notes, 5; the `onDelete` of the model.
 */
import { type OneSpec, type Plain, type Row, relatedEntity, rowsOf, type World } from './world.ts'

export function addRow(world: World, dataClass: string, values: Map<string, Plain>): Row {
  const table = world.classes.get(dataClass)!
  const row: Row = { id: table.nextId++, stamp: 1, values }
  table.rows.push(row)
  return row
}

/**
 * Deletes rows of one dataclass together, and applies `onDelete` to the rows that refer to them.
 * @returns the rows that stay and lost a reference; undefined, without any change, when a row that stays forbids it
 */
export function deleteRows(world: World, dataClass: string, rows: Row[]): Row[] | undefined {
  const doomed = new Map<Row, string>(rows.map(row => [row, dataClass]))
  const cleared: { row: Row; relation: OneSpec }[] = []
  const restricting: Row[] = []
  for (const [target, targetClass] of doomed) {
    for (const { relation, from, row: pointing } of referencesTo(world, targetClass, target)) {
      if (relation.onDelete === 'cascade') doomed.set(pointing, from)
      else if (relation.onDelete === 'restrict') restricting.push(pointing)
      else cleared.push({ row: pointing, relation })
    }
  }
  if (restricting.some(each => !doomed.has(each))) return undefined
  const changed = [...new Set(cleared.map(({ row }) => row))].filter(each => !doomed.has(each))
  for (const each of changed) each.stamp++
  for (const { row, relation } of cleared) row.values.set(relation.foreignKey, null)
  for (const { spec, rows } of world.classes.values()) {
    const left = rows.filter(each => !(doomed.get(each) === spec.name))
    rows.splice(0, rows.length, ...left)
  }
  return changed
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
