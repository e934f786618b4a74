import { fileURLToPath } from 'node:url'
import type { Accepts, Answer, HandlerResult, Scope, Verb } from './api.ts'
import { type ProtocolError, type ReadRequest, suggestion } from '../engine/index.ts'
import { DescriptionCheck } from './check-description.ts'
import { type Asset, canonicalPath, loadAssets, sendAsset } from './assets.ts'
import {
  DATA_OPERATIONS,
  type DeclaredParameter,
  type MethodSpec,
  type OperationSpec,
  type ParameterSpec,
  type Registered,
  type RouteSpec,
  type ServiceSpec,
} from './description.ts'
import { KernelErrors } from './errors.ts'
import { namesOfAdministrators } from './names-of-administrators.ts'
import type { RestRequest } from './request.ts'
import type { RouteRequest } from './route-request.ts'
import { hasParameters, type Matched, RouteTable, shapeOf } from './route-table.ts'

interface Handler<T> {
  readonly plugin: string
  readonly handle: (request: RestRequest) => T
}

/** A handler that is tried for its verbs. */
export interface VerbHandler<T> extends Handler<T>, Accepts {}

/** An address outside of `/rest`. */
interface Route extends RouteSpec {
  readonly plugin: string
  readonly path: string
  readonly isAsset?: boolean
  readonly handle: (request: RouteRequest) => Answer
}

type ApplyParameter = (read: ReadRequest, value: string, request: RestRequest) => void
type FindMember = Parameters<Scope['member']>[0]
type OnRequest = Parameters<Scope['onRequest']>[0]
type OnReply = Parameters<Scope['onReply']>[0]
type ApplyPart = (request: RestRequest, next: () => string | undefined) => void | Promise<void>

type ScopeMembers = Omit<
  Scope,
  | 'plugin'
  | 'plugins'
  | 'engine'
  | 'log'
  | 'lifecycle'
  | 'metrics'
  | 'onReady'
  | 'onClose'
  | 'now'
  | 'basePath'
  | 'configFolder'
  | 'call'
  | 'dispatch'
  | 'sessions'
  | 'identities'
  | 'logins'
  | 'quota'
>
type Registering = Omit<ScopeMembers, 'registered' | 'selects' | 'applyParameters'>

/**
 * Parameters that clients of the protocol send and that have no effect here: parameters of mobile apps, of old web clients, and for
 * administration. Source: protocol notes, 1.8, 1.9, 3.2 and 11.
 */
export const IGNORED_PARAMETERS: ReadonlySet<string> = new Set([
  '$extendedAttributes',
  '$emMethod',
  '$imageinfo',
  '$metadata',
  '$changestamp',
  '$progressinfo',
  '$kind',
  '$path',
])

/** A name that pages add to addresses of images against caches. */
const CACHE_NAME = 'version'

/** Everything the plugins have registered, by the name that requests use. */
export class Registry implements Registered {
  readonly declared: DeclaredParameter[] = []
  readonly services = new Map<string, Handler<Answer> & ServiceSpec & { readonly isBuiltIn: boolean }>()
  readonly methods = new Map<string, Handler<Answer> & MethodSpec & { readonly isBuiltIn: boolean }>()
  readonly verbs = new Map<string, Handler<Answer>>()
  /** Commands in the order of registration, in which they are tried. */
  readonly commands = new Map<string, VerbHandler<HandlerResult>>()
  /** Functions of the parameters that add to the read. */
  readonly parameters = new Map<
    string,
    { plugin: string; isBuiltIn: boolean; apply: ApplyParameter; selects: boolean }
  >()
  readonly parts = new Map<string, { plugin: string; apply: ApplyPart }>()
  /** Handlers by verb. */
  readonly binaries = new Map<string, VerbHandler<HandlerResult>>()
  /** Exact paths. */
  readonly routes = new Map<string, Route>()
  /** Routes with parameters, by {@link shapeOf} their paths. */
  readonly patterns = new Map<string, Route>()
  /** Pages for unknown paths, by the path of their folder. */
  readonly fallbacks = new Map<string, Route>()
  readonly members: { readonly plugin: string; readonly find: FindMember }[] = []
  readonly onRequest: OnRequest[] = []
  readonly onReply: OnReply[] = []
  readonly #names = new Set<string>(['$method'])
  /** Ids of operations, which parameters and documents name. */
  readonly #ids = new Map<string, { plugin: string; path: string }>()
  /** JSON of the schemas with `$id`, by it. */
  readonly #schemas = new Map<string, string>()
  #isComplete = false
  /**
   * Built-in parameters, then those of other plugins, if there are any: a parameter that narrows `read.filter` finds `$filter` in it,
   * wherever it is in the address.
   */
  #rounds: readonly boolean[] = [true]
  #table: RouteTable<Route> | undefined

