/**
 * Decorators for the classes of a plugin (TC39 standard decorators). They only note what a member is; nothing runs.
 * Source: protocol notes, 3.8, 7 and 9.
 */

import type { CalculatedType } from '../catalog/value-type.ts'
import { type MemberContext, note } from './members.ts'

export interface FunctionOptions {
  /** How long a call may take; the server's option otherwise. */
  readonly deadlineSeconds?: number
}

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
