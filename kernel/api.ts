/**
 * The plugin contract. Everything that answers a request is a plugin, whether built-in or by third parties:
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
import packageJson from '../package.json' with { type: 'json' }
import type { Logger } from 'pino'
import type { PluginEngine, ReadRequest } from '../engine/index.ts'
import type {
  Accepts,
  CommandSpec,
  MethodSpec,
  ParameterSpec,
  Registered,
  RouteSpec,
  ServiceSpec,
  Verb,
} from './description.ts'
import type { InnerRequest } from './inner-request.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Lifecycle } from './base/lifecycle.ts'
import type { Reply } from './reply.ts'
import type { RestRequest } from './request.ts'
import type { RouteRequest } from './route-request.ts'
import type { Logins } from './auth/logins.ts'
import type { RequestQuota } from './session/request-quota.ts'
import type { Sessions } from './session/sessions.ts'
import type { Identities } from './session/visitors.ts'
import type { TransportRequest } from './transport/transport.ts'

export { type Static, Type } from '@sinclair/typebox'
export {
  type ClientText,
  type DatabaseState,
  defineErrors,
  type Granted,
  type PluginEngine,
  ProtocolError,
  type ReadRequest,
  type TaskFunction,
  type TaskSelection,
  type TaskStore,
  type TaskValue,
} from '../engine/index.ts'
export {
  type Conditions,
  conditionsOf,
  expectedVersion,
  isCurrent,
  partOf,
  type Representation,
  tagged,
} from './conditional.ts'
export {
  type Accepts,
  type BodySpec,
  type CommandSpec,
  type DataOperation,
  type DeclaredParameter,
  DONE,
  type MethodSpec,
  type OperationSpec,
  type ParameterSpec,
  type Registered,
  type RouteOptions,
  type RouteSpec,
  SELECTIONS,
  type ServiceSpec,
  type Verb,
} from './description.ts'
export { methodNotApplicable } from './errors.ts'
export { MAX_ASSET_BYTES } from './assets.ts'
export { counter, gauge, type Metric, type MetricValue } from '../engine/base/counts/metric.ts'
export { callFunction } from './function-call.ts'
export type { Metrics, ReadMetrics } from './metrics/metrics.ts'
export type { InnerRequest } from './inner-request.ts'
export { preferredType, prefersPage } from './preferred-type.ts'
export { encoded, json, readBody, type Reply } from './reply.ts'
export type { RestRequest } from './request.ts'
export type { RouteRequest } from './route-request.ts'
export {
  SeenWebhooks,
  type SignedWebhook,
  signWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  webhookSecretProblem,
} from './webhook.ts'
export type { QuotaReport } from './session/request-quota.ts'
export type { Sessions } from './session/sessions.ts'
export type { Session } from './session/session.ts'
export type { User } from './auth/user.ts'
export type { TransportRequest } from './transport/transport.ts'

/** Version of Tesser and of this contract; a plugin states the range that it supports. */
export const KERNEL_VERSION: string = packageJson.version

export interface PluginDefinition<Options extends TObject = TObject> {
  /** Unique among the loaded plugins. */
  readonly name: string
  /** Range of {@link KERNEL_VERSION} that the plugin supports, for example `^1.0.0`. */
  readonly kernel: string
  /** Names of plugins that must be loaded before this one. */
  readonly needs?: readonly string[]
  /** Schema of its options in the config file, made with {@link Type}. Unknown options are refused, defaults are filled in. */
  readonly options?: Options
  /**
   * Modules with classes (`tesser/classes`): functions, calculated attributes, events. They run in separate threads,
   * so the kernel side of this plugin never imports them. If such a module exports a function `configure`, it gets the options.
   *
   *   classes: new URL('./classes.js', import.meta.url)
   */
  readonly classes?: URL | readonly URL[]
  /**
   * Modules with tasks that run near the data, in threads of the pool, by name; `scope.engine.runTask('acme-hello/count', …)`
   * runs one. The default export of each is a {@link TaskFunction}.
   *
   *   tasks: { count: new URL('./count.js', import.meta.url) }
   */
  readonly tasks?: Readonly<Record<string, URL>>
  /**
   * Returns the number of bytes of the commit log that stay on the disk until the plugin has read them by `scope.engine.commits`. 0: it
   * follows no commits.
   */
  followsLog?(options: Static<Options>): number
  /** Dataclasses to add to the model, in the form of the model file. */
  readonly model?: { readonly dataClasses: Readonly<Record<string, object>> }
  /** Called once, before the port opens. Resources that it opens are closed in `scope.onClose`. */
  register?(scope: Scope, options: Static<Options>): void | Promise<void>
}

