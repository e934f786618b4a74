import { storageNames } from './sqlite-database.ts'
import type { World } from './world.ts'

const SAMPLE = 1_000

export const attributeCount = (): number => storageNames('Employee').length

/**
 * Size of the values of all employees in the JSON that is sent, without names, commas and brackets: values of the attributes, the
 * link to the employer, and key, timestamp and stamp of the entity.
 */
export function rawBytesOf(world: World): number {
  let bytes = 0
  for (let n = 0; n < SAMPLE; n++) {
    const employee = world.employee(world.pick(n, world.employees))
    for (const value of Object.values(employee)) bytes += JSON.stringify(value).length
    const { ID, employerID } = employee
    const key = String(employerID)
    bytes += JSON.stringify({ __deferred: { uri: `/rest/Company(${key})`, __KEY: key } }).length
    bytes += JSON.stringify(String(ID)).length + JSON.stringify(TIMESTAMP).length + JSON.stringify(STAMP).length
  }
  return Math.round((bytes / SAMPLE) * world.employees)
}

const TIMESTAMP = '2026-01-31T10:00:00.000Z'
const STAMP = 1
