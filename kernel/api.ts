/**
 * The plugin contract. Everything that answers a request is a plugin, ours and those of third parties alike:
 *
 * ```ts
 * import { definePlugin, json } from 'tesser'
 *
 * export default definePlugin({
 *   name: 'acme-hello',
 *   kernel: '^1.0.0',
 *   register(scope) {
 *     scope.service('$hello', { verbs: ['GET'] }, () => json({ result: 'hello' }))
 *   },
 * })
 * ```
 */
import type { Static, TObject } from '@sinclair/typebox'
import type { Logger } from 'pino'
import type { Engine } from '../engine/index.ts'
import type { ReadRequest } from '../engine/query/request.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Reply } from './reply.ts'
import type { RestRequest } from './request.ts'
import type { Sessions } from './session/sessions.ts'
import type { Identities } from './session/visitors.ts'
import type { TransportRequest } from './transport/transport.ts'

export { type Static, Type } from '@sinclair/typebox'
export type { Engine, Granted } from '../engine/index.ts'
export { defineErrors, ProtocolError } from '../engine/errors.ts'
export type { ReadRequest } from '../engine/query/request.ts'
export { Throttle } from './auth/throttle.ts'
export { TOKEN_LOCK_MS } from '../engine/write/lock-table.ts'
export { lockStatus } from '../engine/write/write-errors.ts'
export { methodNotApplicable } from './errors.ts'
export { callFunction } from './function-call.ts'
export { encoded, json, type Reply } from './reply.ts'
export type { RestRequest } from './request.ts'
export type { Sessions } from './session/sessions.ts'
export { NOTHING_GRANTED, type Session, type User } from './session/session.ts'
export type { TransportRequest } from './transport/transport.ts'

/** Version of this contract; a plugin names the range that it works with. */
export const KERNEL_VERSION = '1.0.0'

export interface PluginDefinition<Options extends TObject = TObject> {
  /** Unique among the loaded plugins. */
  readonly name: string
  /** Range of {@link KERNEL_VERSION} that it was written for, for example `^1.0.0`. */
  readonly kernel: string
  /** Names of plugins that have to be loaded before this one. */
  readonly needs?: readonly string[]
  /** Schema of its options in the config file, made with {@link Type}. Unknown options are refused, defaults are filled in. */
  readonly options?: Options
  /**
   * Modules with classes (`tesser/classes`): functions, calculated attributes, events. They run in threads of their own,
   * so this plugin's kernel side never imports them; a function `configure` that such a module exports gets the options.
   *
   *   classes: new URL('./classes.js', import.meta.url)
   */
  readonly classes?: URL | readonly URL[]
  /** Dataclasses that are added to the model, as the model file writes them. */
  readonly model?: { readonly dataClasses: Readonly<Record<string, object>> }
  /** Called once, before the port opens. What it opens it closes with `scope.onClose`. */
  register?(scope: Scope, options: Static<Options>): void | Promise<void>
}

/** Gives a plugin its types. */
export function definePlugin<Options extends TObject>(plugin: PluginDefinition<Options>): PluginDefinition<Options> {
  return plugin
}

export type Verb = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS'
export type Answer = Reply | Promise<Reply>
/** `undefined`: not for this plugin after all; the next one in line is asked. */
export type MaybeAnswer = Reply | undefined | Promise<Reply | undefined>

export interface Accepts {
  /** `GET` includes `HEAD`. Other verbs are answered with 405. */
  readonly verbs: readonly Verb[]
  /** Of a service: guests may ask for it even where `roles.json` demands a login. */
  readonly guests?: boolean
}

/** Where a plugin says what it does. Registering a name twice is an error that names both plugins. */
export interface Scope {
  /** Name of the plugin. */
  readonly plugin: string
  readonly engine: Engine
  /** Sessions of clients; that of a request is `request.session`. */
  readonly sessions: Sessions
  /** Users and keys. A plugin that knows users itself puts its own `directory` there. */
  readonly identities: Identities
  readonly log: Logger
  /** Milliseconds since 1970: the clock of everything that has a lifetime. */
  readonly now: () => number
  /** Whether requests are answered: for health checks, and for work that should not start when the server stops. */
  readonly lifecycle: Readonly<Lifecycle>

  /** A service: `/rest/$name/…`. `request.parts` is what follows. */
  service(name: `$${string}`, accepts: Accepts, handler: (request: RestRequest) => Answer): void

  /** A value of `$method` on a dataclass, for example `update`. */
  method(name: string, accepts: Accepts, handler: (request: RestRequest) => Answer): void

  /** What a verb without `$method` means on a dataclass. Only one plugin can own a verb. */
  verb(verb: Verb, handler: (request: RestRequest) => Answer): void

  /** A *command*: a parameter whose presence makes this plugin answer, for example `$compute`. */
  command(parameter: `$${string}`, accepts: Accepts, handler: (request: RestRequest) => MaybeAnswer): void

  /** A *parameter*: adds its part to what is read and answers nothing, for example `$filter`. */
  parameter(name: `$${string}`, apply: (read: ReadRequest, value: string, request: RestRequest) => void): void

  /**
   * A path part behind the dataclass that begins with `$`, for example `$entityset`. Runs before the parameters; what
   * depends on them goes into `request.steps`.
   * @param apply takes the parts that follow off with `next()`, as many as belong to it
   */
  part(name: `$${string}`, apply: (request: RestRequest, next: () => string | undefined) => void | Promise<void>): void

  /**
   * A path part behind the dataclass that names a member of it, such as a class function. Asked for every part that does
   * not begin with `$`, before it is taken for an attribute list.
   * @returns who answers the request when its parameters have been applied, whatever `$method` says; undefined: nobody here
   */
  member(find: (request: RestRequest, name: string) => ((request: RestRequest) => Answer) | undefined): void

  /** Hands the parameters to the plugins that own them, as is done for requests on a dataclass before they are answered. */
  applyParameters(request: RestRequest): void

  /**
   * What verbs mean on one image or blob of one entity, when no command takes it: `PUT /Company(1)/contract`.
   * Other verbs mean what they mean elsewhere.
   */
  binary(accepts: Accepts, handler: (request: RestRequest) => MaybeAnswer): void

  /** A path outside `/rest`, matched exactly, for example `/health`. */
  route(path: `/${string}`, accepts: Accepts, handler: (request: RestRequest) => Answer): void

  /**
   * Called with every request, in the order of loading, before anybody looks at it. A reply that it returns is the answer.
   * Synchronous, because a transport's headers and body can be asked for in the same turn only.
   */
  onRequest(hook: (request: TransportRequest) => Reply | undefined): void

  /** Called with every answer, errors included, in the order of loading. What it returns is sent in its place. */
  onReply(hook: (reply: Reply, request: TransportRequest) => Reply): void

  /** Called when the port is open. */
  onReady(callback: () => void | Promise<void>): void

  /** Called when the server has stopped answering, in reverse order of loading. */
  onClose(callback: () => void | Promise<void>): void
}
