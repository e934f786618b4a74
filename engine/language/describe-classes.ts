import { type Member, membersOf } from './decorators.ts'

/** What an author's class is about: a note on the base class that the factories of `classes.ts` make. */
export const SUBJECT = Symbol('tesser.subject')

export type ClassKind = 'dataStore' | 'dataClass' | 'entitySelection' | 'entity' | 'singleton'

export interface Subject {
  readonly kind: ClassKind
  /** Not of a datastore or a singleton. */
  readonly dataClass?: string
}

/** A class of an author, as every thread may know it: plain data. */
export interface ClassDescriptor extends Subject {
  /** Its own name, by which a singleton is called. */
  readonly name: string
  readonly members: readonly Member[]
  /** Calculated attributes that have a set handler. */
  readonly setters: readonly string[]
}

// biome-ignore lint/suspicious/noExplicitAny: constructors of authors
export type AuthorClass = abstract new (...args: any[]) => object

/** The classes among the exports of an author's module. */
export function authorClasses(exports: Readonly<Record<string, unknown>>): AuthorClass[] {
  return [...new Set(Object.values(exports))].filter(
    (value): value is AuthorClass => typeof value === 'function' && SUBJECT in value && !Object.hasOwn(value, SUBJECT),
  )
}

export const subjectOf = (authorClass: AuthorClass): Subject =>
  (authorClass as AuthorClass & { [SUBJECT]: Subject })[SUBJECT]

export function describeClass(authorClass: AuthorClass): ClassDescriptor {
  const members = membersOf(authorClass)
  const setters = members.flatMap(({ kind, name }) =>
    kind === 'calculated' && hasSetter(authorClass, name) ? [name] : [],
  )
  return { ...subjectOf(authorClass), name: authorClass.name, members, setters }
}

function hasSetter({ prototype }: AuthorClass, name: string): boolean {
  for (let owner = prototype as object | null; owner; owner = Object.getPrototypeOf(owner) as object | null) {
    const property = Object.getOwnPropertyDescriptor(owner, name)
    if (property) return property.set !== undefined
  }
  return false
}
