import type { UploadOwner } from '../engine/binary/upload-table.ts'
import type { DataClass } from '../engine/catalog/dataclass.ts'
import { type Access, type CallerSession, type Engine, PermissionErrors, type View } from '../engine/index.ts'
import type { ReadRequest } from '../engine/query/request.ts'
import type { Reply } from './reply.ts'
import { callerSession } from './session/caller-session.ts'
import type { Session } from './session/session.ts'
import type { Sessions, Visit } from './session/sessions.ts'
import type { StreamLimits, TakePiece, TransportRequest } from './transport/transport.ts'

/** A request as plugins see it: the address taken apart, and what is to be read put together part by part. */
export class RestRequest {
  /**
   * What the request reads. The address gives the dataclass and the selection, parameter plugins add theirs. Only
   * requests on a dataclass have one.
   */
  read!: ReadRequest
  dataClass: DataClass | undefined
  /**
   * What path parts have left for when the parameters are known, in order, before anybody answers. The first that gives a
   * reply has answered.
   */
  readonly steps: (() => Reply | undefined | Promise<Reply | undefined>)[] = []

  /** Who answers, when the path says so, as it does with the name of a class function. */
  answerBy: ((request: RestRequest) => Reply | Promise<Reply>) | undefined
  /** The rights of who asks, as they are at the beginning. Undefined: nothing is restricted. */
  readonly access: Access | undefined
  private caller: CallerSession | undefined
  private received: Promise<Uint8Array> | undefined

  constructor(
    readonly transport: TransportRequest,
    private readonly visit: Visit,
    private readonly engine: Engine,
    private readonly sessions: Sessions,
    /** Upper case. `$query` turns a POST into the GET that it stands for. */
    public verb: string,
    /** Parameters of the query string, decoded, with quotes removed. */
    public parameters: ReadonlyMap<string, string>,
    /** Path parts behind the service or the dataclass, decoded. */
    public parts: readonly string[],
  ) {
    this.access = engine.permissions.accessOf(visit.session.granted)
    transport.session = () => this.callerSession
  }

  /** What exists for who asks. */
  get view(): View {
    return this.engine.view(this.access)
  }

  /** Who asks. */
  get session(): Session {
    return this.visit.session
  }

  /** Who asks, as the owner of uploads. */
  get uploader(): UploadOwner {
    return { handle: this.session.handle, isNew: this.visit.isNew === true }
  }

  /** After a login or a logout: the answer brings its cookie. */
  set session(session: Session) {
    this.visit.session = session
  }

  /** The session for function code. The head of the request is read before the first `await` only. */
  get callerSession(): CallerSession {
    if (!this.caller) {
      const privileges = this.engine.permissions.expand(this.session.granted)
      this.caller = callerSession(this.sessions, this.visit, this.transport, privileges)
    }
    return this.caller
  }

  /** @throws {PermissionErrors.LOGIN_NEEDED} the roles demand a login, and this is a guest */
  demandLogin(): void {
    if (this.engine.permissions.forceLogin && this.session.isGuest) throw PermissionErrors.LOGIN_NEEDED()
  }

  parameter(name: string): string | undefined {
    return this.parameters.get(name)
  }

  /** True for `true` and `1`, the two ways clients switch a flag on. */
  flag(name: string): boolean {
    const value = this.parameters.get(name)
    return value === 'true' || value === '1'
  }

  /** The whole body; empty when there is none. Call it for the first time before the first `await`. */
  body(): Promise<Uint8Array> {
    this.caller ??= this.callerSession
    this.received ??= this.transport.body()
    return this.received
  }

  /** The body, piece by piece. Call before the first `await`. See `TransportRequest.streamBody`. */
  streamBody(take: TakePiece, limits: StreamLimits): Promise<void> {
    return this.transport.streamBody(take, limits)
  }

  /** True when one entity is addressed: `Class(key)` or `Class:attribute(value)`. */
  get isEntity(): boolean {
    return this.read?.output.form === 'entity'
  }
}
