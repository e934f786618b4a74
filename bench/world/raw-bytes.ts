import { storageNames } from './sqlite-database.ts'
import type { World } from './world.ts'

const SAMPLE = 1_000

export const attributeCount = (): number => storageNames('Employee').length

/** What the values of all employees take as such: 8 bytes for a number or a date, 1 for a bool, texts as UTF-8. */
export function rawBytesOf(world: World): number {
  let bytes = 0
  for (let n = 0; n < SAMPLE; n++) {
    for (const [name, value] of Object.entries(world.employee(world.pick(n, world.employees)))) {
      if (typeof value === 'string') bytes += name === 'birthDate' || name === 'hired' ? 8 : value.length
      else bytes += typeof value === 'boolean' ? 1 : 8
    }
  }
  return Math.round((bytes / SAMPLE) * world.employees)
}
