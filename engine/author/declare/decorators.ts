/**
 * Decorators for the classes of a plugin (TC39 standard decorators). They only record what a member is; they run no plugin code.
 * Source: protocol notes, 3.8, 7 and 9.
 */

import type { TSchema, TTuple } from '@sinclair/typebox'
import { PARAMETER_NAMES } from '../../catalog/types/parameters.ts'
import type { BaseDataClass, BaseEntity } from './author-types.ts'
import type { CalculatedOptions } from './calculated-options.ts'
import type {
  AttributeEventKind,
  EventKind,
  EventOf,
  EventResult,
  OrderByEvent,
  QueryEvent,
  QueryHandlerResult,
  Restriction,
} from './event-types.ts'
import { type DeclaredMember, type MemberContext, note } from './members.ts'
import { checkOptions, JOB_OPTIONS, type JobOptions, SCHEDULE_OPTIONS, type ScheduleOptions } from './job-options.ts'
import { type ArgumentsOf, parametersOf, plainSchema, type ResultOf } from './signature.ts'

export interface FunctionOptions<P extends TSchema[] = TSchema[], R extends TSchema = TSchema> {
  /** Maximum time of a call; the server's option by default. */
  readonly deadlineSeconds?: number
  /** One sentence for documentation and agents. */
  readonly description?: string
  /**
   * Schemas of its parameters. Arguments are checked against them before the call. A title is the name of a parameter.
   *
   *   Type.Tuple([entityOf('City', { title: 'from' }), Type.Optional(Type.Integer({ title: 'count', minimum: 1 }))])
   */
  readonly parameters?: TTuple<P>
  /** Schema of its result as it is sent. Results are not checked. */
  readonly result?: R
}

export type { JobOptions, ScheduleOptions } from './job-options.ts'

// biome-ignore lint/suspicious/noExplicitAny: any method of plugin code
type Method = (this: any, ...args: any[]) => unknown
// biome-ignore lint/suspicious/noExplicitAny: any plugin class
type MethodDecorator = (method: Method, context: ClassMethodDecoratorContext<any, any>) => void
// biome-ignore lint/suspicious/noExplicitAny: any plugin class
type GetterDecorator = (getter: () => any, context: ClassGetterDecoratorContext<any, any>) => void
// biome-ignore lint/suspicious/noExplicitAny: an entity of any dataclass
type AnyEntity = BaseEntity<any>
// biome-ignore lint/suspicious/noExplicitAny: any dataclass
type AnyDataClass = BaseDataClass<any>
// biome-ignore lint/suspicious/noExplicitAny: any method of plugin code
type ContextOf<This> = ClassMethodDecoratorContext<This, any>

/** A method of a class that has the attribute; otherwise a text that says why it does not compile. */
type Handler<This, A extends string, M> = A extends keyof This ? M : `the class has no attribute "${A}"`

/** A decorator that is written with or without options. The method has to fit the declared parameters and result. */
interface FunctionDecorator extends MethodDecorator {
  // biome-ignore lint/suspicious/noExplicitAny: nothing is declared
  <const P extends TSchema[] = any, R extends TSchema = any>(
    options: FunctionOptions<P, R>,
  ): <This>(method: (this: This, ...args: ArgumentsOf<P>) => ResultOf<R>, context: ContextOf<This>) => void
}

/** A decorator that records the declaration of a member. */
function noting(member: (name: string) => DeclaredMember) {
  return function decorate(target: unknown, context: MemberContext): void {
    note(target, context, member(context.name as string), decorate)
  }
}

function functionDecorator(allowedOnHTTPGET: boolean): FunctionDecorator {
  const member = (context: MemberContext, options: FunctionOptions): DeclaredMember => ({
    ...plainOptions(checkOptions(options, FUNCTION_OPTIONS)),
    ...{ kind: 'function', name: context.name as string, exposed: true, allowedOnHTTPGET },
  })
  function decorator(first: unknown, context?: MemberContext) {
    if (context) return note(first, context, member(context, {}), decorator)
    return function decorate(target: unknown, inner: MemberContext): void {
      note(target, inner, member(inner, first as FunctionOptions), decorate)
    }
  }
  return decorator as FunctionDecorator
}

/** Options as plain data, which can be sent to other threads. */
const plainOptions = ({ parameters, result, ...options }: FunctionOptions) => ({
  ...options,
  ...(parameters && { parameters: parametersOf(parameters) }),
  ...(result && { result: plainSchema(result) }),
})

