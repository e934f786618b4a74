import { definePlugin, json, type RouteSpec } from '../../kernel/api.ts'

/**
 * Health checks for load balancers and supervisors.
 *
 *   GET /health/live    →  200 while the process answers
 *   GET /health/ready   →  200 while requests are served and writes are taken, 503 otherwise
 *   GET /health         →  the same as ready
 */
export default definePlugin({
  name: 'health',
  kernel: '^1.0.0',
  register({ route, lifecycle, engine }) {
    const ready = () => {
      const state = lifecycle.state === 'ready' && !engine.isWritable ? 'read-only' : lifecycle.state
      return json({ status: state }, state === 'ready' ? 200 : 503)
    }
    const takes = 'Whether the server takes reads and writes'
    route('/health', health('health', takes), ready)
    route('/health/ready', health('health.ready', takes), ready)
    route('/health/live', health('health.live', 'Whether the process answers'), () => json({ status: 'live' }))
  },
})

const schema = { type: 'object', properties: { status: { type: 'string' } }, required: ['status'] }

const health = (id: string, doc: string): RouteSpec => ({
  verbs: ['GET'],
  doc: `${doc}: 200, otherwise 503.`,
  tag: 'server',
  operations: { GET: { id, doc, answers: { 200: { doc: 'Healthy.', schema }, 503: { doc: 'Not healthy.', schema } } } },
})
