import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { startServer, transports } from '../support/servers/test-server.ts'

// Answers that are still computed share one buffer, and the writer completes many requests at once.
const KEYS = ['1', '2', '3', '4', '5', '6']

for (const transport of transports) {
  t.test(`requests that are answered in the same turn get their own bytes, on ${transport}`, async t => {
    const server = await startServer(t, company, { transport })
    const all = async (ask: (key: string) => Promise<{ json: { __KEY?: string } }>) =>
      t.same(
        (await Promise.all(KEYS.map(ask))).map(({ json }) => json?.__KEY),
        KEYS,
      )
    for (let stamp = 1; stamp <= 5; stamp++) {
      await all(key =>
        server.post('/Employee?$method=update', { __KEY: key, __STAMP: stamp, notes: `${key}`.repeat(99) }),
      )
      await all(key => server.post(`/Employee(${key})/$query`, { $expand: 'employer' }))
    }
  })

  t.test(`entity sets made in the same turn are each answered with their own page, on ${transport}`, async t => {
    const server = await startServer(t, company, { transport })
    const answers = await Promise.all(
      KEYS.map(key => server.get(`/Employee?$filter="ID=${key}"&$method=entityset&$expand=employer`)),
    )
    t.same(
      answers.map(({ json }) => json?.__ENTITIES[0].__KEY),
      KEYS,
    )
  })
}
