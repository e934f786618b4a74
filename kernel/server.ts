import type { Logger } from 'pino'
import type { Config } from '../config/load-config.ts'
import { traceOf, type WorkElsewhere } from '../engine/index.ts'
import { codingFor, compressed } from './compression.ts'
import { corsHeaders, preflight } from './cors.ts'
import { errorReply } from './errors.ts'
import { type InnerRequest, InnerTransport } from './inner-request.ts'
import { isReply, lasting, type Reply, wrongReply } from './reply.ts'
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

export interface Handlers {
  /** Answers a request that has arrived. */
  readonly handle: TransportHandler
  /** Answers an inner request of a plugin, as the client of the outer request and within its session. */
  dispatch(inner: InnerRequest, request: RestRequest): Promise<Reply>
}

/**
 * Common handling of every request: the caller is identified, errors become replies, cookies and CORS headers are added, the
 * hooks of plugins run, the access log is written. Never throws and never rejects, as the transport demands.
 *
 * Few closures are created per request: their garbage took a measurable part of its time.
 */
export function createHandlers(
  router: Router,
  visitors: Visitors,
  registry: Pick<Registry, 'onRequest' | 'onReply' | 'routes'>,
  origins: PluginOrigins,
  config: Config,
  log: Logger,
): Handlers {
  const { cors, accessLog, serverTiming, basePath } = config.server
  const { onRequest, onReply, routes } = registry
  const listensToPages = cors.origins.length > 0
  const isDecorated = listensToPages || accessLog || serverTiming

  const fail = (error: unknown, request: TransportRequest): Reply =>
    errorReply(error, internal => {
      const { method, path } = request
      // The client has gone, and the server is not at fault.
      if (internal instanceof RequestAborted) {
        log.debug({ method, path: shownPath(path) }, internal.message)
        return
      }
      const origin = origins.of(internal)
      const plugin = typeof origin === 'object' ? origin.plugin : router.ownerOf(path)
      log.error({ plugin, err: internal, method, path: shownPath(path), trace: traceOf(request) }, 'internal error')
    })

  /** Plugin code may not be type-checked. */
  const sound = (reply: Reply, request: TransportRequest): Reply =>
    isReply(reply) ? reply : fail(wrongReply(reply), request)

  const hooked = (reply: Reply, request: TransportRequest): Reply => {
    try {
      return sound(
        onReply.reduce((result, hook) => hook(result, request), reply),
        request,
      )
    } catch (error) {
      return fail(error, request)
    }
  }

  const logRequest = (
    request: TransportRequest,
    client: string,
    { status }: Reply,
    startedAt: number,
    within?: string,
  ): void => {
    const { method, path } = request
    const ms = performance.now() - startedAt
    log.info({ client, method, path: shownPath(path), status, ms, trace: traceOf(request), within }, 'request')
  }

  const finish = (given: Reply, request: TransportRequest, arrival: Arrival | undefined): Reply => {
    const reply = withStandardHeaders(onReply.length > 0 ? hooked(given, request) : given)
    if (!arrival) return reply
    const { origin, client, startedAt } = arrival
    if (accessLog) logRequest(request, client, reply, startedAt)
    if (!origin && !serverTiming) return reply
    const timing = serverTiming && { 'Server-Timing': timingOf(performance.now() - startedAt, request.work) }
    return { ...reply, headers: { ...reply.headers, ...(origin && corsHeaders(cors, origin)), ...timing } }
  }

  const route = (request: TransportRequest, visit: Visit): Reply | Promise<Reply> => {
    for (const hook of onRequest) {
      const reply = hook(request)
      if (reply) return reply
    }
    return router.answer(request, visit)
  }

  const answer = (request: TransportRequest, visit: Visit, arrival: Arrival | undefined): Reply | Promise<Reply> => {
    let reply: Reply | Promise<Reply>
    try {
      reply = route(request, visit)
    } catch (error) {
      reply = fail(error, request)
    }
    if (!(reply instanceof Promise))
      return finish(visitors.leave(visit, request, sound(reply, request)), request, arrival)
    return reply
      .catch(error => fail(error, request))
      .then(given => finish(visitors.leave(visit, request, sound(given, request)), request, arrival))
  }

  const respond = (request: TransportRequest): Reply | Promise<Reply> => {
    const arrival = isDecorated
      ? {
          origin: listensToPages ? request.header('origin') : '',
          client: accessLog ? request.client.address : '',
          startedAt: performance.now(),
        }
      : undefined
    try {
      if (arrival?.origin && request.method === 'OPTIONS')
        return finish(preflight(cors, request.header('access-control-request-headers')), request, arrival)
      const visit = visitors.visit(request)
      if (!(visit instanceof Promise)) return answer(request, visit, arrival)
      request.keep()
      return visit.then(
        known => answer(request, known, arrival),
        error => finish(fail(error, request), request, arrival),
      )
    } catch (error) {
      return finish(fail(error, request), request, arrival)
    }
  }

  const dispatch = async (inner: InnerRequest, outer: RestRequest): Promise<Reply> => {
    const { transport } = outer
    const startedAt = accessLog ? performance.now() : 0
    const request = new InnerTransport(inner, transport, config.server.bodyBytes)
    let reply: Reply
    try {
      const given = route(request, visitOf(outer))
      const answered = given instanceof Promise ? await given : lasting(sound(given, request))
      reply = withStandardHeaders(sound(answered, request))
    } catch (error) {
      reply = fail(error, request)
    }
    // The log of slow requests shows what was read, also for a request that reads through inner ones.
    if (!transport.subject?.read) transport.subject = request.subject
    if (accessLog) logRequest(request, transport.client.address, reply, startedAt, transport.path)
    return reply
  }

  const located: TransportHandler =
    basePath === ''
      ? respond
      : request => {
          request.path = withoutBasePath(request.path, basePath, routes)
          return respond(request)
        }
  const withCompression: TransportHandler = request => {
    // The length in an answer to HEAD is that of the plain body.
    const coding = request.method === 'HEAD' ? undefined : codingFor(request.header('accept-encoding'))
    request.coding = coding
    const reply = located(request)
    return reply instanceof Promise ? reply.then(given => compressed(given, coding)) : compressed(reply, coding)
  }
  return { handle: config.server.compression ? withCompression : located, dispatch }
}