  /**
   * Refuses a parameter that would have no effect: ignoring `$filtre=…` or `filter=…` would return every entity. Proxies and browsers add
   * other names without `$`.
   * @param hasOwnNames true if a plugin answers that may have such names
   * @throws {KernelErrors.UNKNOWN_PARAMETER} 400
   */
  demandKnown(request: Pick<RestRequest, 'parameters' | 'isAdministrator'>, hasOwnNames = false): void {
    for (const name of request.parameters.keys()) {
      const isKnown = name.startsWith('$')
        ? this.#names.has(name) || IGNORED_PARAMETERS.has(name)
        : hasOwnNames || name === CACHE_NAME || !this.#names.has(`$${name}`)
      if (!isKnown) throw this.#unknownParameter(name, request.isAdministrator)
    }
  }

  #unknownParameter(name: string, isAdministrator: boolean): ProtocolError {
    const hidden = isAdministrator ? new Set() : namesOfAdministrators(this)
    const knownNames = [...this.#names].filter(each => !hidden.has(each))
    const hint = suggestion(name, knownNames) || `; known are ${knownNames.sort().join(', ')}`
    return KernelErrors.UNKNOWN_PARAMETER(name.slice(0, 100), hint)
  }

  get hasMembers(): boolean {
    return this.members.length > 0
  }

  applyParameters(request: RestRequest): void {
    // A service has no dataclass, but its functions may return a selection, which is shown like any other.
    const { access } = request
    request.read ??= {
      dataClass: '',
      access,
      source: { kind: 'all' },
      skip: 0,
      top: undefined,
      output: { form: 'collection' },
    }
    for (const isBuiltIn of this.#rounds) {
      for (const [name, value] of request.parameters) {
        const parameter = this.parameters.get(name)
        if (parameter?.isBuiltIn === isBuiltIn) parameter.apply(request.read, value, request)
      }
    }
  }

  /** Route of a path, or a file by another encoding of its path. */
  routeAt(path: string): Route | undefined {
    const route = this.routes.get(path)
    if (route) return route
    const file = this.routes.get(canonicalPath(path) ?? '')
    return file?.isAsset ? file : undefined
  }

  /** Route with parameters that a path matches. Call it when all plugins have registered. */
  patternAt(path: string): Matched<Route> | undefined {
    this.#table ??= new RouteTable(this.patterns.values())
    return this.#table.find(path)
  }

  /** True for a route at this path whose exact beginning includes a base path. */
  servesBelow(basePath: string, path: string): boolean {
    return this.routes.has(path) || this.patternAt(path)?.route.path.startsWith(`${basePath}/`) === true
  }

  /** Paths of all routes, as they were registered. */
  get paths(): string[] {
    return [...this.routes.keys(), ...[...this.patterns.values()].map(({ path }) => path)]
  }

  /** Page for a path without a route, below the folder of an app; none for addresses of the protocol and of other plugins. */
  fallbackAt(path: string): Route | undefined {
    for (const [folder, page] of this.fallbacks) {
      if (!path.startsWith(folder)) continue
      const first = `${folder}${path.slice(folder.length).split('/', 1)[0]}`
      const isOfOther = [...this.routes.values(), ...this.patterns.values()].some(
        route => route.plugin !== page.plugin && (route.path === first || route.path.startsWith(`${first}/`)),
      )
      if (!isOfOther && first.toLowerCase() !== '/rest') return page
    }
    return undefined
  }

  /**
   * Operations that parameters and methods name in `on` and nothing registers, so that no document shows them. Built-in plugins name
   * operations of each other, which a configuration can leave out. Must be called after all plugins have registered.
   */
  get unknownOperations(): { readonly plugin: string; readonly message: string }[] {
    const ids = [...this.services.values(), ...this.routes.values(), ...this.patterns.values()].flatMap(
      ({ operations = {} }) => Object.values(operations).map(({ id }) => id),
    )
    const operations = new Set<string>([...DATA_OPERATIONS, ...ids])
    const methods = [...this.methods].map(([name, spec]) => ({ ...spec, name: `$method=${name}` }))
    return [...this.declared, ...methods].flatMap(({ plugin, isBuiltIn, name, on = [] }) =>
      isBuiltIn
        ? []
        : on
            .filter(each => !operations.has(each))
            .map(each => {
              const message = `plugin ${plugin}: ${name} is on "${each}", which is not an operation${suggestion(each, operations)}`
              return { plugin, message }
            }),
    )
  }

