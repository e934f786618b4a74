import { fileURLToPath } from 'node:url'
import type { Accepts, Answer, HandlerResult, Scope, Verb } from './api.ts'
import { type ReadRequest, suggestion } from '../engine/index.ts'
import { type Asset, canonicalPath, loadAssets, sendAsset } from './assets.ts'
import {
  checkHandler,
  checkMethod,
  checkName,
  checkParameter,
  checkRoute,
  checkService,
  checkVerbs,
  visitSchema,
} from './check-description.ts'
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

/**
 * Parameters that clients of the protocol send and that have no effect here: those of mobile apps, of old web clients, and for
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

/** Everything the plugins have registered, by the name that requests use. */
export class Registry implements Registered {
  readonly declared: DeclaredParameter[] = []
  readonly services = new Map<string, Handler<Answer> & ServiceSpec>()
  readonly methods = new Map<string, Handler<Answer> & MethodSpec & { readonly isBuiltIn: boolean }>()
  readonly verbs = new Map<string, Handler<Answer>>()
  /** In the order of registration, in which they are tried. */
  readonly commands = new Map<string, VerbHandler<HandlerResult>>()
  /** Functions of the parameters that add to the read. */
  readonly parameters = new Map<string, { plugin: string; apply: ApplyParameter; selects: boolean }>()
  readonly parts = new Map<string, { plugin: string; apply: ApplyPart }>()
  /** By verb. */
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
  /** Schemas with `$id`, as JSON, by it. */
  readonly #schemas = new Map<string, string>()
  #isComplete = false
  #table: RouteTable<Route> | undefined

