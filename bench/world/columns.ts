import type { World } from './world.ts'

/** Attributes of all employees as arrays, from which plain loops compute the expected answers. */
interface WorldColumns {
  readonly salary: Float64Array
  readonly birth: Float64Array
  readonly name: Uint16Array
  readonly department: Uint8Array
  readonly employer: Uint16Array
}

const columnsByWorld = new WeakMap<World, WorldColumns>()

export function columnsOf(world: World): WorldColumns {
  let columns = columnsByWorld.get(world)
  if (!columns) {
    const count = world.employees
    columns = {
      salary: new Float64Array(count),
      birth: new Float64Array(count),
      name: new Uint16Array(count),
      department: new Uint8Array(count),
      employer: new Uint16Array(count),
    }
    for (let row = 0; row < count; row++) {
      columns.salary[row] = world.salaryOf(row)
      columns.birth[row] = world.birthOf(row)
      columns.name[row] = world.nameOf(row)
      columns.department[row] = world.departmentOf(row)
      columns.employer[row] = world.employerOf(row)
    }
    columnsByWorld.set(world, columns)
  }
  return columns
}

/** Rows that pass, in order. */
export function rowsWhere(world: World, passes: (row: number) => boolean): number[] {
  const rows: number[] = []
  for (let row = 0; row < world.employees; row++) if (passes(row)) rows.push(row)
  return rows
}

/** All rows by last name, rows of one name in order: a counting sort. */
export function rowsByName(world: World): number[] {
  const { name } = columnsOf(world)
  const rows: number[][] = Array.from({ length: world.names }, () => [])
  for (let row = 0; row < name.length; row++) rows[name[row]!]!.push(row)
  return rows.flat()
}

/** Expected result of `$compute=$all` for the rows that pass. */
export function summaryOf(values: ArrayLike<number>, passes: (row: number) => boolean) {
  let [count, sum, min, max] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let row = 0; row < values.length; row++) {
    if (!passes(row)) continue
    const value = values[row]!
    count++
    sum += value
    if (value < min) min = value
    if (value > max) max = value
  }
  return { count, sum, average: sum / count, min, max }
}