  /** Members of a {@link Scope} that register, on behalf of `plugin`. */
  scopeFor(plugin: string, isBuiltIn: boolean): ScopeMembers {
    // Tests check the built-in plugins.
    const check = isBuiltIn ? undefined : new DescriptionCheck(plugin, this.#schemas)
    const declare = (name: string, spec: ParameterSpec): void => {
      this.#names.add(name)
      this.declared.push({ ...spec, plugin, isBuiltIn, name })
    }
    const claimIds = (operations: Readonly<Record<string, OperationSpec>> = {}): void => {
      for (const { id } of Object.values(operations)) claim(this.#ids, id, { plugin, path: `the operation ${id}` })
    }
    const registering: Registering = {
      service: (name, spec, handle) => {
        check?.service(name, spec, handle)
        claimIds(spec.operations)
        claim(this.services, name, { ...spec, plugin, isBuiltIn, handle })
      },
      method: (name, spec, handle) => {
        check?.method(name, spec, handle)
        claim(this.methods, name, { ...spec, plugin, isBuiltIn, handle })
      },
      verb: (verb, handle) => {
        check?.handler(verb, handle)
        claim(this.verbs, verb, { plugin, handle })
      },
      command: (name, spec, handle) => {
        check?.command(name, spec, handle)
        claim(this.commands, name, { plugin, verbs: spec.verbs, handle })
        declare(name, spec)
      },
      parameter: (name, spec, apply) => {
        check?.parameter(name, spec, apply)
        if (apply) claim(this.parameters, name, { plugin, isBuiltIn, apply, selects: spec.selects === true })
        if (apply && !isBuiltIn) this.#rounds = [true, false]
        declare(name, spec)
      },
      part: (name, apply) => {
        check?.part(name, apply)
        claim(this.parts, name, { plugin, apply })
      },
      binary: (accepts, handle) => {
        check?.binary(accepts, handle)
        for (const verb of accepts.verbs) claim(this.binaries, verb, { ...accepts, plugin, handle })
      },
      route: (path, accepts, handle) => {
        check?.route(path, accepts, handle)
        const route = { ...accepts, plugin, path, handle } as Route
        if (!accepts.yields) claimIds(accepts.operations)
        if (hasParameters(path)) claim(this.patterns, shapeOf(path), route)
        else claim(this.routes, path, route)
      },
      assets: async (path, folder, { doc, fallback = false, policy } = {}) => {
        const assets = loadAssets(folder, policy)
        const assetRoute = (at: string, asset: Asset): Route => ({
          plugin,
          path: at,
          verbs: ['GET'],
          isAsset: true,
          handle: request => sendAsset(asset, request),
        })
        for (const [name, asset] of assets) claim(this.routes, path + name, assetRoute(path + name, asset))
        const index = assets.get('index.html')
        if (fallback) {
          if (!index)
            throw new Error(
              `${fileURLToPath(folder)} has no index.html, which { fallback: true } needs: it is the answer to unknown paths below ${path}`,
            )
          const handle = (request: RestRequest) => sendAsset(index, request, ['Accept'])
          claim(this.fallbacks, path, { plugin, path, verbs: ['GET'], isAsset: true, handle })
        }
        if (!index) return
        claim(this.routes, path, { ...assetRoute(path, index), doc })
        if (path === '/') return
        // Relative, so that it is also correct below a base path. Links in the page are relative to its folder.
        const redirect = { status: 308, headers: { Location: path.split('/').slice(-2).join('/') }, body: '' }
        const barePath = path.slice(0, -1)
        claim(this.routes, barePath, {
          plugin,
          path: barePath,
          verbs: ['GET'],
          doc: doc && `Redirects to \`${path}\`.`,
          handle: () => redirect,
        })
      },
      member: find => void this.members.push({ plugin, find }),
      onRequest: hook => void this.onRequest.push(hook),
      onReply: hook => void this.onReply.push(hook),
    }
    return {
      ...this.#untilComplete(plugin, registering),
      registered: this,
      selects: name => this.parameters.get(name)?.selects === true,
      applyParameters: request => this.applyParameters(request),
    }
  }

  /** Refuses all further registrations. */
  complete(): void {
    this.#isComplete = true
  }

  /** Functions that register, until all plugins have: documents and the table of routes would not have what comes later. */
  #untilComplete<T extends object>(plugin: string, registering: T): T {
    const guard =
      (register: (...values: readonly unknown[]) => unknown) =>
      (...values: readonly unknown[]): unknown => {
        if (!this.#isComplete) return register(...values)
        const name = typeof values[0] === 'string' ? ` ${values[0]}` : ''
        throw new Error(
          `plugin ${plugin} registers${name} after the server has started; plugins register in register()`,
        )
      }
    return Object.fromEntries(Object.entries(registering).map(([name, register]) => [name, guard(register)])) as T
  }
}

function claim<T extends { plugin: string; path?: string; yields?: boolean }>(
  table: Map<string, T>,
  name: string,
  entry: T,
): void {
  const owner = table.get(name)
  if (owner && entry.yields) return
  if (owner && !owner.yields) {
    const { path = name } = entry
    const other = owner.path === undefined || owner.path === path ? '' : ` as ${owner.path}`
    throw new Error(
      `plugin ${entry.plugin} registers ${path}, which plugin ${owner.plugin} has registered already${other}`,
    )
  }
  table.set(name, entry)
}

export const accepts = (verbs: readonly Verb[], verb: string): boolean =>
  verbs.includes(verb as Verb) || (verb === 'HEAD' && verbs.includes('GET'))
