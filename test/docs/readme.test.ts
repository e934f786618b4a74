import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { CONFIG_KEYS } from '../../config/schema.ts'
import { loadSentenceModel, startDemo } from '../support/servers/demo-server.ts'
import { followTour, tourOf } from '../support/clients/tour.ts'

t.test(
  'the tours of the README, of the protocol, of the search by meaning and of agents answer as they say',
  async t => {
    const tour = [
      'plugins/docs/pages/start/tour.md',
      'README.md',
      'plugins/examples/semantic/README.md',
      'plugins/docs/pages/guide/agents.md',
    ].flatMap(tourOf)
    t.ok(tour.length > 25)
    const server = await startDemo(t, { plugins: resolve('plugins/examples/geo/index.ts') })
    await loadSentenceModel(server)
    await followTour(t, server.url, tour)
  },
)

t.test('every file that the README and SECURITY.md link to exists', async t => {
  const links = ['README.md', 'SECURITY.md'].flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(/\]\(([^)#:]+)\)/g)].map(([, target]) => target!),
  )
  for (const file of ['ARCHITECTURE.md', 'plugins/docs/pages/start/first-hour.md']) t.ok(links.includes(file), file)
  for (const target of links) t.ok(existsSync(target), target)
})

t.test('every option that SECURITY.md names exists', async t => {
  const groups = new Set(CONFIG_KEYS.map(key => key.split('.')[0]))
  const names = [...readFileSync('SECURITY.md', 'utf8').matchAll(/`([a-zA-Z]+)\.([a-zA-Z.]+)(…?)`/g)]
  const options = names.filter(([, group, rest]) => groups.has(group!) && rest !== 'json')
  t.ok(options.length > 15, 'options are found')
  for (const [, group, rest, more] of options) {
    const name = `${group}.${rest}`
    const isThere = CONFIG_KEYS.some(key => key === name || key.startsWith(more ? name : `${name}.`))
    t.ok(isThere, name)
  }
})
