import {
  type Access,
  type CallerSession,
  type ClientText,
  type DataClass,
  type Engine,
  type JsonBounds,
  type JsonMembers,
  parseJsonBody,
  PermissionErrors,
  type ReadRequest,
  type UploadOwner,
  type View,
} from '../engine/index.ts'
import { KernelErrors } from './errors.ts'
import { preferredType } from './preferred-type.ts'
import type { Reply } from './reply.ts'
import { callerSession } from './session/caller-session.ts'
import { isWrite, type PagePolicy } from './session/page-policy.ts'
import type { Session } from './session/session.ts'
import type { Sessions, Visit } from './session/sessions.ts'
import { parseQueryString } from './url/parse-query-string.ts'
import { EdgeErrors } from './transport/edge-errors.ts'
import type { StreamLimits, TakePiece, TransportRequest } from './transport/transport.ts'

/** Limits of requests, from the config. */
interface RequestLimits {
  /** Maximum body of a command: a login, `$query`, `$release`. */
  readonly commandBodyBytes: number
  readonly json: JsonBounds
  /** Maximum body with the arguments of a class function. */
  readonly argumentBytes: number
}

/** Context shared by all requests of a server. */
export interface RequestContext {
  readonly engine: Engine
  readonly sessions: Sessions
  readonly pages: PagePolicy
  readonly limits: RequestLimits
  /** Path at which a proxy serves the server; empty for none. */
  readonly basePath: string
  /** Guests may administrate the server as long as there are no roles. */
  readonly guestsAdministrate: boolean
}

/** Values of flags in lower case; Python writes `True`. */
const FLAGS = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

const EVENTS = 'text/event-stream'

/** @param accept value of the `Accept` header */
const prefersEvents = (accept: string): boolean =>
  accept.includes(EVENTS) && preferredType(accept, ['application/x-ndjson', EVENTS]) === EVENTS

/** Access to members of requests that plugins cannot reach. */
let partsOf: { visit(request: RestRequest): Visit; forgetCaller(request: RestRequest): void }

/** Visit of a request, for an inner request on behalf of the same client. */
export const visitOf = (request: RestRequest): Visit => partsOf.visit(request)

/** Lets the next call see what earlier calls have changed in the session. */
export const forgetCaller = (request: RestRequest): void => partsOf.forgetCaller(request)

/** A request as plugins see it: the parsed address, and the read that its parts and parameters build up. */
export class RestRequest {
  /**
   * Read of the request. The address determines the dataclass and the selection, and parameter plugins add to it. Only requests on a
   * dataclass have a read.
   */
  read!: ReadRequest
  dataClass: DataClass | undefined
  /**
   * Steps that path parts defer until the parameters are known; they run in order, before any handler. The first reply that a step returns
   * answers the request.
   */
  readonly steps: (() => Reply | undefined | Promise<Reply | undefined>)[] = []

  /** Handler chosen by the path, for example by the name of a class function. */
  handler: ((request: RestRequest) => Reply | Promise<Reply>) | undefined
  /** Rights of the caller at the start of the request; undefined when nothing is restricted. */
  readonly access: Access | undefined
  readonly #visit: Visit
  readonly #context: RequestContext
  #caller: CallerSession | undefined
  private receivedBody: Promise<Uint8Array> | undefined
  private knownPreference: boolean | undefined

  static {
    partsOf = {
      visit: request => request.#visit,
      forgetCaller: request => {
        request.#caller = undefined
      },
    }
  }

  constructor(
    readonly transport: TransportRequest,
    visit: Visit,
    context: RequestContext,
    /** Verb in upper case. `$query` turns a POST into the GET that it represents. */
    public verb: string,
    /** Parameters of the query string, decoded, with quotes removed. */
    public parameters: ReadonlyMap<string, string>,
    /** Path parts after the service or the dataclass, decoded. */
    public parts: readonly string[],
  ) {
    this.#visit = visit
    this.#context = context
    this.access = context.engine.permissions.accessOf(visit.session.granted)
    transport.session = () => this.callerSession
    transport.subject = this
  }

  /** View of the caller. */
  get view(): View {
    return this.#context.engine.queries.view(this.access)
  }

  /** Session of the caller. */
  get session(): Session {
    return this.#visit.session
  }

