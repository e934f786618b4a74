/**
 * Errors as the protocol reports them.
 *
 * A registry holds an entry per error: its `errCode`, the HTTP status of a request that fails with it, and the message
 * made from what was received. Throwing code says `throw EngineErrors.UNKNOWN_ATTRIBUTE('emploer', 'Person', 'employer')`.
 */

import { cutText, withoutKnownSecrets } from './known-secrets.ts'
import { excerpt } from './text/excerpt.ts'

/** One element of `__ERROR`. Source: base specification, 7. */
interface ErrorEntry {
  message: string
  componentSignature: string
  errCode: number
  /** Path of the attribute that the error is about, for forms. */
  attribute?: string
  /** Position, in what the client has sent, of the entity that the error is about. */
  index?: number
  /** Values that the code of an event put into its error, as JSON. */
  extraDescription?: unknown
}

/** Maximum characters of a text that plugin code puts into an error: the kernel thread writes errors, and the log keeps them. */
const MAX_CODE_TEXT = 16 * 1024

/** Shortens a text from plugin code to fit into an error, and leaves out known secrets. */
export const errorText = (text: string): string => cutText(text, MAX_CODE_TEXT)

/** Number and text of `__STATUS` for a save that failed. Source: protocol notes, 5.10. */
export interface SaveStatus {
  status: number
  statusText: string
  /** For an entity that another session has locked. */
  lockKind?: number
  lockKindText?: string
  lockInfo?: object
}

/** Plain data of a {@link ProtocolError}: an `Error` loses its class when it crosses a thread. */
export interface ErrorData {
  name: string
  httpStatus: number
  entries: ErrorEntry[]
  saveStatus?: SaveStatus
  retryAfterSeconds?: number
  /** For a 405: the allowed verbs. */
  allow?: readonly string[]
}

/** An error of plugin code as clients may see it: without known secrets. */
export const errorWithoutKnownSecrets = (error: ErrorData): ErrorData => ({
  ...error,
  entries: error.entries.map(({ attribute, ...entry }) => ({
    ...entry,
    message: withoutKnownSecrets(entry.message),
    ...(attribute !== undefined && { attribute: withoutKnownSecrets(attribute) }),
  })),
})

/** An error that is reported to the client; anything else that is thrown is reported as an internal error (500). */
export class ProtocolError extends Error {
  /** Root cause first, outermost consequence last. */
  readonly entries: ErrorEntry[]
  readonly httpStatus: number
  readonly saveStatus: SaveStatus | undefined
  readonly retryAfterSeconds: number | undefined
  readonly allow: readonly string[] | undefined

  /** False in a thread that makes many errors and logs none of them: a stack trace takes half the time of a refused entity. */
  static hasStacks = true

  constructor(data: ErrorData, options?: { cause?: unknown }) {
    const { stackTraceLimit } = Error
    if (!ProtocolError.hasStacks) Error.stackTraceLimit = 0
    super(data.entries[0]?.message ?? data.name, options)
    Error.stackTraceLimit = stackTraceLimit
    this.name = data.name
    this.entries = data.entries
    this.httpStatus = data.httpStatus
    this.saveStatus = data.saveStatus
    this.retryAfterSeconds = data.retryAfterSeconds
    this.allow = data.allow
  }

  /** Returns this error with consequences appended to its entries, as in 1263, 1046, 1517. */
  followedBy(...consequences: ProtocolError[]): ProtocolError {
    return new ProtocolError({
      ...this.toData(),
      entries: [...this.entries, ...consequences.flatMap(error => error.entries)],
    })
  }

  /** Returns this error with the entries of its cause in front: [1500, 1804]. Keeps its own HTTP status. */
  causedBy(cause: ProtocolError): ProtocolError {
    return new ProtocolError({ ...this.toData(), entries: [...cause.entries, ...this.entries] }, { cause })
  }

  /** Returns this error with text appended to the message of its root cause. */
  adding(text: string): ProtocolError {
    const [first, ...others] = this.entries
    return new ProtocolError({
      ...this.toData(),
      entries: [{ ...first!, message: `${first!.message}${text}` }, ...others],
    })
  }

  /** Returns this error with the time after which the client should try again. */
  retryAfter(seconds: number): ProtocolError {
    return new ProtocolError({ ...this.toData(), retryAfterSeconds: seconds })
  }

  toData(): ErrorData {
    return {
      name: this.name,
      httpStatus: this.httpStatus,
      entries: this.entries,
      ...(this.saveStatus && { saveStatus: this.saveStatus }),
      ...(this.retryAfterSeconds !== undefined && { retryAfterSeconds: this.retryAfterSeconds }),
      ...(this.allow && { allow: this.allow }),
    }
  }
}

export interface ErrorDefinition<Args extends readonly never[] = readonly never[]> {
  errCode: number
  /** HTTP status of a request that ends with this error. Source: design decisions, protocol section. */
  http: number
  /** `__STATUS` of an entity that was not saved because of it; 4 "Other error" when absent. */
  save?: SaveStatus
  /** For a 405: the allowed verbs. */
  allow?: readonly string[]
  /** `dbmg` by default. */
  componentSignature?: string
  /** For an error about one attribute: position of the argument with its path, which is copied into the entry. */
  namesAttribute?: number
  message: (...args: Args) => string
}

type Definitions = Record<string, ErrorDefinition<readonly never[]>>
type Factories<D extends Definitions> = {
  readonly [K in keyof D]: D[K]['message'] extends (...args: infer A) => string ? (...args: A) => ProtocolError : never
} & { readonly definitions: D }

/** Makes a registry: a function per entry that builds the error. Names become `{prefix}.{NAME}` in logs. */
export function defineErrors<const D extends Definitions>(prefix: string, definitions: D): Factories<D> {
  const factories: Record<string, unknown> = { definitions }
  for (const [name, definition] of Object.entries(definitions)) {
    factories[name] = (...args: never[]) =>
      new ProtocolError({
        name: `${prefix}.${name}`,
        httpStatus: definition.http,
        entries: [
          {
            message: definition.message(...args),
            componentSignature: definition.componentSignature ?? 'dbmg',
            errCode: definition.errCode,
            ...(definition.namesAttribute !== undefined && {
              attribute: excerpt(String(args[definition.namesAttribute])),
            }),
          },
        ],
        ...(definition.save && { saveStatus: definition.save }),
        ...(definition.allow && { allow: definition.allow }),
      })
  }
  return factories as Factories<D>
}

/** Definitions with the same members, given once: `...errorsWith({ errCode: 1806, http: 413 })({ TOO_LARGE: () => '…' })`. */
export const errorsWith =
  <const Shared extends Omit<ErrorDefinition, 'message'>>(definition: Shared) =>
  <Messages extends Record<string, ErrorDefinition['message']>>(messages: Messages) =>
    Object.fromEntries(Object.entries(messages).map(([name, message]) => [name, { ...definition, message }])) as {
      [Name in keyof Messages]: Shared & { message: Messages[Name] }
    }
