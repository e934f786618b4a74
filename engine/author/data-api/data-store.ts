import { derivedClass } from './derived-class.ts'
import { type AuthorClass, SUBJECT, type Subject, subjectOf } from '../declare/describe-classes.ts'
import type { CallRequest, CallSession, DataStoreOf, EnqueueOptions } from '../declare/author-types.ts'
import type { CodeSession } from './code-session.ts'
import { LanguageErrors } from './language-errors.ts'
import { newJob } from './jobs.ts'
import { giveMetadata } from '../declare/members.ts'
import { nameBase } from '../declare/module-declarations.ts'
import { waitingScope } from './waiting-scope.ts'

let current: CodeSession | undefined

/** Binds `ds` to a code session, or to none. @returns the previous one */
export function setCurrent(codeSession: CodeSession | undefined): CodeSession | undefined {
  const before = current
  current = codeSession
  return before
}

/** @throws {LanguageErrors.NO_CALL} */
function currentLanguage(): CodeSession {
  const codeSession = current ?? waitingScope()?.codeSession
  if (!codeSession) throw LanguageErrors.NO_CALL()
  return codeSession
}

/** The datastore while a function runs: `ds.Employee.query(…)`. */
export const ds = new Proxy({} as DataStoreOf, {
  get: (_, name) => Reflect.get(currentLanguage().dataStore, name) as unknown,
  has: (_, name) => Reflect.has(currentLanguage().dataStore, name),
})

/** The session of the request that the code runs for. */
export const Session = new Proxy({} as CallSession, {
  get(_, name) {
    const { session } = currentLanguage().scope
    const value = Reflect.get(session, name, session) as unknown
    return typeof value === 'function' ? value.bind(session) : value
  },
  set(_, name, value) {
    const { session } = currentLanguage().scope
    return Reflect.set(session, name, value, session)
  },
  has: (_, name) => Reflect.has(currentLanguage().scope.session, name),
})

/** The request that the code runs for. */
export const request: CallRequest = {
  get traceparent() {
    return currentLanguage().scope.request.traceparent
  },
  get signal() {
    return currentLanguage().scope.request.signal
  },
  get job() {
    return currentLanguage().scope.request.job
  },
}

/** Base class of the datastore's functions: `export class Store extends DataStore { … }`. */
export class DataStore {
  static readonly [SUBJECT]: Subject = { kind: 'dataStore' }

  /** An instance of the plugin class, with a property for each dataclass. */
  static bind(codeSession: CodeSession, classes: readonly AuthorClass[]): DataStore {
    const [author = DataStore, other] = classes.filter(each => subjectOf(each).kind === 'dataStore')
    if (other) throw LanguageErrors.TWO_CLASSES(author.name, other.name, 'datastore')
    const instance = new (derivedClass(author as new () => DataStore, codeSession))()
    for (const [dataClass, { instance: value }] of codeSession.bindings) {
      Object.defineProperty(instance, dataClass.name, { value, enumerable: true })
    }
    return instance
  }

  transaction<T>(work: () => T): T {
    return currentLanguage().writes.transaction(work)
  }

  enqueue(job: unknown, args: readonly unknown[] = [], options: EnqueueOptions = {}): string {
    const codeSession = currentLanguage()
    return codeSession.writes.enqueue(newJob(codeSession.jobName(job), args, options, codeSession.writes.saving))
  }
}

/** Base class of shared singletons: one instance, called by the name of its class. */
// biome-ignore lint/complexity/noStaticOnlyClass: a class to extend
export class Singleton {
  static readonly [SUBJECT]: Subject = { kind: 'singleton' }
}

nameBase(giveMetadata(DataStore), 'DataStore')
nameBase(giveMetadata(Singleton), 'Singleton')
