import { definePlugin, json } from '../../kernel/api.ts'

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
    route('/health', { verbs: ['GET'] }, ready)
    route('/health/ready', { verbs: ['GET'] }, ready)
    route('/health/live', { verbs: ['GET'] }, () => json({ status: 'live' }))
  },
})
