import { isLongNumber } from './exact-json.ts'

/** True for a value that was an object in JSON. */
export const isJsonObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json) && !isLongNumber(json)

/** A member of a JSON object; undefined for one that every object inherits, such as `constructor`. */
export const ownMember = (object: object, name: string): unknown =>
  Object.hasOwn(object, name) ? (object as Record<string, unknown>)[name] : undefined
