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
 */
export function createHandler(
  router: Router,
  visitors: Visitors,
  { onRequest, onReply }: Pick<Registry, 'onRequest' | 'onReply'>,
  config: Config,
  log: Logger,
): TransportHandler {
  const { cors, accessLog } = config.server
  const onInternal = (request: TransportRequest) => (error: unknown) =>
    log.error({ err: error, method: request.method, path: request.path }, 'internal error')
  const decorated = cors.origins.length > 0 || accessLog

  const route = (request: TransportRequest, visit: Visit): Reply | Promise<Reply> => {
    for (const hook of onRequest) {
      const reply = hook(request)
      if (reply) return reply
    }
    return router.answer(request, visit)
  }

  const hooked = (reply: Reply, request: TransportRequest): Reply => {
    try {
      return onReply.reduce((result, hook) => hook(result, request), reply)
    } catch (error) {
      return errorReply(error, onInternal(request))
    }
  }

  return request => {
    // Only what is needed after an await: a transport's headers are gone by then.
    const origin = cors.origins.length > 0 ? request.header('origin') : ''
    const startedAt = accessLog ? performance.now() : 0
    const fail = (error: unknown): Reply => errorReply(error, onInternal(request))
    const finish = (given: Reply): Reply => {
      const reply = onReply.length > 0 ? hooked(given, request) : given
      if (!decorated) return reply
      if (accessLog) {
        log.info(
          { method: request.method, path: request.path, status: reply.status, ms: performance.now() - startedAt },
          'request',
        )
      }
      return origin ? { ...reply, headers: { ...reply.headers, ...corsHeaders(cors, origin) } } : reply
    }
    const answer = (from: TransportRequest, visit: Visit): Reply | Promise<Reply> => {
      const leave = (reply: Reply): Reply => finish(visitors.leave(visit, from, reply))
      try {
        const reply = route(from, visit)
        return reply instanceof Promise ? reply.catch(fail).then(leave) : leave(reply)
      } catch (error) {
        return leave(fail(error))
      }
    }
    try {
      if (origin && request.method === 'OPTIONS') return finish(preflight(cors))
      const visit = visitors.visit(request)
      if (!(visit instanceof Promise)) return answer(request, visit)
      const kept = keepForTurns(request)
      return visit.then(
        known => answer(kept, known),
        error => finish(fail(error)),
      )
    } catch (error) {
      return finish(fail(error))
    }
  }
}
