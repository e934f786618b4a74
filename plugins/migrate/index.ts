import { definePlugin, gauge, json, type Metric, type RestRequest, type ServiceSpec } from '../../kernel/api.ts'
import { MigrateErrors } from './errors.ts'
import { ModelChangeRun } from './model-change-run.ts'

/**
 * Changes of the model that are prepared while the server keeps running: a copy of the store is converted to the current model file, and
 * the next start uses it, including everything that has been written meanwhile. For administrators.
 *
 *   POST   /$migrate                 →  202 { "state": "running", "since": "2026-11-27T02:15:00.000Z", "changes": [], "step": null }
 *   POST   /$migrate?$allowLoss=true →  even if the changed model loses data; the start needs --allow-loss as well
 *   GET    /$migrate                 →  { "state": "running", "since", "changes": ["the store changes: …"],
 *                                         "step": { "dataClass": "City", "what": "rewrite", "done": 45000, "total": 144000 } | null }
 *   DELETE /$migrate                 →  { "state": "none" }; the copy is removed
 *
 * The states are `none`, `running`, `ready` and `failed`, with an `error`. `what` is `check` (what would be lost), `rewrite`, `index` or
 * `catchUp`. It takes up to twice the disk space of the data file, and a separate process at a lower priority. A server that is restarted
 * with the old model continues automatically; with the new model, the start completes the change. A second POST copies everything that has
 * been written since.
 */
export default definePlugin({
  name: 'migrate',
  kernel: '^1.0.0',
  register({ service, parameter, engine, log, metrics, now, onReady, onClose }) {
    const change = new ModelChangeRun({ modelChange: engine.modelChange, log, now })
    onReady(() => change.resume())
    onClose(() => change.stop())
    metrics.add(() => metricsOf(change))
    parameter('$allowLoss', {
      schema: { type: 'boolean' },
      doc: 'Prepares a change even if it loses data. The start that applies it needs `storage.allowLoss` as well.',
      example: true,
      on: ['migrate'],
    })
    service('$migrate', MIGRATE, async (request: RestRequest) => {
      if (request.parts.length > 0) throw MigrateErrors.UNKNOWN_PART(request.parts.join('/').slice(0, 100))
      const { method } = request.transport
      if (method === 'POST') change.start(request.flag('$allowLoss'))
      else if (method === 'DELETE') await change.discard()
      return { ...json(change.describe()), status: method === 'POST' ? 202 : 200 }
    })
  },
})

const MIGRATE: ServiceSpec = {
  verbs: ['GET', 'POST', 'DELETE'],
  administrators: true,
  doc: 'A change of the model, prepared while the server runs.',
  tag: 'server',
  operations: {
    'GET /': { id: 'modelChange', doc: 'State of the change of the model' },
    'POST /': {
      id: 'migrate',
      doc: 'Prepares the change to the current model file, in a copy of the store that the next start uses',
      answers: { 202: { doc: 'The change is being prepared.' } },
    },
    'DELETE /': { id: 'migrate.cancel', doc: 'Removes the prepared copy' },
  },
}

function metricsOf({ state, step }: ModelChangeRun): Metric[] {
  return [
    gauge('model_change_running', '1 while a change of the model is being prepared.', state === 'running' ? 1 : 0),
    gauge(
      'model_change_ready',
      '1 if the next start applies a prepared change of the model.',
      state === 'ready' ? 1 : 0,
    ),
    gauge('model_change_failed', '1 if the change of the model could not be prepared.', state === 'failed' ? 1 : 0),
    gauge(
      'model_change_progress_ratio',
      'Completed part of the current step, from 0 to 1.',
      step ? step.done / Math.max(1, step.total) : 0,
    ),
  ]
}
