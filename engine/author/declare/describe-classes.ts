import { createHash } from 'node:crypto'
import { isAsyncFunction, isGeneratorFunction } from 'node:util/types'
import { type Member, membersOf } from './members.ts'
import { type Origin, originOfClass } from './module-declarations.ts'

/** Subject of a plugin class, set on the base class that the factories of `classes.ts` make. */
export const SUBJECT = Symbol('tesser.subject')

export type ClassKind = 'dataStore' | 'dataClass' | 'entitySelection' | 'entity' | 'singleton'

export interface Subject {
  readonly kind: ClassKind
  /** Undefined for a datastore or a singleton. */
  readonly dataClass?: string
}

/** A plugin class as plain data, for all threads. */
export interface ClassDescriptor extends Subject, Origin {
  /** Name of the class; clients call a singleton by it. */
  readonly name: string
  readonly members: readonly Member[]
  /** Calculated attributes that have a set handler. */
  readonly setters: readonly string[]
  /** Fingerprint of each calculated attribute: changes with its declared version, or without one with its source text. */
  readonly fingerprints: Readonly<Record<string, string>>
  /** Names of its methods and accessors, with or without a decorator; for an entity class also of its fields. */
  readonly properties: readonly string[]
}

/** A function of a plugin that is called by name, exposed or not: of the datastore, a dataclass or a singleton. */
export interface OwnFunction extends Subject {
  readonly plugin: string
  /** Class and function as the author wrote them. */
  readonly className: string
  readonly name: string
  readonly isAsync: boolean
}

/** Classes that the modules of plugins export, and problems of their other declarations. */
export interface LoadedClasses {
  readonly classes: readonly ClassDescriptor[]
  readonly functions: readonly OwnFunction[]
  /** Classes that are not exported. */
  readonly problems: readonly string[]
}

// biome-ignore lint/suspicious/noExplicitAny: constructors of plugin classes
export type AuthorClass = abstract new (...args: any[]) => object

/** Plugin classes among the exports of a module. */
export function authorClasses(exports: Readonly<Record<string, unknown>>): AuthorClass[] {
  const classes = [...new Set(Object.values(exports))].filter(
    (value): value is AuthorClass => typeof value === 'function' && SUBJECT in value && !Object.hasOwn(value, SUBJECT),
  )
  // A base class is described as part of the class that extends it.
  return classes.filter(each => !classes.some(other => Object.prototype.isPrototypeOf.call(each, other)))
}

export const subjectOf = (authorClass: AuthorClass): Subject =>
  (authorClass as AuthorClass & { [SUBJECT]: Subject })[SUBJECT]

export function describeClass(authorClass: AuthorClass): ClassDescriptor {
  const members = membersOf(authorClass)
  const setters = members.flatMap(({ kind, name }) =>
    kind === 'calculated' && hasSetter(authorClass, name) ? [name] : [],
  )
  const fingerprints = members.flatMap(member =>
    member.kind === 'calculated' ? [[member.name, fingerprintOf(authorClass, member.name, member.version)]] : [],
  )
  return {
    ...subjectOf(authorClass),
    name: authorClass.name,
    members,
    setters,
    fingerprints: Object.fromEntries(fingerprints),
    properties: [...[...ownProperties(authorClass).keys()].filter(name => typeof name === 'string')],
    ...originOfClass(authorClass),
  }
}

/** Kinds of classes whose functions can be jobs: each of these classes has a single object, which needs no address. */
export const JOB_KINDS: readonly ClassKind[] = ['dataStore', 'dataClass', 'singleton']

/** Name of a job in records and addresses: it stays the same when a class of a dataclass is renamed. */
export const jobName = (
  { kind, name, dataClass }: { readonly kind: ClassKind; readonly name: string; readonly dataClass?: string },
  method: string,
): string => `${kind === 'dataStore' ? 'ds' : (dataClass ?? name)}.${method}`

/** Methods of a class that its own plugin can call by name, except the code of events and handlers, and generators. */
export function ownFunctions(authorClass: AuthorClass, plugin: string): OwnFunction[] {
  const subject = subjectOf(authorClass)
  if (subject.kind === 'entity' || subject.kind === 'entitySelection') return []
  const callKinds: readonly string[] = ['function', 'job', 'schedule']
  const handlers = new Set(membersOf(authorClass).flatMap(({ kind, name }) => (callKinds.includes(kind) ? [] : name)))
  return [...ownProperties(authorClass)].flatMap(([name, { value }]) => {
    if (typeof name !== 'string' || typeof value !== 'function' || handlers.has(name)) return []
    if (isGeneratorFunction(value)) return []
    return { ...subject, plugin, className: authorClass.name, name, isAsync: isAsyncFunction(value) }
  })
}

/** A subclass of the same name, in stack traces too: V8 takes the name of the nearest class that is named in the source. */
export function extend<T extends object>(base: new () => T): new () => T {
  const subclass = anonymous(base as new () => object)
  Object.defineProperty(subclass, 'name', { value: base.name })
  return subclass as new () => T
}
const anonymous = (base: new () => object) => class extends base {}

/** Methods and accessors from plugin code, without those of our base classes. */
export function ownProperties({ prototype }: AuthorClass): Map<string | symbol, PropertyDescriptor> {
  const properties = new Map<string | symbol, PropertyDescriptor>()
  for (let owner = prototype as object; !isOurs(owner); owner = Object.getPrototypeOf(owner) as object) {
    for (const name of Reflect.ownKeys(owner)) {
      if (name === 'constructor' || properties.has(name)) continue
      properties.set(name, Object.getOwnPropertyDescriptor(owner, name)!)
    }
  }
  return properties
}

const isOurs = (prototype: object): boolean => Object.hasOwn(prototype.constructor, SUBJECT)

function fingerprintOf(authorClass: AuthorClass, name: string, version: number | string | undefined): string {
  if (version !== undefined) return `version ${version}`
  const source = String(propertyOf(authorClass, name)?.get)
  return createHash('sha256').update(source).digest('base64url').slice(0, 22)
}

const hasSetter = (authorClass: AuthorClass, name: string): boolean => propertyOf(authorClass, name)?.set !== undefined

function propertyOf({ prototype }: AuthorClass, name: string): PropertyDescriptor | undefined {
  for (let owner = prototype as object | null; owner; owner = Object.getPrototypeOf(owner) as object | null) {
    const property = Object.getOwnPropertyDescriptor(owner, name)
    if (property) return property
  }
  return undefined
}
