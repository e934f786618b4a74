import type { Logger } from 'pino'
import type { Config } from '../config/load-config.ts'
import { ProtocolError, errorWithoutKnownSecrets } from '../engine/base/errors.ts'
import { knowsSecrets } from '../engine/base/known-secrets.ts'
import { traceOf, type WorkElsewhere } from '../engine/index.ts'
import { codingFor, compressReply } from './compression.ts'
import { corsHeaders, preflight } from './cors.ts'
import { errorReply } from './errors.ts'
import { type InnerRequest, InnerTransport } from './inner-request.ts'
import { isReply, lasting, type Reply, wrongReply } from './reply.ts'
import type { AccessLog } from './metrics/access-log.ts'
import { type RestRequest, visitOf } from './request.ts'
import type { PluginOrigins } from './plugin-origins.ts'
import type { Registry } from './registry.ts'
import type { Router } from './router.ts'
import { shownPath } from './url/shown-path.ts'
import type { Visit } from './session/sessions.ts'
import type { Visitors } from './session/visitors.ts'
import { RequestAborted } from './transport/edge-errors.ts'
import { withoutBasePath } from './url/base-path.ts'
import { withContentHeaders } from './transport/content-headers.ts'
import type { TransportHandler, TransportRequest } from './transport/transport.ts'

interface HandlerParts {
  readonly router: Router
  readonly visitors: Visitors
  readonly registry: Pick<Registry, 'onRequest' | 'onReply' | 'servesBelow'>
  readonly origins: PluginOrigins
  readonly config: Config
  readonly log: Logger
  /** Undefined: requests are not logged. */
  readonly accessLog: AccessLog | undefined
}

/**
 * Common handling of every request: the caller is identified, errors become replies, cookies and CORS headers are added, the
 * hooks of plugins run, the access log gets the caller. Never throws and never rejects, as the transport demands.
 *
 * Few closures are created per request: their garbage took a measurable part of its time.
 */
export class RequestHandlers {
  /** Answers a request that has arrived. */
  readonly handle: TransportHandler
  private readonly listensToPages: boolean
  private readonly isDecorated: boolean

  constructor(private readonly parts: HandlerParts) {
    const { cors, serverTiming, basePath, compression } = parts.config.server
    this.listensToPages = cors.origins.length > 0
    this.isDecorated = this.listensToPages || serverTiming
    const respond: TransportHandler = request => this.respond(request)
    const handler: TransportHandler =
      basePath === ''
        ? respond
        : request => {
            request.path = withoutBasePath(request.path, basePath, parts.registry)
            return this.respond(request)
          }
    this.handle = compression ? withCompression(handler) : handler
  }

  /** Answers an inner request of a plugin, as the client of the outer request and within its session. */
  async dispatch(inner: InnerRequest, outer: RestRequest): Promise<Reply> {
    const { accessLog, config } = this.parts
    const { transport } = outer
    const startedAt = accessLog ? performance.now() : 0
    const request = new InnerTransport(inner, transport, config.server.bodyBytes)
    const visit = visitOf(outer)
    let reply: Reply
    try {
      const routeResult = this.route(request, visit)
      const innerReply = routeResult instanceof Promise ? await routeResult : lasting(this.sound(routeResult, request))
      reply = withStandardHeaders(this.sound(innerReply, request))
    } catch (error) {
      reply = this.fail(error, request)
    }
    // The log of slow requests shows the data read, also for a request that reads through inner requests.
    if (!transport.subject?.read) transport.subject = request.subject
    accessLog?.finishInner(request, transport, visit, reply, performance.now() - startedAt)
    return reply
  }

  private respond(request: TransportRequest): Reply | Promise<Reply> {
    const arrival = this.isDecorated ? this.arrivalOf(request) : undefined
    this.parts.accessLog?.arrive(request)
    try {
      if (arrival?.origin && request.method === 'OPTIONS') {
        const { cors } = this.parts.config.server
        return this.finish(preflight(cors, request.header('access-control-request-headers')), request, arrival)
      }
      const visit = this.parts.visitors.visit(request)
      if (!(visit instanceof Promise)) return this.answer(request, visit, arrival)
      request.keep()
      return visit.then(
        resolvedVisit => this.answer(request, resolvedVisit, arrival),
        error => this.finish(this.fail(error, request), request, arrival),
      )
    } catch (error) {
      return this.finish(this.fail(error, request), request, arrival)
    }
  }

  private arrivalOf(request: TransportRequest): Arrival {
    return {
      origin: this.listensToPages ? request.header('origin') : '',
      startedAt: performance.now(),
    }
  }

  private answer(request: TransportRequest, visit: Visit, arrival: Arrival | undefined): Reply | Promise<Reply> {
    this.parts.accessLog?.identify(request, visit)
    let reply: Reply | Promise<Reply>
    try {
      reply = this.route(request, visit)
    } catch (error) {
      reply = this.fail(error, request)
    }
    if (!(reply instanceof Promise)) return this.leave(request, visit, reply, arrival)
    return reply
      .catch(error => this.fail(error, request))
      .then(settledReply => this.leave(request, visit, settledReply, arrival))
  }

