import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { startDemo } from '../support/demo-server.ts'
import { followTour, tourOf } from '../support/tour.ts'

t.test('the tour of the README answers as it says', async t => {
  const tour = tourOf('README.md')
  t.ok(tour.length > 10)
  const server = await startDemo(t, { plugins: resolve('plugins/examples/geo/index.ts') })
  await followTour(t, server.url, tour)
})

t.test('every file that the README links to is there', async t => {
  for (const [, target] of readFileSync('README.md', 'utf8').matchAll(/\]\(([^)#:]+)\)/g))
    t.ok(existsSync(target!), target!)
})
