import type { Logger } from 'pino'
import type { Config } from '../config/load-config.ts'
import { corsHeaders, preflight } from './cors.ts'
import { errorReply } from './errors.ts'
import type { Reply } from './reply.ts'
import type { Registry } from './registry.ts'
import type { Router } from './router.ts'
import type { TransportHandler, TransportRequest } from './transport/transport.ts'

/**
 * What happens around every answer: errors become replies, CORS headers are added, the access log is written.
 * Never throws and never rejects, as the transport demands.
 */
export function createHandler(
  router: Router,
  { onRequest, onReply }: Pick<Registry, 'onRequest' | 'onReply'>,
  config: Config,
  log: Logger,
): TransportHandler {
  const { cors, accessLog } = config.server
  const onInternal = (request: TransportRequest) => (error: unknown) =>
    log.error({ err: error, method: request.method, path: request.path }, 'internal error')
  const decorated = cors.origins.length > 0 || accessLog

  const answer = (request: TransportRequest): Reply | Promise<Reply> => {
    for (const hook of onRequest) {
      const reply = hook(request)
      if (reply) return reply
    }
    return router.answer(request)
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
    try {
      if (origin && request.method === 'OPTIONS') return finish(preflight(cors))
      const reply = answer(request)
      if (reply instanceof Promise) return reply.catch(error => errorReply(error, onInternal(request))).then(finish)
      return finish(reply)
    } catch (error) {
      return finish(errorReply(error, onInternal(request)))
    }
  }
}