  private route(request: TransportRequest, visit: Visit): Reply | Promise<Reply> {
    for (const hook of this.parts.registry.onRequest) {
      const reply = hook(request)
      if (reply) return reply
    }
    return this.parts.router.answer(request, visit)
  }

  private leave(request: TransportRequest, visit: Visit, reply: Reply, arrival: Arrival | undefined): Reply {
    return this.finish(this.parts.visitors.leave(visit, request, this.sound(reply, request)), request, arrival)
  }

  private finish(rawReply: Reply, request: TransportRequest, arrival: Arrival | undefined): Reply {
    const reply = withStandardHeaders(
      this.parts.registry.onReply.length > 0 ? this.hooked(rawReply, request) : rawReply,
    )
    if (!arrival) return reply
    const { cors, serverTiming } = this.parts.config.server
    const { origin, startedAt } = arrival
    if (!origin && !serverTiming) return reply
    const timing = serverTiming && { 'Server-Timing': timingOf(performance.now() - startedAt, request.work) }
    return { ...reply, headers: { ...reply.headers, ...(origin && corsHeaders(cors, origin)), ...timing } }
  }

  private hooked(reply: Reply, request: TransportRequest): Reply {
    try {
      return this.sound(
        this.parts.registry.onReply.reduce((result, hook) => hook(result, request), reply),
        request,
      )
    } catch (error) {
      return this.fail(error, request)
    }
  }

  /** Checks a reply of plugin code, which may not be type-checked. */
  private sound(reply: Reply, request: TransportRequest): Reply {
    return isReply(reply) ? reply : this.fail(wrongReply(reply), request)
  }

  private fail(error: unknown, request: TransportRequest): Reply {
    const { origins, router, log } = this.parts
    // Not applied to the server's own errors, which repeat input from the client: replacing secrets with (hidden) would confirm
    // guesses.
    const isOfPlugin = error instanceof ProtocolError && knowsSecrets() && origins.of(error) !== 'kernel'
    return errorReply(isOfPlugin ? new ProtocolError(errorWithoutKnownSecrets(error.toData())) : error, internal => {
      const { method, path } = request
      // The client has disconnected, which is not an error of the server.
      if (internal instanceof RequestAborted) {
        log.debug({ method, path: shownPath(path) }, internal.message)
        return
      }
      const origin = origins.of(internal)
      const plugin = typeof origin === 'object' ? origin.plugin : router.ownerOf(path)
      log.error({ plugin, err: internal, method, path: shownPath(path), trace: traceOf(request) }, 'internal error')
    })
  }
}

/** Compresses answers for clients that accept it. */
const withCompression =
  (handler: TransportHandler): TransportHandler =>
  request => {
    // The length in an answer to HEAD is the length of the plain body.
    const coding = request.method === 'HEAD' ? undefined : codingFor(request.header('accept-encoding'))
    request.coding = coding
    const reply = handler(request)
    return reply instanceof Promise
      ? reply.then(settledReply => compressReply(settledReply, coding))
      : compressReply(reply, coding)
  }

/** `Server-Timing`: `total;dur=12.3, pool-wait;dur=1.0, pool;dur=9.8`, the threads of a pool together. Source: W3C Server Timing, 2. */
function timingOf(totalMs: number, work: readonly WorkElsewhere[]): string {
  const times = new Map<string, number>([['total', totalMs]])
  const add = (name: string, ms: number) => times.set(name, (times.get(name) ?? 0) + ms)
  for (const { where, waitedMs, ranMs } of work) {
    add(`${where}-wait`, waitedMs)
    add(where, ranMs)
  }
  return [...times].map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`).join(', ')
}

/** Value of `WWW-Authenticate`. Source: RFC 6750, 3; browsers ask for a password at `Basic`, not at `Bearer`. */
const CHALLENGE = 'Bearer realm="tesser"'

/** Adds the standard headers of an answer's kind that the handler has not set. Most answers are JSON and get all of them. */
function withStandardHeaders(reply: Reply): Reply {
  const { status, cookie, tag, body } = reply
  let headers = withContentHeaders(reply.headers, body !== '')
  // Source: RFC 9110, 15.5.2.
  if (status === 401) headers = { 'WWW-Authenticate': CHALLENGE, ...headers }
  // Written out: an object copied with `...` and then extended is slow to create.
  return headers === reply.headers ? reply : { status, headers, cookie, tag, body }
}

/** Facts of a request that are needed until it is answered; recorded only if used. */
interface Arrival {
  /** Origin of the calling page; empty for none. A transport's headers are gone after an await. */
  readonly origin: string
  readonly startedAt: number
}
