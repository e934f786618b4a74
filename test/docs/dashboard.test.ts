/** The metrics that the dashboard, the alert rules and the page about metrics name are those that a server has. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { servedMetrics } from './references/metrics.ts'

const PAGE = 'plugins/docs/pages/reference/metrics.md'
const FILES = ['config/deploy/grafana-dashboard.json', 'config/deploy/alerts.yml', PAGE]
const NAME = /\b(?:tesser|process|nodejs)_[a-z0-9_]*[a-z0-9]\b/g

t.test('metrics that they name are served', async t => {
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
})

const parts = (name: string, type: string): string[] =>
  type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
