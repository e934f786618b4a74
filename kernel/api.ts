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
import packageJson from '../package.json' with { type: 'json' }
import type { Logger } from 'pino'
import type { PluginEngine, ReadRequest } from '../engine/index.ts'
import type { InnerRequest } from './inner-request.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Lifecycle } from './base/lifecycle.ts'
import type { Reply } from './reply.ts'
import type { RestRequest } from './request.ts'
import type { Logins } from './auth/logins.ts'
import type { RequestQuota } from './session/request-quota.ts'
import type { Sessions } from './session/sessions.ts'
import type { Identities } from './session/visitors.ts'
import type { TransportRequest } from './transport/transport.ts'

export { type Static, Type } from '@sinclair/typebox'
export type { Granted, PluginEngine } from '../engine/index.ts'
export { defineErrors, ProtocolError } from '../engine/index.ts'
export type { ClientText, ReadRequest } from '../engine/index.ts'
export type { TaskFunction, TaskSelection, TaskStore, TaskValue } from '../engine/index.ts'
export {
  type Conditions,
  conditionsOf,
  expectedVersion,
  isCurrent,
  partOf,
  type Representation,
} from './conditional.ts'
export { methodNotApplicable } from './errors.ts'
export { MAX_ASSET_BYTES } from './assets.ts'
export type { Metric, MetricValue } from '../engine/base/counts/metric.ts'
export { callFunction } from './function-call.ts'
export type { Metrics, ReadMetrics } from './metrics/metrics.ts'
export type { InnerRequest } from './inner-request.ts'
export { encoded, json, readBody, type Reply, tagged } from './reply.ts'
export type { RestRequest } from './request.ts'
export type { QuotaReport } from './session/request-quota.ts'
export type { Sessions } from './session/sessions.ts'
export type { Session } from './session/session.ts'
export type { User } from './auth/user.ts'
export type { TransportRequest } from './transport/transport.ts'

/** Version of Tesser, which is that of this contract; a plugin names the range that it works with. */
export const KERNEL_VERSION: string = packageJson.version

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
  /**
   * Modules with tasks that run beside the data, in threads of the pool, by name; `scope.engine.runTask('acme-hello/count', …)`
   * runs one. The default export of each is a {@link TaskFunction}.
   *
   *   tasks: { count: new URL('./count.js', import.meta.url) }
   */
  readonly tasks?: Readonly<Record<string, URL>>
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
export type HandlerResult = Reply | undefined | Promise<Reply | undefined>

export interface Accepts {
  /** `GET` includes `HEAD`. Other verbs are answered with 405. */
  readonly verbs: readonly Verb[]
  /** For a service: guests may ask for it even where `roles.json` demands a login. */
  readonly guests?: boolean
  /** For a route: another plugin may register the path, before or after, and answers there instead. */
  readonly yields?: boolean
}

export interface AssetOptions {
  /** `index.html` answers unknown paths below, for browsers that open a page: apps read the rest of the address themselves. */
  readonly fallback?: boolean | undefined
  /** `Content-Security-Policy` of the files; scripts, styles, images and data of this server alone by default, nothing inline. */
  readonly policy?: string | undefined
}

/** Registry in which a plugin declares what it does. Registering a name twice is an error that names both plugins. */
export interface Scope {
  /** Name of the plugin. */
  readonly plugin: string
  /** Names of all plugins that are loaded, in their order. */
  readonly plugins: readonly string[]
  /** The data: reads, saves, deletions, calls, entity sets, images and uploads. */
  readonly engine: PluginEngine
  /** Sessions of clients; that of a request is `request.session`. */
  readonly sessions: Sessions
  /** Users and keys. A plugin that knows users itself puts its own `directory` there. */
  readonly identities: Identities
  /** Checks names and passwords against {@link identities}, slowed down against guessing: for other ways to log in. */
  readonly logins: Logins
  /** Quotas of requests and their use now. */
  readonly quota: Pick<RequestQuota, 'report'>
  readonly log: Logger
  /** Milliseconds since 1970: the clock of everything that has a lifetime. */
  readonly now: () => number
  /** Path at which a proxy serves the server, in front of every address that clients are given; empty for none. */
  readonly basePath: string
  /** Folder at which relative paths in options start: that of the config file. */
  readonly configFolder: string
  /** Whether requests are answered: for health checks, and for work that should not start when the server stops. */
  readonly lifecycle: Readonly<Lifecycle>
  /** Metrics of the server, to which a plugin adds its own. */
  readonly metrics: Metrics