  /**
   * Refuses a parameter that would have no effect: ignoring `$filtre=…` would return every entity. Only names with `$` belong to
   * the protocol; proxies and browsers add others.
   * @throws {KernelErrors.UNKNOWN_PARAMETER} 400
   */
  demandKnown(parameters: ReadonlyMap<string, string>): void {
    for (const name of parameters.keys()) {
      if (!name.startsWith('$') || this.#names.has(name) || IGNORED_PARAMETERS.has(name)) continue
      const known = [...this.#names]
      const hint = suggestion(name, known) || `; known are ${known.sort().join(', ')}`
      throw KernelErrors.UNKNOWN_PARAMETER(name.slice(0, 100), hint)
    }
  }

  get hasMembers(): boolean {
    return this.members.length > 0
  }

  applyParameters(request: RestRequest): void {
    // A service has no dataclass, but what its functions return may be a selection that is shown like any other.
    const { access } = request
    request.read ??= {
      dataClass: '',
      access,
      source: { kind: 'all' },
      skip: 0,
      top: undefined,
      output: { form: 'collection' },
    }
    for (const [name, value] of request.parameters) this.parameters.get(name)?.apply(request.read, value, request)
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
   * Operations that parameters and methods name in `on` and nothing registers: documents show them nowhere. Built-in plugins name
   * operations of each other, which a configuration can leave out. Call it when all plugins have registered.
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
  scopeFor(
    plugin: string,
    isBuiltIn: boolean,
  ): Omit<
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
  > {
    /** Later requests would not see it: documents and the table of routes are made once. */
    const early = <Of extends (...given: never[]) => unknown>(register: Of): Of =>
      ((...given: Parameters<Of>) => {
        if (!this.#isComplete) return register(...given)
        const [what] = given as readonly unknown[]
        const shown = typeof what === 'string' ? ` ${what}` : ''
        throw new Error(
          `plugin ${plugin} registers${shown} when the server has started; plugins register in register()`,
        )
      }) as Of
    const declare = (name: string, spec: ParameterSpec): void => {
      this.#names.add(name)
      this.declared.push({ ...spec, plugin, isBuiltIn, name })
    }
    /** The built-in plugins are checked by tests. */
    const check = (run: () => void): void => {
      if (!isBuiltIn) run()
    }
    const members: ReturnType<Registry['scopeFor']> = {
      registered: this,
      service: (name, spec, handle) => {
        check(() => {
          checkName(name, 'service')
          checkService(name, spec, plugin)
          checkHandler(name, handle)
        })
        this.#claimOperations(plugin, isBuiltIn, name, spec.operations)
        claim(this.services, name, { ...spec, plugin, handle })
      },
      method: (name, spec, handle) => {
        check(() => {
          checkMethod(name, spec)
          checkHandler(`$method=${name}`, handle)
        })
        claim(this.methods, name, { ...spec, plugin, isBuiltIn, handle })
      },
      verb: (verb, handle) => {
        check(() => checkHandler(verb, handle))
        claim(this.verbs, verb, { plugin, handle })
      },
      command: (name, spec, handle) => {
        check(() => {
          checkName(name, 'parameter')
          checkParameter(name, spec)
          checkVerbs(name, spec)
          checkHandler(name, handle)
        })
        claim(this.commands, name, { plugin, verbs: spec.verbs, handle })
        declare(name, spec)
      },
      parameter: (name, spec, apply) => {
        check(() => {
          checkName(name, 'parameter')
          checkParameter(name, spec)
          if (apply !== undefined) checkHandler(name, apply)
        })
        if (apply) claim(this.parameters, name, { plugin, apply, selects: spec.selects === true })
        declare(name, spec)
      },
      selects: name => this.parameters.get(name)?.selects === true,
      part: (name, apply) => {
        check(() => {
          checkName(name, 'part')
          checkHandler(name, apply)
        })
        claim(this.parts, name, { plugin, apply })
      },
      binary: (accepts, handle) => {
        check(() => {
          checkVerbs('binary', accepts)
          checkHandler('binary', handle)
        })
        for (const verb of accepts.verbs) claim(this.binaries, verb, { plugin, ...accepts, handle })
      },
      route: (path, accepts, handle) => {
        check(() => {
          checkRoute(path, accepts, plugin)
          checkHandler(`the route ${path}`, handle)
        })
        const { bodyBytes = 0 } = accepts
        if (!Number.isSafeInteger(bodyBytes) || bodyBytes < 0) {
          throw new Error(`the route ${path} has bodyBytes: ${String(bodyBytes)}; a number of bytes is expected`)
        }
        const route = { ...accepts, plugin, path, handle } as Route
        this.#claimOperations(plugin, isBuiltIn, `the route ${path}`, accepts.operations)
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
        // Relative, so that it is right behind a base path too. Links of the page are relative to its folder.
        const moved = { status: 308, headers: { Location: path.split('/').slice(-2).join('/') }, body: '' }
        const bare = path.slice(0, -1)
        claim(this.routes, bare, {
          plugin,
          path: bare,
          verbs: ['GET'],
          doc: doc && `Redirects to \`${path}\`.`,
          handle: () => moved,
        })
      },
      member: find => void this.members.push({ plugin, find }),
      onRequest: hook => void this.onRequest.push(hook),
      onReply: hook => void this.onReply.push(hook),
      applyParameters: request => this.applyParameters(request),
    }
    const { registered, selects, applyParameters, ...registering } = members
    const guarded = Object.entries(registering).map(([name, register]) => [name, early(register)])
    return { ...members, ...Object.fromEntries(guarded) }
  }

  /** Refuses all further registrations. */
  complete(): void {
    this.#isComplete = true
  }

  /** @throws {Error} an id of an operation or of a schema is that of another one */
  #claimOperations(
    plugin: string,
    isBuiltIn: boolean,
    where: string,
    operations: ServiceSpec['operations'] = {},
  ): void {
    const own = new Set<string>()
    for (const { id, body, answers = {} } of Object.values(operations)) {
      const owner = own.has(id) ? plugin : this.#ownerOfOperation(id)
      if (owner !== undefined) {
        throw new Error(`plugin ${plugin}: ${where} has the operation ${id}, which plugin ${owner} has already`)
      }
      own.add(id)
      if (isBuiltIn) continue
      for (const { schema } of [body ?? {}, ...Object.values(answers)]) {
        visitSchema(schema, part => {
          if (typeof part.$id !== 'string') return
          const text = JSON.stringify(part)
          if ((this.#schemas.get(part.$id) ?? text) !== text) {
            throw new Error(
              `${where}: ${id} has a schema with the $id ${part.$id}, which is that of a different schema`,
            )
          }
          this.#schemas.set(part.$id, text)
        })
      }
    }
  }

  #ownerOfOperation(id: string): string | undefined {
    const all: readonly { plugin: string; yields?: boolean; operations?: Readonly<Record<string, OperationSpec>> }[] = [
      ...this.services.values(),
      ...this.routes.values(),
      ...this.patterns.values(),
    ]
    return all.find(({ yields, operations = {} }) => !yields && Object.values(operations).some(each => each.id === id))
      ?.plugin
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
