import type { Company, Employee, World } from '../world/world.ts'
import type { Expectation } from './http-case.ts'

type Json = Record<string, unknown>

/**
 * Problem of an answer; undefined when every attribute of every entity is as expected. Only times of saves and the global stamp
 * may differ.
 */
export function problemOf(world: World, expectation: Expectation, answer: unknown): string | undefined {
  const body = answer as Json
  switch (expectation.kind) {
    case 'value':
      return difference(expectation.value, answer)
    case 'employee':
      return difference({ __entityModel: 'Employee', ...employee(world.employee(expectation.row)) }, answer)
    case 'page': {
      const { count, first, rows, expanded } = expectation
      const entities = rows.map(row => {
        const values = world.employee(row)
        return expanded
          ? { ...employee(values), employer: company(world.company(values.employerID - 1)) }
          : employee(values)
      })
      const head = { __entityModel: 'Employee', __COUNT: count, __FIRST: first, __SENT: rows.length }
      return difference({ ...head, __ENTITIES: entities }, answer)
    }
    case 'saved': {
      const { row, stamp, values } = expectation
      const before = row === undefined ? { ID: Number(body.ID) } : world.employee(row)
      const savedEmployee = employee({ ...before, ...values } as Employee, stamp)
      return difference({ ...savedEmployee, uri: `/rest/Employee(${savedEmployee.__KEY})` }, answer)
    }
    case 'savedMany': {
      const entities = body.__ENTITIES as Json[] | undefined
      const savedCount = entities?.filter(entity => entity.__STAMP === 1).length ?? 0
      return savedCount === expectation.count
        ? undefined
        : `${savedCount} entities were saved and not ${expectation.count}`
    }
  }
}

const deferredLink = (uri: string, key?: string) => ({ __deferred: { uri, ...(key !== undefined && { __KEY: key }) } })

const employee = (values: Employee, stamp = 1) => ({
  __KEY: String(values.ID),
  __STAMP: stamp,
  ...values,
  employer: deferredLink(`/rest/Company(${values.employerID})`, String(values.employerID)),
})

const company = (values: Company) => ({
  __KEY: String(values.ID),
  __STAMP: 1,
  ...values,
  staff: deferredLink(`/rest/Company(${values.ID})/staff?$expand=staff`),
})

const MAY_DIFFER: ReadonlySet<string> = new Set(['__TIMESTAMP', '__GlobalStamp'])

/** The first place where two JSON values differ, in words. */
export function difference(expected: unknown, actual: unknown, place = 'the answer'): string | undefined {
  if (typeof expected === 'object' && expected !== null && typeof actual === 'object' && actual !== null) {
    const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
    for (const name of names) {
      if (MAY_DIFFER.has(name)) continue
      const deviation = difference((expected as Json)[name], (actual as Json)[name], `${place}.${name}`)
      if (deviation) return deviation
    }
    return undefined
  }
  if (expected === actual || isNear(expected, actual)) return undefined
  return `${place} is ${text(actual)} and not ${text(expected)}`
}

/** True if two numbers are equal except for the last digits, which depend on the order of summation. */
const isNear = (a: unknown, b: unknown): boolean =>
  typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= 1e-12 * Math.abs(a)

const text = (value: unknown): string => (JSON.stringify(value) ?? 'absent').slice(0, 100)