const FUNCTION_OPTIONS: readonly (keyof FunctionOptions)[] = ['deadlineSeconds', 'description', 'parameters', 'result']
const CALCULATED_OPTIONS: readonly (keyof CalculatedOptions)[] = [
  ...(['type', 'stored', 'indexed', ...PARAMETER_NAMES, 'version', 'unrestricted', 'exposed'] as const),
]

/** A function that clients can call (POST). `@exposed` or `@exposed({ deadlineSeconds: 2 })`. */
export const exposed = functionDecorator(false)

/** A function that clients can also call by GET: for functions that change nothing. */
export const onHTTPGet = functionDecorator(true)

/** A decorator that is written with or without options. */
interface JobDecorator extends MethodDecorator {
  (options: JobOptions): MethodDecorator
}

/**
 * A function that `ds.enqueue` calls later, of a datastore, dataclass or singleton class. `@job` or `@job({ attempts: 3 })`. It runs at
 * least once, with all rights, and may wait.
 */
export const job = function decorator(first: unknown, context?: MemberContext) {
  if (context) return note(first, context, { kind: 'job', name: context.name as string }, decorator)
  const options = checkOptions(first as JobOptions, JOB_OPTIONS)
  return function decorate(target: unknown, inner: MemberContext): void {
    note(target, inner, { ...options, kind: 'job', name: inner.name as string }, decorate)
  }
} as JobDecorator

/**
 * Times at which a function with `@job` runs without arguments: a pattern as in cron, `*\/5 * * * *`, optionally with leading seconds.
 * Times that were missed while the server did not run are made up for by one run.
 */
export const schedule = (pattern: string, options: ScheduleOptions = {}): MethodDecorator =>
  noting(name => ({ ...checkOptions(options, SCHEDULE_OPTIONS), kind: 'schedule', name, pattern }))

/**
 * Declares a calculated attribute, on its getter. A setter of the same name is its set handler.
 *
 *   @calculated({ type: 'string', stored: true }) get fullName() { return `${this.firstName} ${this.lastName}` }
 */
export const calculated = (options: CalculatedOptions): GetterDecorator =>
  noting(name => ({ ...checkOptions(options, CALCULATED_OPTIONS), kind: 'calculated', name }))

/**
 * The query handler of a calculated attribute that is not stored. It returns the text of a query, `{ query, parameters }`, or
 * nothing: the attribute is then computed for every entity. It runs for the dataclass: `this` has no entity.
 */
export const queryOf = <const A extends string>(
  attribute: A,
): (<This extends AnyEntity>(
  method: Handler<This, A, (event: QueryEvent) => QueryHandlerResult>,
  context: ContextOf<This>,
) => void) => noting(name => ({ kind: 'queryOf', name, attribute }))

/** The order handler of a calculated attribute that is not stored. It returns the text of an order, or nothing. */
export const orderByOf = <const A extends string>(
  attribute: A,
): (<This extends AnyEntity>(
  method: Handler<This, A, (event: OrderByEvent) => string | null | undefined>,
  context: ContextOf<This>,
) => void) => noting(name => ({ kind: 'orderByOf', name, attribute }))

/** Code around the life of an entity, in an entity class. Events that can stop an operation return an {@link EventError}. */
type EntityEventDecorator<K extends EventKind> = <This extends AnyEntity>(
  method: (this: This, event: EventOf<K>) => EventResult<K>,
  context: ContextOf<This>,
) => void

/** Code of a dataclass class that returns the entities that the client may see; null or undefined: all. */
type RestrictDecorator = <This extends AnyDataClass>(
  method: (this: This, event: EventOf<'restrict'>) => Restriction<This>,
  context: ContextOf<This>,
) => void

interface EventDecorators {
  /** One signature for all kinds: with one for each, the compiler would explain a wrong name with the last signature. */
  <const K extends EventKind>(kind: K): [K] extends ['restrict'] ? RestrictDecorator : EntityEventDecorator<K>
  /** Code for one attribute: runs only if the attribute has been assigned, or always for a drop. */
  <K extends AttributeEventKind, const A extends string>(
    kind: K,
    attribute: A,
  ): <This extends AnyEntity>(
    method: Handler<This, A, (this: This, event: EventOf<K>) => EventResult<K>>,
    context: ContextOf<This>,
  ) => void
}

/** Declares the code of an event: of an entity, of one of its attributes, or of a dataclass (`restrict`). */
export const event = ((kind: EventKind, attribute?: string) =>
  noting(name => ({ kind: 'event', name, event: kind, attribute }))) as unknown as EventDecorators
