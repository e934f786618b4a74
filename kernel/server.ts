import type { Logger } from 'pino'
import type { Config } from '../config/load-config.ts'
import { corsHeaders, preflight } from './cors.ts'
import { errorReply } from './errors.ts'
import type { Reply } from './reply.ts'
import type { Registry } from './registry.ts'
import type { Router } from './router.ts'
import type { Visit } from './session/sessions.ts'
import type { Visitors } from './session/visitors.ts'
import { keepForTurns } from './transport/keep-for-turns.ts'
import type { TransportHandler, TransportRequest } from './transport/transport.ts'

/**
 * What happens around every answer: who asks is found out, errors become replies, cookies and CORS headers are added, the
 * hooks of plugins run, the access log is written. Never throws and never rejects, as the transport demands.
 *
 * Few functions are made for each request: with the garbage they leave they were a part of its time that showed.
 */
export function createHandler(
  router: Router,
  visitors: Visitors,
  hooks: Pick<Registry, 'onRequest' | 'onReply'>,
  config: Config,
  log: Logger,
): TransportHandler {
  const { cors, accessLog } = config.server
  const { onRequest, onReply } = hooks
  const listensToPages = cors.origins.length > 0
  const isDecorated = listensToPages || accessLog

  const fail = (error: unknown, { method, path }: TransportRequest): Reply =>
    errorReply(error, internal => log.error({ err: internal, method, path }, 'internal error'))

  const hooked = (reply: Reply, request: TransportRequest): Reply => {
    try {
      return onReply.reduce((result, hook) => hook(result, request), reply)
    } catch (error) {
      return fail(error, request)
    }
  }

  const finish = (given: Reply, request: TransportRequest, arrival: Arrival | undefined): Reply => {
    const reply = onReply.length > 0 ? hooked(given, request) : given
    if (!arrival) return reply
    const { origin, startedAt } = arrival
    if (accessLog) {
      const { method, path } = request
      log.info({ method, path, status: reply.status, ms: performance.now() - startedAt }, 'request')
    }
    return origin ? { ...reply, headers: { ...reply.headers, ...corsHeaders(cors, origin) } } : reply
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
    if (!(reply instanceof Promise)) return finish(visitors.leave(visit, request, reply), request, arrival)
    return reply
      .catch(error => fail(error, request))
      .then(given => finish(visitors.leave(visit, request, given), request, arrival))
  }

  return request => {
    const arrival = isDecorated
      ? { origin: listensToPages ? request.header('origin') : '', startedAt: performance.now() }
      : undefined
    try {
      if (arrival?.origin && request.method === 'OPTIONS') return finish(preflight(cors), request, arrival)
      const visit = visitors.visit(request)
      if (!(visit instanceof Promise)) return answer(request, visit, arrival)
      const kept = keepForTurns(request)
      return visit.then(
        known => answer(kept, known, arrival),
        error => finish(fail(error, request), request, arrival),
      )
    } catch (error) {
      return finish(fail(error, request), request, arrival)
    }
  }
}

/** What has to be known of a request until it is answered, where anybody wants to know. */
interface Arrival {
  /** Of the page that asks; empty for none. A transport's headers are gone after an await. */
  readonly origin: string
  readonly startedAt: number
}
