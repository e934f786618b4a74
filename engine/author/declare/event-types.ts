/** Arguments and results of events and handlers. Source: protocol notes, 3.8, 8.9 and 9. */
import type { BaseSelection, Status } from './author-types.ts'

/** Events of an entity: see the decorator `event`. Source: protocol notes, 9. */
export type AttributeEventKind = 'touched' | 'validateSave' | 'saving' | 'validateDrop' | 'dropping'
type WholeEventKind = 'constructor' | 'afterSave' | 'afterDrop'

/**
 * Events for which code can run. `restrict` belongs to a dataclass, the others to an entity. Source: protocol notes, 8.9.
 */
export type EventKind = AttributeEventKind | WholeEventKind | 'restrict'

interface EventBase<K extends string> {
  readonly kind: K
  readonly dataClassName: string
}

/** Fields by kind, besides the kind and the dataclass. */
interface EventDetails {
  constructor: object
  touched: { readonly attributeName: string }
  /** `attributeName`: only for code of one attribute. */
  validateSave: { readonly attributeName?: string }
  saving: { readonly attributeName?: string }
  afterSave: {
    readonly savedAttributes: readonly string[]
    readonly saveStatus: 'success' | 'failed'
    /** Status of a failed save, as in the {@link Status} of `save()`. */
    readonly status?: number
    readonly statusText?: string
  }
  validateDrop: { readonly attributeName?: string }
  dropping: { readonly attributeName?: string }
  afterDrop: { readonly dropStatus: 'success' | 'failed' }
  restrict: object
}

/** The argument of an event: `check(event: EventOf<'validateSave'>) { … }`. */
export type EventOf<K extends keyof EventDetails> = EventBase<K> & Readonly<EventDetails[K]>

/** Returned by the code of an event to stop the operation. */
export interface EventError {
  readonly errCode: number
  readonly message: string
  /**
   * Attribute that the error is about, for forms; by default the attribute of the code. Clients that may not read it do not see its name.
   */
  readonly attribute?: string
  /** Any JSON value; sent with the error. */
  readonly extraDescription?: unknown
  /** For `validateSave` and `validateDrop`: true reports an error and not only a status. Other events always report one. */
  readonly seriousError?: boolean
}

// biome-ignore lint/suspicious/noConfusingVoidType: what a method without `return` gives
type Nothing = void | null | undefined
/** Result of code that can stop an operation, or of code that cannot. Only the latter may wait, because the outcome is already decided. */
export type EventResult<K> = K extends 'validateSave' | 'saving' | 'validateDrop' | 'dropping'
  ? EventError | Nothing
  : K extends 'afterSave' | 'afterDrop'
    ? Ignored | Promise<Ignored>
    : Ignored
type Ignored = Status | boolean | number | string | Nothing

/** Result of the `restrict` event of a dataclass: a selection of it. */
export type Restriction<DataClass> = DataClass extends { all(): infer Selection }
  ? Selection | Nothing
  : // biome-ignore lint/suspicious/noExplicitAny: a selection of any dataclass
    BaseSelection<any> | Nothing

/** The argument of a `@queryOf` method. */
export interface QueryEvent extends EventBase<'query'> {
  readonly attributeName: string
  readonly operator: '==' | '===' | '!=' | '!==' | '<' | '<=' | '>' | '>=' | 'IN' | '%'
  readonly value: unknown
  /** May be set in place of returning it. */
  result?: QueryHandlerResult
}

export type QueryHandlerResult = string | { readonly query: string; readonly parameters?: readonly unknown[] } | Nothing

/** The argument of an `@orderByOf` method. */
export interface OrderByEvent extends EventBase<'orderBy'> {
  readonly attributeName: string
  readonly operator: 'asc' | 'desc'
  readonly descending: boolean
  /** May be set in place of returning it. */
  result?: string
}
