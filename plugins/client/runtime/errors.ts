/** An error of the protocol. */
export interface Fault {
  readonly message: string
  /** Stable number of the error, from the list of errors of the server. */
  readonly errCode: number
  readonly componentSignature: string
  /** Attribute of the entity that the error is about. */
  readonly attribute?: string
}

/** Kind of a failure, by what a program can do about it. */
export type ErrorKind =
  /** The entity has been saved elsewhere since it was loaded: {@link ConflictError}. */
  | 'conflict'
  /** A value was refused: {@link ValidationError}. */
  | 'validation'
  /** Another session has locked the entity. */
  | 'locked'
  /** The session has ended, or its rights do not suffice. */
  | 'denied'
  /** The resource does not exist, or this session may not see it. */
  | 'missing'
  /** The server is overloaded or a quota is used up: the request may succeed later. */
  | 'busy'
  /** The request itself is wrong. */
  | 'request'
  /** A fault of the server or of its plugins. */
  | 'server'

interface ErrorDetails {
  readonly retryAfter?: number | undefined
  readonly index?: number | undefined
}

/** An answer that is an error. */
export class TesserError extends Error {
  readonly kind: ErrorKind
  /** HTTP status. */
  readonly status: number
  /** Root cause first. */
  readonly faults: readonly Fault[]
  /** Seconds after which the request may succeed, if the server says so. */
  readonly retryAfter: number | undefined
  /** Position of the entity in a batch. */
  readonly index: number | undefined

  constructor(kind: ErrorKind, status: number, faults: readonly Fault[], more: ErrorDetails = {}) {
    super(faults[0]?.message ?? `HTTP ${status}`)
    this.name = new.target.name
    this.kind = kind
    this.status = status
    this.faults = faults
    this.retryAfter = more.retryAfter
    this.index = more.index
  }

  /** Code of the root cause; 0 if the answer is not a protocol answer, such as an error page of a proxy. */
  get code(): number {
    return this.faults[0]?.errCode ?? 0
  }
  /** The first attribute that one of the errors is about. */
  get attribute(): string | undefined {
    return this.faults.find(({ attribute }) => attribute !== undefined)?.attribute
  }
}

/** The entity has been saved elsewhere since it was loaded. */
export class ConflictError<Entity = unknown> extends TesserError {
  /** The entity as it is now. */
  readonly current: Entity

  readonly dataClass: string

  constructor(status: number, faults: readonly Fault[], dataClass: string, current: Entity, index?: number) {
    super('conflict', status, faults, { index })
    this.dataClass = dataClass
    this.current = current
  }
}

/** Values of an entity were refused. */
export class ValidationError extends TesserError {
  /** Message by attribute, for forms. */
  get byAttribute(): Readonly<Record<string, string>> {
    const attributeFaults = this.faults.filter(({ attribute }) => attribute !== undefined)
    return Object.fromEntries(attributeFaults.reverse().map(({ attribute, message }) => [attribute, message]))
  }
}

/** An atomic batch that was refused; nothing was saved. */
export class BatchError extends TesserError {
  /** An error for each refused entity, with its `index`. */
  readonly failures: readonly TesserError[]

  constructor(failures: readonly TesserError[]) {
    const { kind, status, faults, index } = failures[0]!
    super(kind, status, faults, { index })
    this.failures = failures
  }
}

interface Failed {
  readonly __ERROR?: readonly Fault[]
  readonly __STATUS?: { readonly status?: number }
}

/** Error of an answer, or of an entity in the answer to a save. */
export function errorOf({ status, json, retryAfter }: FailedAnswer, entity: FailedEntity = {}): TesserError {
  const { __ERROR: faults = [], __STATUS: saveStatus } = (json ?? {}) as Failed
  const { index, dataClass = '', current } = entity
  const has = (code: number): boolean => faults.some(({ errCode }) => errCode === code)
  if (saveStatus?.status === 2 && current) return new ConflictError(status, faults, dataClass, current(), index)
  const isRefused = status === 422 || (!has(UNKNOWN_NAME) && faults.some(({ attribute }) => attribute !== undefined))
  const kind = has(1066) ? 'locked' : (SAVED[saveStatus?.status ?? 0] ?? (isRefused ? 'validation' : KINDS[status]))
  const Failure = kind === 'validation' ? ValidationError : TesserError
  return new Failure(kind ?? (status < 500 ? 'request' : 'server'), status, faults, { retryAfter, index })
}

interface FailedAnswer {
  readonly status: number
  readonly json: unknown
  readonly retryAfter: number | undefined
}

interface FailedEntity {
  readonly index?: number | undefined
  readonly dataClass?: string
  /** Returns the entity as it is now, in the form of a result. */
  readonly current?: () => unknown
}

/** "No such attribute." */
const UNKNOWN_NAME = 1500
/** Kinds by the status of a save. */
const SAVED: Readonly<Record<number, ErrorKind>> = {
  1: 'denied',
  3: 'locked',
  5: 'missing',
  7: 'validation',
  8: 'validation',
}
/** Kinds by HTTP status. */
const KINDS: Readonly<Record<number, ErrorKind>> = {
  401: 'denied',
  403: 'denied',
  404: 'missing',
  429: 'busy',
  503: 'busy',
}
