import type { CalculatedOptions, EventKind, FunctionOptions } from './decorators.ts'

// Node has no metadata of decorators yet; compilers take this symbol where they find it.
const METADATA: symbol = (Symbol as { metadata?: symbol }).metadata ?? Symbol.for('Symbol.metadata')
if (!('metadata' in Symbol)) Object.defineProperty(Symbol, 'metadata', { value: METADATA })

/** What the decorators of one class have noted: plain data. */
export type Member =
  | ({
      readonly kind: 'function'
      readonly name: string
      readonly exposed: boolean
      readonly allowedOnHTTPGET: boolean
    } & FunctionOptions)
  | ({ readonly kind: 'calculated'; readonly name: string } & CalculatedOptions)
  /** The method `name` answers for the calculated attribute `attribute`. */
  | { readonly kind: 'queryOf' | 'orderByOf'; readonly name: string; readonly attribute: string }
  /** Without attribute: of the whole entity. */
  | {
      readonly kind: 'event'
      readonly name: string
      readonly event: EventKind
      readonly attribute: string | undefined
    }

const MEMBERS = Symbol('tesser.members')
type Metadata = { [MEMBERS]?: Member[] }

export type MemberContext = ClassMethodDecoratorContext | ClassGetterDecoratorContext

/** @throws {TypeError} it is no public member of instances */
export function note(context: MemberContext, member: Member): void {
  if (context.static || context.private || typeof context.name !== 'string') {
    throw new TypeError(
      `a decorator of tesser/classes is for public members of instances, not for ${String(context.name)}`,
    )
  }
  const metadata = context.metadata as Metadata
  // Those of a base class are in the prototype.
  if (!Object.hasOwn(metadata, MEMBERS)) metadata[MEMBERS] = []
  metadata[MEMBERS]!.push(member)
}

/** What the decorators noted about a class and its base classes; the class comes after its base classes. */
export function membersOf(authorClass: object): Member[] {
  const found: Member[][] = []
  let metadata = (authorClass as { [METADATA]?: Metadata | null })[METADATA]
  for (; metadata; metadata = Object.getPrototypeOf(metadata) as Metadata | null) {
    if (Object.hasOwn(metadata, MEMBERS)) found.unshift(metadata[MEMBERS]!)
  }
  return found.flat()
}

/** Notes members that a class has got from another one. */
export function addMembers(authorClass: object, members: readonly Member[]): void {
  const inherited = (authorClass as { [METADATA]?: Metadata | null })[METADATA] ?? null
  const value = Object.assign(Object.create(inherited) as Metadata, { [MEMBERS]: members })
  Object.defineProperty(authorClass, METADATA, { value })
}
