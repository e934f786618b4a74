/**
 * Removes the first occurrence of an element from a list. Queues of requests are lists, not sets: when a set grows, its old tables still
 * hold former elements, and each table refers to the next, so that one table in the old generation of V8 keeps all later elements alive
 * until it is collected.
 * @returns false if the list does not have the element
 */
export function remove<T>(list: T[], element: T): boolean {
  const at = list.indexOf(element)
  if (at >= 0) list.splice(at, 1)
  return at >= 0
}
