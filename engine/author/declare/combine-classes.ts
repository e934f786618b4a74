import { addMembers, membersOf } from './members.ts'
import { type AuthorClass, extend, ownProperties, subjectOf } from './describe-classes.ts'

/**
 * Adds the classes of a module to those of other modules. When independent plugins have a class for the same subject, the result
 * is a subclass of the first with the members of the second; fields and `#private` members of the second are not combined.
 * @throws {Error} both have a member of the same name, or a singleton of the same name
 */
export function combineClasses(classes: readonly AuthorClass[], more: readonly AuthorClass[]): AuthorClass[] {
  const byKey = new Map(classes.map(each => [keyOf(each), each]))
  for (const each of more) {
    const first = byKey.get(keyOf(each))
    byKey.set(keyOf(each), first ? combine(first, each) : each)
  }
  return [...byKey.values()]
}

function keyOf(authorClass: AuthorClass): string {
  const { kind, dataClass } = subjectOf(authorClass)
  return `${kind} ${kind === 'singleton' ? authorClass.name : dataClass}`
}

function combine(first: AuthorClass, second: AuthorClass): AuthorClass {
  if (subjectOf(first).kind === 'singleton') throw new Error(`there are two singletons ${first.name}`)
  const firstProperties = ownProperties(first)
  const secondProperties = ownProperties(second)
  const both = [...secondProperties.keys()].filter(name => firstProperties.has(name))
  if (both.length > 0) {
    throw new Error(`the classes ${second.name} and ${first.name} both have ${both.map(String).join(', ')}`)
  }
  const combinedClass = extend(first as unknown as new () => object)
  Object.defineProperties(combinedClass.prototype, Object.fromEntries(secondProperties))
  addMembers(
    combinedClass,
    membersOf(second).map(member => ({ className: second.name, ...member })),
  )
  return combinedClass
}
