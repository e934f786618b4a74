import { type DatabaseState, definePlugin, json, type RouteSpec } from '../../kernel/api.ts'

/**
 * Health checks for load balancers and supervisors.
 *
 *   GET /health/live    →  200 while the process answers
 *   GET /health/ready   →  200 while requests are served and writes are taken, 503 otherwise
 *   GET /health/data    →  200 while, in addition, all dataclasses in databases can be read, 503 otherwise; the databases are probed at
 *                          most once a second
 *   GET /health         →  the same as ready
 *
 * The answer is `{ "status": "ready" }`, or another status with 503. For administrators `/health/data` adds the state of the store and of
 * each database, with the reasons: `store`, `databases`.
 */
export default definePlugin({
  name: 'health',
  kernel: '^1.0.0',
  register({ route, lifecycle, engine }) {
    const serverStatus = (): string =>
      lifecycle.state === 'ready' && !engine.isWritable ? 'read-only' : lifecycle.state
    const ready = () => answer({ status: serverStatus() })
    route('/health', health('health', TAKES), ready)
    route('/health/ready', health('health.ready', TAKES), ready)
    route('/health/live', health('health.live', 'Whether the process answers'), () => json({ status: 'live' }))
    route('/health/data', health('health.data', SERVES, DATA), async ({ isAdministrator }) => {
      const databases = await engine.databases()
      const status = serverStatus()
      const areReady = databases.every(each => each.status === 'ready')
      const whole = { status: status === 'ready' && !areReady ? 'unavailable' : status }
      if (!isAdministrator) return answer(whole)
      const store = { status: engine.isWritable ? 'ready' : 'read-only' }
      return answer({ ...whole, store, databases: Object.fromEntries(databases.map(described)) })
    })
  },
})

const TAKES = 'Whether the server takes reads and writes'
const SERVES = 'Whether the server takes reads and writes, and can read every dataclass in a database'

const answer = <Body extends { status: string }>(body: Body) => json(body, body.status === 'ready' ? 200 : 503)

function described({ name, status, reason, unreadable }: DatabaseState): [name: string, state: object] {
  const dataClasses = unreadable && Object.fromEntries(unreadable.map(each => [each.dataClass, each.reason]))
  return [name, { status, reason, dataClasses }]
}

const status = { type: 'string' }
const STATUS = { type: 'object', properties: { status }, required: ['status'] }
const DATA = {
  ...STATUS,
  properties: {
    status,
    store: { ...STATUS, description: 'For administrators: `ready` or `read-only`.' },
    databases: {
      type: 'object',
      description: 'For administrators: the databases with dataclasses, by the names of their connections.',
      additionalProperties: {
        ...STATUS,
        properties: {
          status: { type: 'string', enum: ['ready', 'unavailable', 'incomplete'] },
          reason: { type: 'string', description: 'Why it is unavailable.' },
          dataClasses: {
            type: 'object',
            description: 'The dataclasses that cannot be read, with the reasons.',
            additionalProperties: { type: 'string' },
          },
        },
      },
    },
  },
}

const health = (id: string, doc: string, schema: Readonly<Record<string, unknown>> = STATUS): RouteSpec => ({
  verbs: ['GET'],
  doc: `${doc}: 200, otherwise 503.`,
  tag: 'server',
  operations: { GET: { id, doc, answers: { 200: { doc: 'Healthy.', schema }, 503: { doc: 'Not healthy.', schema } } } },
})
