/**
 * Takes the first such element out of a list. For queues of requests, which are lists and not sets: the tables that a set outgrows hold
 * its former elements, and each one leads to the next, so that one table in the old generation of V8 keeps all elements since then alive
 * until that is collected.
 * @returns false: it has none
 */
export function remove<T>(list: T[], element: T): boolean {
  const at = list.indexOf(element)
  if (at >= 0) list.splice(at, 1)
  return at >= 0
}
