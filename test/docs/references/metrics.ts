import type { Test } from 'tap'
import { Agent, request } from 'undici'
import type { Model } from '../../../engine/catalog/model-schema.ts'
import type { Metric } from '../../../kernel/api.ts'
import { createTestServer } from '../../../kernel/testing.ts'
import { until } from '../../support/base/until.ts'
import { company } from '../../support/fixtures/company.ts'
import { staffPlugin } from '../../support/plugins/test-plugins.ts'
import { code, table } from './tables.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const HOOK = { name: 'shop', url: 'http://127.0.0.1:9/', secret: SECRET, dataClass: 'Tag', allowPrivate: true }

const JOBS = {
  'index.ts': `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'acme', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })`,
  'classes.ts': `import { job, Singleton } from 'tesser/classes'
export class Mailer extends Singleton { @job send() {} }`,
}

const MODEL = company.model as Model

/** A dataclass in a database that is not there. */
const FILM = { storage: { postgres: 'main', table: 'film' }, key: 'ID', attributes: { ID: { type: 'long' } } }

/** Metrics of a server that has all parts, after each part has done something. */
export async function servedMetrics(t: Test): Promise<Metric[]> {
  const tls = { keyFile: 'test/edge/fixtures/localhost.key.pem', certFile: 'test/edge/fixtures/localhost.cert.pem' }
  const folder = t.testdir(JOBS)
  const server = await createTestServer({
    model: { ...MODEL, dataClasses: { ...MODEL.dataClasses, Film: FILM } },
    config: {
      auth: { guestsAdministrate: true },
      connections: { main: { url: 'postgres://nobody@127.0.0.1:1/none' } },
      backup: { folder: `${folder}/backups` },
      server: { transport: 'node-http', tls },
      pool: { inlineCostMs: 0 },
      plugins: [staffPlugin, `${folder}/index.ts`, { plugin: 'tesser/plugins/webhooks', options: { hooks: [HOOK] } }],
    },
  })
  const agent = new Agent({ connect: { rejectUnauthorized: false } })
  t.teardown(() => agent.close().then(() => server.close()))
  const ask = async (path: string, content?: object) => {
    const sent = content && ({ method: 'POST', body: JSON.stringify(content) } as const)
    const { body } = await request(`${server.url}/rest/${path}`, { dispatcher: agent, ...sent })
    return (await body.json()) as { metrics: Metric[] }
  }
  await ask('City?$method=update', { name: 'measured' })
  await ask(`City?$filter=${encodeURIComponent('"name != other"')}`)
  let { metrics } = await ask('$info/metrics')
  const isWhole = async () => {
    metrics = (await ask('$info/metrics')).metrics
    return metrics.some(({ name, values }) => name === 'tesser_event_loop_delay_seconds' && values.length > 0)
  }
  t.ok(await until(isWhole), 'threads have measured the delay of their event loops')
  return metrics
}

/** Table of metrics by name, without those of the process and of Node.js, which differ by version. */
export function metricTable(metrics: readonly Metric[]): string {
  const own = metrics.filter(({ name }) => !/^(?:process|nodejs)_/.test(name))
  const rows = own.sort((a, b) => (a.name < b.name ? -1 : 1))
  return table(
    ['metric', 'type', 'labels', 'meaning'],
    rows.map(metric => [code(metric.name), metric.type, labelsOf(metric).map(code).join(' '), metric.help]),
  )
}

function labelsOf(metric: Metric): string[] {
  const labels = new Set(metric.values.flatMap(value => Object.keys(value.labels)))
  // The upper bound of a bucket.
  labels.delete('le')
  return [...labels]
}