  /** The caller as the owner of uploads. */
  get uploader(): UploadOwner {
    const { handle, guestNetwork } = this.session
    return { handle, isNew: this.#visit.isNew === true, guestNetwork }
  }

  /** Sets the session after a login or a logout; the answer carries its cookie. */
  set session(session: Session) {
    this.#visit.session = session
  }

  /** Session for function code. Must be read for the first time before the first `await`, after which the head of the request is gone. */
  get callerSession(): CallerSession {
    if (!this.#caller) {
      const privileges = this.#context.engine.permissions.expand(this.session.granted)
      this.#caller = callerSession(this.#context.sessions, this.#visit, this.transport, privileges)
    }
    return this.#caller
  }

  /** @throws {PermissionErrors.LOGIN_NEEDED} the roles require a login, and the caller is a guest */
  demandLogin(): void {
    if (this.#context.engine.permissions.forceLogin && this.session.isGuest) throw PermissionErrors.LOGIN_NEEDED()
  }

  /**
   * Refuses a GET that changes data when a page of another site sends it, by an image or a link; writes are refused anyway.
   * Call it before the first `await`.
   * @throws {PageErrors.OTHER_ORIGIN} 403
   */
  refuseOtherPages(): void {
    // Writes, including `$query`, have already been admitted.
    if (!isWrite(this.transport.method)) {
      this.#context.pages.rejectCrossOrigin(this.transport, this.#visit.receivedId !== undefined)
    }
  }

  /**
   * True if the client may administrate the server. With roles that requires the privilege `WebAdmin`, without roles a login: a
   * user, a key, a token, or privileges that function code has granted.
   */
  get isAdministrator(): boolean {
    const { engine, guestsAdministrate } = this.#context
    if (engine.permissions.hasRoles) return engine.permissions.isAdministrator(this.session.granted)
    return guestsAdministrate || !this.session.isGuest
  }

  /** @param service name of the service for administrators @throws {KernelErrors.ADMINISTRATORS_ONLY} */
  demandAdministrator(service: string): void {
    if (!this.isAdministrator) throw KernelErrors.ADMINISTRATORS_ONLY(service, this.session.isGuest)
  }

  /** A parameter that the query string repeats: only the last value is used, although the client may have meant all of them. */
  get repeatedParameter(): string | undefined {
    let repeatedName: string | undefined
    parseQueryString(this.transport.query, name => {
      repeatedName ??= name
    })
    return repeatedName
  }

  parameter(name: string): string | undefined {
    return this.parameters.get(name)
  }

  /** A parameter with query text. Forms and `URLSearchParams` send a blank as `+`. */
  text(name: string): ClientText | undefined {
    const text = this.parameters.get(name)
    const { query } = this.transport
    // In a parameter from a body, `+` is literal.
    if (!text?.includes('+') || parseQueryString(query).get(name) !== text) return text
    const withBlanks = parseQueryString(query.replaceAll('+', '%20')).get(name)!
    return withBlanks === text ? text : { text, withBlanks }
  }

  /**
   * True if a parameter is `true` or `1`; false if it is absent, `false` or `0`, in any letter case.
   * @throws {KernelErrors.NOT_A_FLAG} for any other value: if a mistyped `$atomic` counted as false, part of a write could be kept
   */
  flag(name: string): boolean {
    const value = this.parameters.get(name)
    if (value === undefined) return false
    const flag = FLAGS.get(value.toLowerCase())
    if (flag === undefined) throw KernelErrors.NOT_A_FLAG(name, value.slice(0, 100))
    return flag
  }

  /**
   * The whole body; empty when there is none. The first call must be before the first `await`.
   * @param maxBytes limit below `server.bodyBytes`
   * @throws {EdgeErrors.BODY_TOO_LARGE} 413
   * @throws {EdgeErrors.CODED_BODY} 415
   */
  body(maxBytes?: number): Promise<Uint8Array> {
    void this.callerSession
    return this.receiveBody(maxBytes)
  }

  /**
   * The body of a save; as {@link body}. The session is only read if plugin code may run: for a new guest, this costs as much as receiving
   * the body and sending the answer.
   */
  saveBody(): Promise<Uint8Array> {
    return this.#context.engine.saves.mayRunCode ? this.body() : this.receiveBody()
  }

  /**
   * JSON of the small body of a command, such as a login or a query; undefined when it is empty. Call it like {@link body}.
   * @throws {ProtocolError} 413 beyond `server.commandBodyBytes`, 400 when it is not JSON, too deep, or has too many values
   */
  json(): Promise<unknown> {
    const { commandBodyBytes, json } = this.#context.limits
    return this.body(commandBodyBytes).then(body => parseJsonBody(body, json))
  }

  /** Members of the JSON object in such a body, each as text. Call it like {@link body}. @throws as {@link json} */
  async jsonMembers(): Promise<JsonMembers> {
    const { engine, limits } = this.#context
    const body = await this.body(limits.commandBodyBytes)
    return engine.bodies.jsonMembers(body, limits.json, this.transport)
  }

  /** Arguments of a class function, unparsed. Call it like {@link body}. @throws {EdgeErrors.BODY_TOO_LARGE} 413 */
  argumentBody(): Promise<Uint8Array> {
    return this.body(this.#context.limits.argumentBytes)
  }

  /** Passes on the body piece by piece. Call it before the first `await`. See `TransportRequest.streamBody`. */
  streamBody(take: TakePiece, limits: StreamLimits): Promise<void> {
    return this.plainBody(() => this.transport.streamBody(take, limits))
  }

  /** True if the client prefers Server-Sent Events to lines of JSON. Correct only if first read before the first `await`. */
  get prefersEvents(): boolean {
    this.knownPreference ??= prefersEvents(this.transport.header('accept'))
    return this.knownPreference
  }

  private receiveBody(maxBytes?: number): Promise<Uint8Array> {
    this.receivedBody ??= this.plainBody(() => this.transport.body(maxBytes))
    return this.receivedBody
  }

  /** Receives an uncompressed body; refuses others, because a small body in `gzip` may expand a thousandfold. */
  private plainBody<T>(receive: () => Promise<T>): Promise<T> {
    const coding = this.transport.header('content-encoding')
    if (coding === '' || coding.toLowerCase() === 'identity') return receive()
    const rejection = Promise.reject(EdgeErrors.CODED_BODY(coding.slice(0, 100)))
    // A handler may answer without awaiting the body, as with a body that fails later: see `BodyReceiver`.
    rejection.catch(() => {})
    return rejection
  }

  /** True when one entity is addressed: `Class(key)` or `Class:attribute(value)`. */
  get isEntity(): boolean {
    return this.read?.output.form === 'entity'
  }
}