/** Returns the plugin unchanged; gives it its types. */
export function definePlugin<Options extends TObject>(plugin: PluginDefinition<Options>): PluginDefinition<Options> {
  return plugin
}

export type Answer = Reply | Promise<Reply>
/** Reply; `undefined` if the plugin does not handle the request after all, so that the next one is tried. */
export type HandlerResult = Reply | undefined | Promise<Reply | undefined>

/** Names of the parameters in the path of a route. */
type PathParameterNames<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? NameIn<Segment> | PathParameterNames<Rest>
  : NameIn<Path>
type NameIn<Segment extends string> = string extends Segment
  ? string
  : Segment extends `:${infer Name}` | `*${infer Name}`
    ? Name
    : never

export interface CallOptions {
  /**
   * `'plugin'`: the plugin itself, with the rights that `roles` and `privileges` of its entry in the config grant, or else the rights of a
   * guest. A request: its user, with session and rights.
   */
  readonly as: 'plugin' | RestRequest
  /** Ends a call as the plugin when it fires, such as `request.signal`. A call as a request ends with its client. */
  readonly signal?: AbortSignal
}

export interface AssetOptions {
  /** One sentence about the files, for the reference of addresses. */
  readonly doc?: string | undefined
  /** Serves `index.html` for unknown paths below, when a browser opens a page: apps interpret the rest of the address. */
  readonly fallback?: boolean | undefined
  /** `Content-Security-Policy` of the files; by default only scripts, styles, images and data of this server, nothing inline. */
  readonly policy?: string | undefined
}

/** Registry in which a plugin declares its features. Registering a name twice is an error that names both plugins. */
export interface Scope {
  /** Name of the plugin. */
  readonly plugin: string
  /** Names of all loaded plugins, in their order. */
  readonly plugins: readonly string[]
  /** The data: reads, saves, deletions, calls, entity sets, images and uploads. */
  readonly engine: PluginEngine
  /** Sessions of clients; the session of a request is `request.session`. */
  readonly sessions: Sessions
  /** Users and keys. A plugin with its own users replaces `directory`. */
  readonly identities: Identities
  /** Checks names and passwords against {@link identities}, and slows down guessing; for other ways to log in. */
  readonly logins: Logins
  /** Quotas of requests and their current use. */
  readonly quota: Pick<RequestQuota, 'report'>
  readonly log: Logger
  /** Clock of everything with a lifetime: milliseconds since 1970. */
  readonly now: () => number
  /** Path at which a proxy serves the server, a prefix of every address that clients get; empty for none. */
  readonly basePath: string
  /** Folder of the config file, at which relative paths in options start. */
  readonly configFolder: string
  /** State of the server: for health checks, and for work that should not start when the server stops. */
  readonly lifecycle: Readonly<Lifecycle>
  /** Metrics of the server, to which a plugin adds its own. */
  readonly metrics: Metrics

  /** Registrations of all plugins; complete when the port is open. */
  readonly registered: Registered

  /** Registers a service: `/rest/$name/…`. `request.parts` are the parts that follow. */
  service(name: `$${string}`, spec: ServiceSpec, handler: (request: RestRequest) => Answer): void

  /** Registers a value of `$method` on a dataclass, for example `update`. */
  method(name: string, spec: MethodSpec, handler: (request: RestRequest) => Answer): void

  /** Handles a verb without `$method` on a dataclass. Only one plugin can own a verb. */
  verb(verb: Verb, handler: (request: RestRequest) => Answer): void

  /** Registers a *command*: a parameter whose presence makes this plugin answer, for example `$compute`. */
  command(name: `$${string}`, spec: CommandSpec, handler: (request: RestRequest) => HandlerResult): void

  /**
   * Registers a *parameter*. With `apply` it adds to the read and answers nothing, for example `$filter`; without, handlers read
   * it by `request.parameter`, and several plugins can declare it. A request with a `$` parameter that no plugin has registered is
   * refused.
   *
   *   scope.parameter('$top', { schema: { type: 'integer' }, doc: 'Number of entities of the page.', example: 10 }, apply)
   */
  parameter(
    name: `$${string}`,
    spec: ParameterSpec,
    apply?: (read: ReadRequest, value: string, request: RestRequest) => void,
  ): void

