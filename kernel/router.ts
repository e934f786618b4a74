import { type Engine, parseAttributeList } from '../engine/index.ts'
import type { SelectionSource } from '../engine/query/request.ts'
import { KernelErrors, methodNotApplicable } from './errors.ts'
import { accepts, type Handler, type Registry } from './registry.ts'
import type { Reply } from './reply.ts'
import { RestRequest } from './request.ts'
import type { Sessions, Visit } from './session/sessions.ts'
import type { TransportRequest } from './transport/transport.ts'
import { parsePath, type ResourcePath, stripRestPrefix } from './url/parse-path.ts'
import { parseQueryString } from './url/parse-query-string.ts'

/**
 * Finds who answers: a route, a service, or on a dataclass a `$method`, a command, or the verb itself.
 *
 * It is on the way of every request, so what needs no waiting is answered in the same turn, without a promise.
 */
export class Router {
  constructor(
    private readonly registry: Registry,
    private readonly engine: Engine,
    private readonly sessions: Sessions,
  ) {}

  answer(transport: TransportRequest, visit: Visit): Reply | Promise<Reply> {
    const { method: verb } = transport
    const restPath = stripRestPrefix(transport.path)
    if (restPath === undefined) return this.route(transport, visit)
    const parameters = parseQueryString(transport.query)
    const path = parsePath(restPath)
    const request = new RestRequest(transport, visit, this.engine, this.sessions, verb, parameters, path.parts)
    if (path.kind === 'service') {
      const service = this.registry.services.get(path.name)
      // An unknown `$…` is looked up as a dataclass and not found: protocol notes, 1.1.
      if (!service) throw request.view.unknownDataClass(path.name)
      if (!service.guests) request.demandLogin()
      return call(service, path.name, request)
    }
    request.demandLogin()
    this.address(request, path)
    const waiting = this.applyParts(request)
    return waiting ? later(waiting, () => this.dispatch(request)) : this.dispatch(request)
  }

  private route(transport: TransportRequest, visit: Visit): Reply | Promise<Reply> {
    const route = this.registry.routes.get(transport.path)
    if (!route) throw KernelErrors.NO_SUCH_PATH(transport.path.slice(0, 200))
    return call(
      route,
      transport.path,
      new RestRequest(
        transport,
        visit,
        this.engine,
        this.sessions,
        transport.method,
        parseQueryString(transport.query),
        [],
      ),
    )
  }

  /** The dataclass and the entities that the path names. */
  private address(request: RestRequest, path: Extract<ResourcePath, { kind: 'dataClass' }>): void {
    const { access } = request
    const { selector } = path
    // Whoever may not read a dataclass may still create entities of it, or call a function.
    const isWhole = selector.kind === 'all' && !path.parts.some(part => part.startsWith('$'))
    request.dataClass = isWhole ? this.engine.addressed(path.dataClass, access) : request.view.dataClass(path.dataClass)
    const single = selector.kind === 'attribute' || (selector.kind === 'keys' && selector.keys.length === 1)
    const source: SelectionSource = selector
    request.read = {
      dataClass: path.dataClass,
      access,
      source,
      skip: 0,
      top: undefined,
      output: { form: single ? 'entity' : 'collection' },
    }
  }

  /** Path parts in any order (protocol notes, 1.8): those that begin with `$` belong to plugins, others are attribute lists. */
  private applyParts(request: RestRequest): Promise<void> | undefined {
    const { parts } = request
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!
      const owner = part.startsWith('$') ? this.registry.parts.get(part) : undefined
      const answerBy = owner ? undefined : this.member(request, part)
      if (answerBy) {
        request.answerBy = answerBy
        continue
      }
      if (!owner) {
        request.read.output.attributes = {
          from: 'path',
          items: parseAttributeList(part, request.read.dataClass),
        }
        continue
      }
      const waiting = owner.apply(request, () => parts[++i])
      if (waiting) {
        const rest = parts.slice(i + 1)
        return waiting.then(() => {
          request.parts = rest
          return this.applyParts(request)
        })
      }
    }
    return undefined
  }

  private member(request: RestRequest, part: string): RestRequest['answerBy'] {
    for (const find of this.registry.members) {
      const answerBy = find(request, part)
      if (answerBy) return answerBy
    }
    return undefined
  }

  private dispatch(request: RestRequest): Reply | Promise<Reply> {
    this.registry.applyParameters(request)
    return request.steps.length > 0 ? this.takeSteps(request) : this.handle(request)
  }

  private takeSteps(request: RestRequest): Reply | Promise<Reply> {
    for (let step = request.steps.shift(); step; step = request.steps.shift()) {
      const answer = step()
      if (answer instanceof Promise) return later(answer, reply => reply ?? this.takeSteps(request))
      if (answer) return answer
    }
    return this.handle(request)
  }

  private handle(request: RestRequest): Reply | Promise<Reply> {
    const { registry } = this
    const { parameters, verb, answerBy } = request
    if (answerBy) return answerBy(request)
    const methodName = parameters.get('$method')
    if (methodName !== undefined) {
      const method = registry.methods.get(methodName)
      if (!method) throw KernelErrors.UNKNOWN_METHOD(methodName.slice(0, 100), [...registry.methods.keys()].join(', '))
      return call(method, `$method=${methodName}`, request)
    }
    // Most requests on one entity have no parameters.
    for (const [parameter, command] of parameters.size > 0 ? registry.commands : NO_COMMANDS) {
      if (!parameters.has(parameter) || !accepts(command.verbs, verb)) continue
      const answer = command.handle(request)
      if (answer !== undefined) {
        return answer instanceof Promise ? later(answer, reply => reply ?? this.byVerb(request)) : answer
      }
    }
    const binary = registry.binaries.get(verb)
    const answer = binary && this.engine.binaries.addressed(request.read) && binary.handle(request)
    if (answer instanceof Promise) return later(answer, reply => reply ?? this.byVerb(request))
    return answer ?? this.byVerb(request)
  }

  private byVerb(request: RestRequest): Reply | Promise<Reply> {
    const owner = this.registry.verbs.get(request.verb === 'HEAD' ? 'GET' : request.verb)
    if (!owner) return methodNotApplicable('a dataclass', request.verb, [...this.registry.verbs.keys()])
    return owner.handle(request)
  }
}

const NO_COMMANDS: Registry['commands'] = new Map()

/** Bytes of the engine are valid until its next read, which can come before an answer that was waited for is sent. */
async function later<T>(waiting: Promise<T>, next: (value: T) => Reply | Promise<Reply>): Promise<Reply> {
  const answer = next(await waiting)
  if (answer instanceof Promise || !(answer.body instanceof Uint8Array)) return answer
  return { ...answer, body: answer.body.slice() }
}

function call<T>(handler: Handler<T>, what: string, request: RestRequest): T | Reply {
  return accepts(handler.verbs, request.verb)
    ? handler.handle(request)
    : methodNotApplicable(what, request.verb, handler.verbs)
}
