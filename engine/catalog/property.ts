import type { JsonType } from './attribute.ts'

/** Own property of an object; for an array also an element (`0`) or its `length`. Nothing is read from a prototype. */
export const propertyOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** JSON type of a value that is not null. */
export function jsonTypeOf(value: unknown): JsonType | 'container' {
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number') return 'number'
  return typeof value === 'boolean' ? 'bool' : 'container'
}
