import { EngineErrors } from './engine-errors.ts'
import { stringifyExact } from './exact-json.ts'
import { parseJsonBody } from './json-body.ts'
import type { JsonBounds } from './json-bounds.ts'

/** Names and values of an object. A string is given as it is, any other value as JSON. */
export type JsonMembers = readonly (readonly [name: string, value: string])[]

/**
 * Parses a body that holds a JSON object into its members; none for an empty body. Generated clients send null for a member that is not set.
 * @throws {EngineErrors.NOT_AN_OBJECT} and the errors of `parseJsonBody`
 */
export function jsonMembers(body: Uint8Array, bounds: JsonBounds): JsonMembers {
  const value = parseJsonBody(body, bounds, 'numbers')
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw EngineErrors.NOT_AN_OBJECT()
  return Object.entries(value).flatMap(([name, each]) =>
    each === null ? [] : [[name, typeof each === 'string' ? each : stringifyExact(each)]],
  )
}
