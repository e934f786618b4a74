import { isAsyncFunction, isGeneratorFunction } from 'node:util/types'
import type { CalculatedOptions } from './calculated-options.ts'
import type { EventKind } from './event-types.ts'
import type { JobOptions, ScheduleOptions } from './job-options.ts'
import { type Origin, originOfMember } from './module-declarations.ts'
import type { FunctionSignature } from './signature.ts'

// Node has no decorator metadata yet; compilers use this symbol if it exists.
const METADATA: symbol = (Symbol as { metadata?: symbol }).metadata ?? Symbol.for('Symbol.metadata')
if (!('metadata' in Symbol)) Object.defineProperty(Symbol, 'metadata', { value: METADATA })

/** Member recorded by the decorators of one class: plain data. */
export type Member = DeclaredMember &
  Origin & {
    /** The method is an `async` function, which may wait, or a generator. */
    readonly flow?: 'async' | 'generator'
    /** The class that declares it, if its members have been added to another one. */
    readonly className?: string
  }
export type DeclaredMember =
  | ({
      readonly kind: 'function'
      readonly name: string
      readonly exposed: boolean
      readonly allowedOnHTTPGET: boolean
      readonly deadlineSeconds?: number
    } & FunctionSignature)
  | ({ readonly kind: 'calculated'; readonly name: string } & CalculatedOptions)
  | ({ readonly kind: 'job'; readonly name: string } & JobOptions)
  /** Times of a job. */
  | ({ readonly kind: 'schedule'; readonly name: string; readonly pattern: string } & ScheduleOptions)
  /** The method `name` is a handler of the calculated attribute `attribute`. */
  | { readonly kind: 'queryOf' | 'orderByOf'; readonly name: string; readonly attribute: string }
  /** Without `attribute`: an event of the whole entity. */
  | {
      readonly kind: 'event'
      readonly name: string
      readonly event: EventKind
      readonly attribute: string | undefined
    }

const MEMBERS = Symbol('tesser.members')
type Metadata = { [MEMBERS]?: Member[] }

export type MemberContext = ClassMethodDecoratorContext | ClassGetterDecoratorContext

/**
 * Records the declaration that a decorator makes.
 * @param decorator the decorator itself: its caller is the place of the declaration
 * @throws {TypeError} the member is not a public instance member, or not of the kind that the decorator is for
 */
export function note(
  target: unknown,
  context: MemberContext,
  member: DeclaredMember,
  decorator: (...args: never[]) => unknown,
): void {
  const kind = member.kind === 'calculated' ? 'getter' : 'method'
  if (context.static || context.private || typeof context.name !== 'string' || context.kind !== kind) {
    const description = `${context.static ? 'static ' : ''}${context.private ? 'private ' : ''}${context.kind} ${String(context.name)}`
    throw new TypeError(`@${decoratorOf(member)} is for a public ${kind} of instances; received the ${description}`)
  }
  const metadata = context.metadata as Metadata
  // Members of a base class are in the prototype of the metadata.
  if (!Object.hasOwn(metadata, MEMBERS)) metadata[MEMBERS] = []
  const flow = isGeneratorFunction(target) ? 'generator' : isAsyncFunction(target) ? 'async' : undefined
  metadata[MEMBERS]!.push({ ...member, ...(flow && { flow }), ...originOfMember(metadata, decorator) })
}

/** Name of the decorator of a member, as plugin code writes it. */
export function decoratorOf(member: DeclaredMember): string {
  if (member.kind !== 'function') return member.kind
  return member.allowedOnHTTPGET ? 'onHTTPGet' : 'exposed'
}

/** Members recorded by the decorators of a class and its base classes; base classes first. */
export function membersOf(authorClass: object): Member[] {
  return metadataOf(authorClass)
    .reverse()
    .flatMap(metadata => metadata[MEMBERS]!)
}

/** The metadata of a class, then of its base classes: only classes with decorators. */
export function metadataOf(authorClass: object): Metadata[] {
  const chain: Metadata[] = []
  let metadata = (authorClass as { [METADATA]?: Metadata | null })[METADATA]
  for (; metadata; metadata = Object.getPrototypeOf(metadata) as Metadata | null) {
    if (Object.hasOwn(metadata, MEMBERS)) chain.push(metadata)
  }
  return chain
}

/** Gives a base class its own metadata, from which the metadata of its subclasses inherits. */
export function giveMetadata(base: object): object {
  const metadata = Object.create(null) as object
  Object.defineProperty(base, METADATA, { value: metadata })
  return metadata
}

/** Records members that a class has taken over from another one. */
export function addMembers(authorClass: object, members: readonly Member[]): void {
  const inheritedMetadata = (authorClass as { [METADATA]?: Metadata | null })[METADATA] ?? null
  const value = Object.assign(Object.create(inheritedMetadata) as Metadata, { [MEMBERS]: members })
  Object.defineProperty(authorClass, METADATA, { value })
}