  /** A service: `/rest/$name/…`. `request.parts` is what follows. */
  service(name: `$${string}`, accepts: Accepts, handler: (request: RestRequest) => Answer): void

  /** A value of `$method` on a dataclass, for example `update`. */
  method(name: string, accepts: Accepts, handler: (request: RestRequest) => Answer): void

  /** Handles a verb without `$method` on a dataclass. Only one plugin can own a verb. */
  verb(verb: Verb, handler: (request: RestRequest) => Answer): void

  /** A *command*: a parameter whose presence makes this plugin answer, for example `$compute`. */
  command(parameter: `$${string}`, accepts: Accepts, handler: (request: RestRequest) => HandlerResult): void

  /**
   * A *parameter*: adds its part to what is read and answers nothing, for example `$filter`.
   * @param options `selects`: true if it decides which entities are selected. Deletions refuse all others of plugins, so that
   *   no client deletes more than it meant to
   */
  parameter(
    name: `$${string}`,
    apply: (read: ReadRequest, value: string, request: RestRequest) => void,
    options?: { readonly selects?: boolean },
  ): void

  /**
   * Declares parameters that handlers of the plugin read themselves, by `request.parameter`. Several plugins can declare the
   * same one. A request with a `$` parameter that no plugin has declared or registered is refused.
   */
  readsParameters(...names: `$${string}`[]): void

  /** True if a plugin has registered the parameter `name` as one that `selects`. */
  selects(name: string): boolean

  /**
   * A path part behind the dataclass that begins with `$`, for example `$entityset`. Runs before the parameters; what
   * depends on them goes into `request.steps`.
   * @param apply takes the parts that follow off with `next()`, as many as belong to it
   */
  part(name: `$${string}`, apply: (request: RestRequest, next: () => string | undefined) => void | Promise<void>): void

  /**
   * A path part behind the dataclass that names a member of it, such as a class function. Asked for every part that does
   * not begin with `$`, before it is taken for an attribute list.
   * @returns the handler of the request when its parameters have been applied, whatever `$method` says; undefined: this plugin has none
   */
  member(find: (request: RestRequest, name: string) => ((request: RestRequest) => Answer) | undefined): void

  /**
   * The reply to a request that the plugin makes within the server, in place of its client: rights, session, cost and page are
   * those of `request`. Errors are replies as for every client.
   *
   *   const reply = await scope.dispatch({ url: '/rest/City?$top=1' }, request)
   *   const { __ENTITIES } = JSON.parse(Buffer.from(await readBody(reply, 2 ** 20)).toString())
   *
   * Within a GET call it before the first `await`.
   * @throws {Error} a write within a GET, which a link on any page can send
   */
  dispatch(inner: InnerRequest, request: RestRequest): Promise<Reply>

  /** Hands the parameters to the plugins that own them, as is done for requests on a dataclass before they are answered. */
  applyParameters(request: RestRequest): void

  /**
   * Handles verbs on one image or blob of one entity, when no command takes it: `PUT /Company(1)/contract`.
   * Other verbs mean what they mean elsewhere.
   */
  binary(accepts: Accepts, handler: (request: RestRequest) => HandlerResult): void

  /** A path outside `/rest`, matched exactly, for example `/health`. */
  route(path: `/${string}`, accepts: Accepts, handler: (request: RestRequest) => Answer): void

  /**
   * Serves the files of a folder below a path outside `/rest`, as they are now, `index.html` at the path itself: a page of
   * the plugin. They are held in memory, with entity tags, ranges and compression; what changes later is not seen. Everybody
   * may read them.
   * @throws {Error} the folder cannot be read, has more than {@link MAX_ASSET_BYTES}, or lacks the page of a fallback
   */
  assets(path: '/' | `/${string}/`, folder: URL, options?: AssetOptions): Promise<void>

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
