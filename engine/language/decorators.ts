/**
 * Decorators for the classes of a plugin (TC39 standard decorators). They only note what a member is; nothing runs.
 * Source: protocol notes, 3.8, 7 and 9.
 */

// Node has no metadata of decorators yet; compilers take this symbol where they find it.
const METADATA: symbol = (Symbol as { metadata?: symbol }).metadata ?? Symbol.for('Symbol.metadata')
if (!('metadata' in Symbol)) Object.defineProperty(Symbol, 'metadata', { value: METADATA })

export interface FunctionOptions {
  /** How long a call may take; the server's option otherwise. */
  readonly deadlineSeconds?: number
}

/** Type of a calculated attribute: one of a storage attribute, or what the model says about it. */
export type CalculatedType =
  | 'bool'
  | 'byte'
  | 'word'
  | 'long'
  | 'long64'
  | 'number'
  | 'float'
  | 'date'
  | 'duration'
  | 'string'
  | 'uuid'
  | 'object'
  | 'image'
  | 'blob'

export interface CalculatedOptions {
  readonly type: CalculatedType
  /** Computed when the entity is saved and kept with it. Only for what depends on attributes of its own entity alone. */
  readonly stored?: boolean
  /** Of a stored one. */
  readonly indexed?: boolean
  /** A date without time of day. */
  readonly simpleDate?: boolean
  /** Raise it when the code computes something else than before: what is stored is computed again. */
  readonly version?: number | string
  /** False: only function code sees it. */
  readonly exposed?: boolean
}

/**
 * When the code of an event runs. `restrict` belongs to a dataclass, the others to an entity.
 * Source: protocol notes, 8.9 and 9.
 */
export type EventKind =
  | 'constructor'
  | 'touched'
  | 'validateSave'
  | 'saving'
  | 'afterSave'
  | 'validateDrop'
  | 'dropping'
  | 'afterDrop'
  | 'restrict'

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

type MemberContext = ClassMethodDecoratorContext | ClassGetterDecoratorContext

function note(context: MemberContext, member: Member): void {
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

// biome-ignore lint/suspicious/noExplicitAny: any method of an author
type Method = (this: any, ...args: any[]) => unknown
// biome-ignore lint/suspicious/noExplicitAny: any class of an author
type MethodDecorator = (method: Method, context: ClassMethodDecoratorContext<any, any>) => void
// biome-ignore lint/suspicious/noExplicitAny: any class of an author
type GetterDecorator = (getter: () => any, context: ClassGetterDecoratorContext<any, any>) => void

/** A decorator that is written with or without options. */
type FunctionDecorator = MethodDecorator & ((options: FunctionOptions) => MethodDecorator)

function functionDecorator(allowedOnHTTPGET: boolean): FunctionDecorator {
  const decorate = (context: MemberContext, options: FunctionOptions): void =>
    note(context, { kind: 'function', name: context.name as string, exposed: true, allowedOnHTTPGET, ...options })
  return ((first: Method | FunctionOptions, context?: MemberContext) => {
    if (context) return decorate(context, {})
    return (_: Method, inner: MemberContext) => decorate(inner, first as FunctionOptions)
  }) as FunctionDecorator
}

/** A function that clients can call (POST). `@exposed` or `@exposed({ deadlineSeconds: 2 })`. */
export const exposed = functionDecorator(false)

/** The same, also by GET: for functions that change nothing. */
export const onHTTPGet = functionDecorator(true)

/**
 * A calculated attribute: on its getter. A setter of the same name is its set handler.
 *
 *   @calculated({ type: 'string', stored: true }) get fullName() { return `${this.firstName} ${this.lastName}` }
 */
export const calculated =
  (options: CalculatedOptions): GetterDecorator =>
  (_, context) =>
    note(context, { kind: 'calculated', name: context.name as string, ...options })

/**
 * The query handler of a calculated attribute: gets the event `{kind: 'query', attributeName, dataClassName, operator,
 * value}` and returns the text of a query, `{query, parameters}`, or nothing: then every entity is looked at.
 */
export const queryOf =
  (attribute: string): MethodDecorator =>
  (_, context) =>
    note(context, { kind: 'queryOf', name: context.name as string, attribute })

/** The orderBy handler of a calculated attribute: returns the text of an order, or nothing. */
export const orderByOf =
  (attribute: string): MethodDecorator =>
  (_, context) =>
    note(context, { kind: 'orderByOf', name: context.name as string, attribute })

/** Code of an event, of the whole entity or of one attribute. */
export const event =
  (kind: EventKind, attribute?: string): MethodDecorator =>
  (_, context) =>
    note(context, { kind: 'event', name: context.name as string, event: kind, attribute })
