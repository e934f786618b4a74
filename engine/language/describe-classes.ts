import { createHash } from 'node:crypto'
import { type Member, membersOf } from './members.ts'

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
  /** Of each calculated attribute: changes with the version that its author gives it, else with its source text. */
  readonly fingerprints: Readonly<Record<string, string>>
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
  const fingerprints = members.flatMap(member =>
    member.kind === 'calculated' ? [[member.name, fingerprintOf(authorClass, member.name, member.version)]] : [],
  )
  return {
    ...subjectOf(authorClass),
    name: authorClass.name,
    members,
    setters,
    fingerprints: Object.fromEntries(fingerprints),
  }
}

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
