import { addMembers, membersOf } from './members.ts'
import { type AuthorClass, extend, ownProperties, subjectOf } from './describe-classes.ts'

/**
 * Adds the classes of a module to those of others. Where both have one for the same thing, as plugins do that know nothing
 * of each other, the result is a subclass of the first with the members of the other; its fields and its `#private` members
 * stay its own.
 * @throws {Error} when both have a member of that name, or a singleton of that name
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
  const taken = ownProperties(first)
  const added = ownProperties(second)
  const both = [...added.keys()].filter(name => taken.has(name))
  if (both.length > 0) {
    throw new Error(`the classes ${second.name} and ${first.name} both have ${both.map(String).join(', ')}`)
  }
  const combined = extend(first as unknown as new () => object)
  Object.defineProperties(combined.prototype, Object.fromEntries(added))
  addMembers(combined, membersOf(second))
  return combined
}
