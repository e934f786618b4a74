/** An error of the protocol. */
export interface Fault {
  readonly message: string
  /** Number that does not change, as the list of errors of the server has it. */
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
  /** The rights of the session do not suffice, or it has ended. */
  | 'denied'
  /** Not there, or not for this session. */
  | 'missing'
  /** Too much at a time: it may succeed later. */
  | 'busy'
  /** The request itself is wrong. */
  | 'request'
  /** A fault of the server or of its plugins. */
  | 'server'

interface ErrorDetails {
  readonly retryAfter?: number | undefined
  readonly index?: number | undefined
}

/** Answer that is an error. */
export class TesserError extends Error {
  readonly kind: ErrorKind
  /** Status of HTTP. */
  readonly status: number
  /** Root cause first. */
  readonly faults: readonly Fault[]
  /** Seconds after which the request may succeed, where the server says them. */
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

  /** Code of the root cause; 0 of an answer that is not of the protocol, as that of a proxy. */
  get code(): number {
    return this.faults[0]?.errCode ?? 0
  }
  /** The first attribute that an error is about. */
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
  /** A message for each attribute that has one: for forms. */
  get byAttribute(): Readonly<Record<string, string>> {
    const named = this.faults.filter(({ attribute }) => attribute !== undefined)
    return Object.fromEntries(named.reverse().map(({ attribute, message }) => [attribute, message]))
  }
}

/** A batch of which nothing was saved. */
export class BatchError extends TesserError {
  /** An error for each entity that has one, with its `index`. */
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
  const { __ERROR: faults = [], __STATUS: saved } = (json ?? {}) as Failed
  const { index, dataClass = '', current } = entity
  const has = (code: number): boolean => faults.some(({ errCode }) => errCode === code)
  if (saved?.status === 2 && current) return new ConflictError(status, faults, dataClass, current(), index)
  const isRefused = status === 422 || (!has(UNKNOWN_NAME) && faults.some(({ attribute }) => attribute !== undefined))
  const kind = has(1066) ? 'locked' : (SAVED[saved?.status ?? 0] ?? (isRefused ? 'validation' : KINDS[status]))
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
  /** The entity as it is now, as a result. */
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
/** Kinds by the status of HTTP. */
const KINDS: Readonly<Record<number, ErrorKind>> = {
  401: 'denied',
  403: 'denied',
  404: 'missing',
  429: 'busy',
  503: 'busy',
}
