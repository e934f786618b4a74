import { definePlugin, json, type ServiceSpec } from '../../kernel/api.ts'
import { OPTIONS, problemsOf } from './options.ts'

/**
 * Webhooks: created, updated and deleted entities are sent to other servers, signed by Standard Webhooks, at least once and in the order of
 * each entity.
 *
 *   "plugins": [{ "plugin": "tesser/plugins/webhooks", "options": { "hooks": [{
 *     "name": "billing", "url": "https://billing.example.com/events", "secret": { "env": "BILLING_SECRET" },
 *     "dataClass": "Order", "filter": "state = 'paid'", "events": ["created", "updated"]
 *   }] } }]
 *
 *   GET    /$webhooks            →  { "hooks": [{ name, receiver, delivered, failedAttempts, givenUp, pending, lagRecords, … }] }
 *   GET    /$webhooks/{hook}     →  the same for one hook, with `letters`, the events that were given up
 *   GET    /$webhooks/{hook}/{id} → { id, type, key, time, givenUp, attempts, reason, event }
 *   POST   /$webhooks/{hook}/{id} → sends it once more: { "result": true }, or { "result": false, "reason" }
 *   DELETE /$webhooks/{hook}/{id} → removes it
 *
 * Events come from the log of commits, so they include the writes of all clients, and none is lost when the server ends. For
 * administrators, like `$info`. The implementation is loaded when there is a hook. Options, and notes for receivers:
 * plugins/docs/pages/guide/webhooks.md. Source: Standard Webhooks, 1.0.
 */
export default definePlugin({
  name: 'webhooks',
  kernel: '^1.0.0',
  options: OPTIONS,
  followsLog: ({ hooks, logBytes }) => (hooks.length > 0 ? logBytes : 0),
  async register(scope, options) {
    const { service, engine, metrics, onReady, onClose } = scope
    const problems = problemsOf(options, engine)
    if (problems.length > 0) throw new Error(problems.join('\n'))
    const hooks = options.hooks.length > 0 ? await (await import('./hooks.ts')).Hooks.open(scope, options) : undefined
    if (hooks) {
      metrics.add(() => hooks.metrics())
      onReady(() => hooks.run())
      onClose(() => hooks.close())
    }
    service('$webhooks', WEBHOOKS, request => (hooks ? hooks.answer(request) : json({ hooks: [] })))
  },
})

const id = { schema: { type: 'string' } }
const WEBHOOKS: ServiceSpec = {
  verbs: ['GET', 'POST', 'DELETE'],
  administrators: true,
  doc: 'Webhooks, and events that could not be delivered.',
  tag: 'server',
  operations: {
    'GET /': { id: 'webhooks', doc: 'Webhooks and their state' },
    'GET /{hook}': { id: 'webhooks.hook', doc: 'A webhook, with the events that it gave up on', path: { hook: id } },
    'GET /{hook}/{id}': { id: 'webhooks.event', doc: 'An event that the webhook gave up on', path: { hook: id, id } },
    'POST /{hook}/{id}': { id: 'webhooks.send', doc: 'Sends the event again', path: { hook: id, id } },
    'DELETE /{hook}/{id}': { id: 'webhooks.remove', doc: 'Removes the event', path: { hook: id, id } },
  },
}
