import { ofFunction } from '../permission/roles.ts'
import { membersOf } from './members.ts'
import { subjectOf } from './describe-classes.ts'
import type { Language } from './language.ts'

/**
 * A subclass of the same name for one language, the author's class itself stays as it is. Its functions run with what
 * `roles.json` promotes them to, whoever calls them.
 */
export function derived<T extends object>(base: new () => T, language: Language): new () => T {
  const subclass = class extends (base as new () => object) {}
  Object.defineProperty(subclass, 'name', { value: base.name })
  const functions = membersOf(base).filter(({ kind }) => kind === 'function')
  for (const { name } of functions) {
    const { kind, dataClass } = subjectOf(base)
    const resources = ofFunction(kind, kind === 'singleton' ? base.name : dataClass, name)
    const called = Reflect.get(base.prototype, name) as (...args: unknown[]) => unknown
    function promoted(this: unknown, ...args: unknown[]): unknown {
      return language.promoting(resources, () => Reflect.apply(called, this, args))
    }
    Object.defineProperty(subclass.prototype, name, { value: promoted, writable: true, configurable: true })
  }
  return subclass as new () => T
}
