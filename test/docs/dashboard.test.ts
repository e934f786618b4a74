/** The dashboard, the alert rules and the page about metrics name series that a server has. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { createTestServer } from '../../kernel/testing.ts'
import { company } from '../support/fixtures/company.ts'
import { staffPlugin } from '../support/test-plugins.ts'

const FILES = ['grafana-dashboard.json', 'alerts.yml', 'METRICS.md'].map(name => `config/deploy/${name}`)
const NAME = /\b(?:tesser|process|nodejs)_[a-z0-9_]*[a-z0-9]\b/g

t.test('every metric that they name is served', async t => {
  const server = await createTestServer({
    model: company.model,
    config: { auth: { guestsAdministrate: true }, server: { transport: 'node-http' }, pool: { inlineCostMs: 0 } },
    plugins: [staffPlugin],
  })
  t.teardown(() => server.close())
  await server.post('/rest/City?$method=update', { name: 'measured' })
  await server.get('/rest/City')
  const { text } = await server.get('/metrics')
  const served = new Set([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) => parts(name!, type!)))
  t.ok(served.size > 60, `${served.size} names`)
  const named = new Set<string>()
  for (const file of FILES) {
    const names = readFileSync(file, 'utf8').match(NAME)!
    t.ok(names.length > 10, file)
    for (const name of names) named.add(name)
    t.same(
      [...new Set(names)].filter(name => !served.has(name)),
      [],
      file,
    )
  }
  const own = [...text.matchAll(/^# TYPE (tesser_\S+) /gm)].map(([, name]) => name!)
  const page = readFileSync('config/deploy/METRICS.md', 'utf8')
  t.same(
    own.filter(name => !page.includes(`\`${name}\``)),
    UNEXPLAINED,
    'the page has all of them',
  )
})

/** Known from the metric beside them. */
const UNEXPLAINED = ['tesser_buffers_limit_bytes']

const parts = (name: string, type: string): string[] =>
  type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