  /** True if a plugin has registered the parameter `name` as one that `selects`. */
  selects(name: string): boolean

  /**
   * Registers a path part after the dataclass that begins with `$`, for example `$entityset`. It runs before the parameters;
   * work that depends on them is added to `request.steps`.
   * @param apply takes the following parts that belong to it, each by a call of `next()`
   */
  part(name: `$${string}`, apply: (request: RestRequest, next: () => string | undefined) => void | Promise<void>): void

  /**
   * Registers a finder for path parts after the dataclass that name a member of it, such as a class function. Called for every part
   * that does not begin with `$`, before it is read as an attribute list.
   * @param find returns the handler that answers once the parameters have been applied, whatever `$method` says; undefined for no member
   */
  member(find: (request: RestRequest, name: string) => ((request: RestRequest) => Answer) | undefined): void

  /**
   * Makes a request within the server on behalf of a client, with the rights, session, cost and page of `request`. Errors are replies, as
   * for every client.
   *
   *   const reply = await scope.dispatch({ url: '/rest/City?$top=1' }, request)
   *   const { __ENTITIES } = JSON.parse(Buffer.from(await readBody(reply, 2 ** 20)).toString())
   *
   * Within a GET call it before the first `await`.
   * @throws {Error} for a write within a GET, which a link on any page can send
   */
  dispatch(inner: InnerRequest, request: RestRequest): Promise<Reply>

  /** Passes the parameters to the plugins that own them, as happens for requests on a dataclass before they are answered. */
  applyParameters(request: RestRequest): void

  /**
   * Handles verbs on one image or blob of one entity, if no command handles the request: `PUT /Company(1)/contract`.
   * Other verbs have their usual meaning.
   */
  binary(accepts: Accepts, handler: (request: RestRequest) => HandlerResult): void

  /**
   * Registers a path outside `/rest`, for example `/health`. A segment `:name` matches any one segment, a last `*name` all that
   * follow. Exact segments come before parameters, whatever the order of registration.
   * @throws {Error} another route matches the same addresses
   */
  route<const Path extends `/${string}`>(
    path: Path,
    spec: RouteSpec,
    handler: (request: RouteRequest<Readonly<Record<PathParameterNames<Path>, string>>>) => Answer,
  ): void

  /**
   * Calls a function of the plugin's own classes, exposed or not, or an exposed one of another plugin, in a function thread. Its name is
   * its class and its own name, as its author wrote them; functions of the datastore, dataclasses and singletons can be called.
   *
   *   const order = await scope.call<Order>('Store.receive', [text], { as: 'plugin' })
   *
   * Arguments are sent as JSON and stay plain values. The result is what a client would get, without `result` around a value; an
   * `OutgoingMessage` is a {@link Reply}.
   * @throws {ProtocolError} one that the function throws; it failed, may not be called, or cannot be called now
   * @throws {Error} there is no such function
   */
  call<Result = unknown>(name: string, args: readonly unknown[], options: CallOptions): Promise<Result>

  /**
   * Serves the present files of a folder below a path outside `/rest`, with `index.html` at the path itself: a page of
   * the plugin. They are held in memory, with entity tags, ranges and compression; later changes are not noticed. Every client
   * may read them.
   * @throws {Error} if the folder cannot be read, has more than {@link MAX_ASSET_BYTES}, or lacks the page of a fallback
   */
  assets(path: '/' | `/${string}/`, folder: URL, options?: AssetOptions): Promise<void>

  /**
   * Registers a hook for every request, called in the order of loading before any other handling. A reply that it returns is the answer.
   * Synchronous, because a transport's headers and body can be requested only in the same turn.
   */
  onRequest(hook: (request: TransportRequest) => Reply | undefined): void

  /** Registers a hook for every answer, errors included, called in the order of loading. Its reply is sent instead. */
  onReply(hook: (reply: Reply, request: TransportRequest) => Reply): void

  /** Registers a callback for when the port is open. */
  onReady(callback: () => void | Promise<void>): void

  /** Registers a callback for when the server has stopped answering, called in reverse order of loading. */
  onClose(callback: () => void | Promise<void>): void
}
