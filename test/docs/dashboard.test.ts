/** The metrics that the dashboard, the alert rules and the page about metrics name are those that a server has. */
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { Agent, request } from 'undici'
import type { Metric } from '../../kernel/api.ts'
import { createTestServer } from '../../kernel/testing.ts'
import { company } from '../support/fixtures/company.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'
import { until } from '../support/base/until.ts'

const PAGE = 'plugins/docs/pages/reference/metrics.md'
const FILES = ['config/deploy/grafana-dashboard.json', 'config/deploy/alerts.yml', PAGE]
const NAME = /\b(?:tesser|process|nodejs)_[a-z0-9_]*[a-z0-9]\b/g
/** A row of the table: names, type, labels. */
const ROW = /^\| ((?:`[a-z0-9_]+` ?)+)\| (counter|gauge|histogram) \|([^|]*)\|/gm
const QUOTED = /`(\w+)`/g

const quoted = (text: string): string[] => [...text.matchAll(QUOTED)].map(([, word]) => word!)

/** Type and labels: `gauge`, or `counter by plugin method`. */
const kind = (type: string, labels: readonly string[]): string =>
  [type, ...(labels.length > 0 ? ['by', ...labels] : [])].join(' ')

/** Types and labels of all metrics on the page. */
function documented(): Map<string, string> {
  const page = readFileSync('plugins/docs/pages/reference/metrics.md', 'utf8')
  return new Map(
    [...page.matchAll(ROW)].flatMap(([, names, type, labels]) =>
      quoted(names!).map(name => [name, kind(type!, quoted(labels!))] as const),
    ),
  )
}

function kindOf({ type, values }: Metric): string {
  const labels = new Set(values.flatMap(value => Object.keys(value.labels)))
  // The upper bound of a bucket.
  labels.delete('le')
  return kind(type, [...labels])
}

/** Metrics of a server that has all parts, after each part has done something. */
async function servedMetrics(t: Test): Promise<Metric[]> {
  const tls = { keyFile: 'test/edge/fixtures/localhost.key.pem', certFile: 'test/edge/fixtures/localhost.cert.pem' }
  const server = await createTestServer({
    model: company.model,
    config: {
      auth: { guestsAdministrate: true },
      server: { transport: 'node-http', tls },
      pool: { inlineCostMs: 0 },
      plugins: [staffPlugin],
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

t.test('metrics that they name are served, and all served metrics are in the table with type and labels', async t => {
  const metrics = await servedMetrics(t)
  const served = new Set(metrics.flatMap(({ name, type }) => parts(name, type)))
  for (const file of FILES) {
    const names = readFileSync(file, 'utf8').match(NAME)!
    t.ok(names.length > 10, file)
    t.same(
      [...new Set(names)].filter(name => !served.has(name)),
      [],
      file,
    )
  }
  const rows = documented()
  // Some metrics of Node.js and the system have series only after something has happened.
  const isShown = ({ name, values }: Metric) => name.startsWith('tesser_') || values.length > 0
  t.same(
    Object.fromEntries(metrics.filter(isShown).map(metric => [metric.name, kindOf(metric)])),
    Object.fromEntries(metrics.filter(isShown).map(({ name }) => [name, rows.get(name)])),
  )
  t.same(
    metrics.filter(({ name }) => !rows.has(name)),
    [],
  )
})

const parts = (name: string, type: string): string[] =>
  type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
