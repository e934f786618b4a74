import { EngineErrors } from './engine-errors.ts'
import { stringifyExact } from './exact-json.ts'
import { parseJsonBody } from './json-body.ts'
import type { JsonBounds } from './json-bounds.ts'

/** Names and values of an object. A value that is a text is itself, every other one its JSON. */
export type JsonMembers = readonly (readonly [name: string, value: string])[]

/**
 * The members of the JSON object that a body holds; none of an empty one.
 * @throws {EngineErrors.NOT_AN_OBJECT} {@link EngineErrors.NOT_FINITE}; as `parseJsonBody` does
 */
export function jsonMembers(body: Uint8Array, bounds: JsonBounds): JsonMembers {
  const value = parseJsonBody(body, bounds, true)
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw EngineErrors.NOT_AN_OBJECT()
  return Object.entries(value).map(([name, each]) => [name, typeof each === 'string' ? each : textOf(each)])
}

/** @throws {EngineErrors.NOT_FINITE} what would become null */
function textOf(value: unknown): string {
  try {
    return stringifyExact(value)
  } catch (error) {
    throw error instanceof RangeError ? EngineErrors.NOT_FINITE() : error
  }
}
