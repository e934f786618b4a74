import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { loadSentenceModel, startDemo } from '../support/demo-server.ts'
import { followTour, tourOf } from '../support/tour.ts'

t.test('the tours of the README and of the search by meaning answer as they say', async t => {
  const tour = ['README.md', 'plugins/examples/semantic/README.md'].flatMap(tourOf)
  t.ok(tour.length > 15)
  const server = await startDemo(t, { plugins: resolve('plugins/examples/geo/index.ts') })
  await loadSentenceModel(server)
  await followTour(t, server.url, tour)
})

t.test('every file that the README links to is there', async t => {
  for (const [, target] of readFileSync('README.md', 'utf8').matchAll(/\]\(([^)#:]+)\)/g))
    t.ok(existsSync(target!), target!)
})
