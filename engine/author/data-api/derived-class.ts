import { ofFunction } from '../../permission/roles.ts'
import { placeOf } from '../declare/code-place.ts'
import { membersOf } from '../declare/members.ts'
import { extend, subjectOf } from '../declare/describe-classes.ts'
import type { CodeSession } from './code-session.ts'
import { startAs } from '../declare/running-code.ts'
import { governedGenerator, isGenerator } from './governed-generator.ts'

/**
 * A subclass of the same name for one code session; the plugin class itself is not changed. Its functions run under their names and
 * with the promotions of `roles.json`, for every caller.
 */
export function derivedClass<T extends object>(base: new () => T, codeSession: CodeSession): new () => T {
  const subclass = extend(base)
  for (const member of membersOf(base)) {
    const { name } = member
    // A function may be exposed and a job.
    if ((member.kind !== 'function' && member.kind !== 'job') || Object.hasOwn(subclass.prototype, name)) continue
    const place = placeOf(member, base.name)
    const { kind, dataClass } = subjectOf(base)
    const resources = ofFunction(kind, kind === 'singleton' ? base.name : dataClass, name)
    const method = Reflect.get(base.prototype, name) as (...args: unknown[]) => unknown
    function promotedMethod(this: unknown, ...args: unknown[]): unknown {
      const govern = <T>(work: () => T): T => startAs(place, () => codeSession.scope.promoting(resources, work))
      const result = govern(() => Reflect.apply(method, this, args) as unknown)
      // The code of a generator has not run yet.
      return member.flow === 'generator' && isGenerator(result) ? governedGenerator(result, govern) : result
    }
    Object.defineProperty(subclass.prototype, name, { value: promotedMethod, writable: true, configurable: true })
  }
  return subclass
}
