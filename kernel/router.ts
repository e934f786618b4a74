import { parseAttributeList, type ProtocolError, type SelectionSource, suggestion } from '../engine/index.ts'
import { KernelErrors, methodNotApplicable } from './errors.ts'
import { prefersPage } from './preferred-type.ts'
import { accepts, type Registry, type VerbHandler } from './registry.ts'
import { lasting, type Reply } from './reply.ts'
import { type RequestContext, RestRequest } from './request.ts'
import { RouteRequest } from './route-request.ts'
import { pathParameters, type PathParameters } from './route-table.ts'
import type { Visit } from './session/sessions.ts'
import type { TransportRequest } from './transport/transport.ts'
import { parsePath, type ResourcePath, stripRestPrefix } from './url/parse-path.ts'
import { parseQueryString } from './url/parse-query-string.ts'

/**
 * Finds the handler of a request: a route, a service, or on a dataclass a `$method`, a command, or the verb itself.
 *
 * Every request passes through here, so an answer that needs no waiting is returned in the same turn, without a promise.
 */
export class Router {
  constructor(
    private readonly registry: Registry,
    private readonly context: RequestContext,
  ) {}

  answer(transport: TransportRequest, visit: Visit): Reply | Promise<Reply> {
    const { method: verb } = transport
    const restPath = stripRestPrefix(transport.path)
    if (restPath === undefined) return this.route(transport, visit)
    const parameters = parseQueryString(transport.query)
    const path = parsePath(restPath)
    const request = new RestRequest(transport, visit, this.context, verb, parameters, path.parts)
    if (path.kind === 'service') {
      const service = this.registry.services.get(path.name)
      // An unknown `$…` is looked up as a dataclass and not found: protocol notes, 1.1.
      if (!service) throw request.view.unknownDataClass(path.name)
      if (!service.guests) request.demandLogin()
      this.registry.demandKnown(request, !service.isBuiltIn)
      if (service.administrators && accepts(service.verbs, verb)) request.demandAdministrator(path.name)
      return call(service, path.name, request)
    }
    request.demandLogin()
    this.address(request, path)
    const promise = this.applyParts(request)
    return promise ? later(promise, () => this.dispatch(request)) : this.dispatch(request)
  }

  /** Plugin that owns a route or service, for the log. */
  ownerOf(path: string): string | undefined {
    const route = this.registry.routeAt(path) ?? this.registry.patternAt(path)?.route
    if (route) return route.plugin
    const service = /^\/rest\/([^/]+)/.exec(path)?.[1]
    return service === undefined ? undefined : this.registry.services.get(service)?.plugin
  }

  private route(transport: TransportRequest, visit: Visit): Reply | Promise<Reply> {
    const { path } = transport
    const { registry } = this
    const exact = registry.routeAt(path)
    const match = exact ? undefined : registry.patternAt(path)
    const route = exact ?? match?.route ?? (opensPage(transport) ? registry.fallbackAt(path) : undefined)
    if (!route) throw this.nothingAt(path, visit)
    const parameters = match ? pathParameters(match) : NO_PATH_PARAMETERS
    const request = new RouteRequest(transport, visit, this.context, parameters, route.bodyBytes)
    const answer = call(route, route.path, request)
    // Handlers of files do not read the request later.
    if (answer instanceof Promise && !route.isAsset) transport.keep()
    return answer
  }

