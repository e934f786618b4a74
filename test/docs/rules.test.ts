import { pathToFileURL } from 'node:url'
import t from 'tap'
import { createTestServer } from '../../kernel/testing.ts'
import { followTour, tourOf } from '../support/clients/tour.ts'

const EXAMPLE = 'plugins/examples/rules'

t.test('the example of rules answers as its manual says', async t => {
  const at = (file: string) => pathToFileURL(`${EXAMPLE}/${file}`)
  const server = await createTestServer({ model: at('model.json'), plugins: [at('index.ts')] })
  t.teardown(() => server.close())
  const tour = tourOf(`${EXAMPLE}/README.md`)
  t.ok(tour.length > 10)
  await followTour(t, server.url, tour)
})