/** `total;dur=12.3, pool-wait;dur=1.0, pool;dur=9.8`. Source: W3C Server Timing, 2. */
function timingOf(totalMs: number, work: readonly WorkElsewhere[]): string {
  const times: [name: string, ms: number][] = [['total', totalMs]]
  for (const { where, waitedMs, ranMs } of work) times.push([`${where}-wait`, waitedMs], [where, ranMs])
  return times.map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`).join(', ')
}

/** Source: RFC 6750, 3; browsers ask for a password at `Basic`, not at `Bearer`. */
const CHALLENGE = 'Bearer realm="tesser"'

/** Adds the headers that every answer of its kind has unless the handler sets them. Most answers are JSON and have them all. */
function withStandardHeaders(reply: Reply): Reply {
  const { status, cookie, tag, body } = reply
  let headers = withContentHeaders(reply.headers, body !== '')
  // Source: RFC 9110, 15.5.2.
  if (status === 401) headers = { 'WWW-Authenticate': CHALLENGE, ...headers }
  // Spelled out: an object copied by `...` and then extended is slow to make.
  return headers === reply.headers ? reply : { status, headers, cookie, tag, body }
}

/** Facts of a request that are needed until it is answered, if anything uses them. */
interface Arrival {
  /** Origin of the calling page; empty for none. A transport's headers are gone after an await. */
  readonly origin: string
  /** Address for the access log. */
  readonly client: string
  readonly startedAt: number
}