  /** 404 with the address that was probably meant: with `/rest`, or in another letter case. */
  private nothingAt(path: string, { session }: Visit): ProtocolError {
    const { registry } = this
    const { services } = registry
    const { engine, basePath } = this.context
    const addresses = (paths: readonly string[]): string[] => paths.map(each => basePath + each)
    const displayPath = path.replace(/^\/+/, '/').slice(0, 200)
    if (displayPath === '/') {
      const servedPaths = addresses(registry.paths.filter(each => !registry.routes.get(each)?.isAsset))
      return KernelErrors.NO_SUCH_PATH(displayPath, `; it also serves ${servedPaths.join(', ')}`, basePath)
    }
    const first = displayPath
      .slice(1)
      .split(/[/([:]/, 1)[0]!
      .toLowerCase()
    const { dataClasses } = engine.queries.view(engine.permissions.accessOf(session.granted))
    const name = [...dataClasses.map(each => each.name), ...services.keys()].find(each => each.toLowerCase() === first)
    const suggestedPath = first === 'rest' ? `/rest${displayPath.slice('/rest'.length)}` : name && `/rest/${name}`
    const hint = suggestedPath
      ? `; did you mean "${basePath}${suggestedPath}"?`
      : suggestion(basePath + displayPath, addresses(registry.paths))
    return KernelErrors.NO_SUCH_PATH(displayPath, hint, basePath)
  }

  /** Sets the dataclass and the entities that the path names. */
  private address(request: RestRequest, path: Extract<ResourcePath, { kind: 'dataClass' }>): void {
    const { access } = request
    const { selector } = path
    // Creating entities and calling functions does not require the right to read the dataclass.
    const isWhole = selector.kind === 'all' && !path.parts.some(part => part.startsWith('$'))
    request.dataClass = isWhole
      ? this.context.engine.queries.addressed(path.dataClass, access)
      : request.view.dataClass(path.dataClass)
    const single = selector.kind === 'attribute' || (selector.kind === 'keys' && selector.keys.length === 1)
    const source: SelectionSource = selector
    request.read = {
      dataClass: path.dataClass,
      access,
      source,
      skip: 0,
      top: undefined,
      output: { form: single ? 'entity' : 'collection', coding: request.transport.coding },
    }
  }

  /** Applies path parts in any order (protocol notes, 1.8): those that begin with `$` belong to plugins, others are attribute lists. */
  private applyParts(request: RestRequest): Promise<void> | undefined {
    const { parts } = request
    let list: string | undefined
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!
      const owner = part.startsWith('$') ? this.registry.parts.get(part) : undefined
      const handler = owner ? undefined : this.member(request, part)
      if (handler) {
        request.handler = handler
        continue
      }
      if (!owner) {
        if (list !== undefined) throw KernelErrors.SEVERAL_LISTS(list.slice(0, 100), part.slice(0, 100))
        list = part
        request.read.output.attributes = {
          from: 'path',
          items: parseAttributeList(part, request.read.dataClass, this.context.engine.limits),
        }
        continue
      }
      request.transport.plugin = owner.plugin
      const partPromise = owner.apply(request, () => parts[++i])
      if (partPromise) {
        const furtherParts = parts.slice(i + 1)
        return partPromise.then(() => {
          request.parts = furtherParts
          return this.applyParts(request)
        })
      }
    }
    return undefined
  }

  private member(request: RestRequest, part: string): RestRequest['handler'] {
    for (const { plugin, find } of this.registry.members) {
      const handler = find(request, part)
      if (!handler) continue
      request.transport.plugin = plugin
      return handler
    }
    return undefined
  }

  private dispatch(request: RestRequest): Reply | Promise<Reply> {
    this.registry.demandKnown(request)
    this.registry.applyParameters(request)
    return request.steps.length > 0 ? this.takeSteps(request) : this.handle(request)
  }

  private takeSteps(request: RestRequest): Reply | Promise<Reply> {
    for (let step = request.steps.shift(); step; step = request.steps.shift()) {
      const answer = step()
      if (answer instanceof Promise) {
        // The handler after the steps reads headers and the body.
        request.transport.keep()
        return later(answer, reply => reply ?? this.takeSteps(request))
      }
      if (answer) return answer
    }
    return this.handle(request)
  }

  private handle(request: RestRequest): Reply | Promise<Reply> {
    const { registry } = this
    const { parameters, verb, handler } = request
    if (handler) return handler(request)
    const methodName = parameters.get('$method')
    if (methodName !== undefined) {
      const method = registry.methods.get(methodName)
      if (!method) throw KernelErrors.UNKNOWN_METHOD(methodName.slice(0, 100), [...registry.methods.keys()].join(', '))
      return call(method, `$method=${methodName}`, request)
    }
    // Most requests for a single entity have no parameters.
    for (const [parameter, command] of parameters.size > 0 ? registry.commands : NO_COMMANDS) {
      if (!parameters.has(parameter) || !accepts(command.verbs, verb)) continue
      request.transport.plugin = command.plugin
      const answer = command.handle(request)
      if (answer !== undefined) {
        return answer instanceof Promise ? later(answer, reply => reply ?? this.byVerb(request)) : answer
      }
    }
    const binary = registry.binaries.get(verb)
    const isBinary = binary && this.context.engine.binaries.addressed(request.read)
    if (isBinary) request.transport.plugin = binary.plugin
    const answer = isBinary && binary.handle(request)
    if (answer instanceof Promise) return later(answer, reply => reply ?? this.byVerb(request))
    return answer || this.byVerb(request)
  }

  private byVerb(request: RestRequest): Reply | Promise<Reply> {
    const owner = this.registry.verbs.get(request.verb === 'HEAD' ? 'GET' : request.verb)
    if (!owner) return methodNotApplicable('a dataclass', request.verb, [...this.registry.verbs.keys()])
    request.transport.plugin = owner.plugin
    return owner.handle(request)
  }
}

/** True if a browser opens a page: scripts, health checks and tools are better served by a 404 than by a page. */
const opensPage = (request: TransportRequest): boolean =>
  accepts(['GET'], request.method) && prefersPage(request.header('accept'))

const NO_PATH_PARAMETERS: PathParameters = Object.freeze(Object.create(null) as Record<string, string>)
const NO_COMMANDS: Registry['commands'] = new Map()

/** Continues with an awaited value. Copies bytes of the engine: its next read, before this answer is sent, would overwrite them. */
async function later<T>(promise: Promise<T>, next: (value: T) => Reply | Promise<Reply>): Promise<Reply> {
  const answer = next(await promise)
  return answer instanceof Promise ? answer : lasting(answer)
}

function call<T, R extends RestRequest>(
  handler: Pick<VerbHandler<T>, 'plugin' | 'verbs'> & { readonly handle: (request: R) => T },
  what: string,
  request: R,
): T | Reply {
  request.transport.plugin = handler.plugin
  return accepts(handler.verbs, request.verb)
    ? handler.handle(request)
    : methodNotApplicable(what, request.verb, handler.verbs)
}
