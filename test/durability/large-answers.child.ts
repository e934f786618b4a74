/**
 * A server with a page of people, each with an expanded company, some 2.5 KB each. Sends its port; answers `rss`.
 */
import { createTestServer, insertRows } from '../../kernel/testing.ts'

const [folder, people, config] = process.argv.slice(2) as [string, string, string]
const MODEL = {
  name: 'large',
  dataClasses: {
    Company: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        notes: { type: 'string' },
        staff: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'employer' },
      },
    },
    Person: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        name: { type: 'string' },
        employerID: { type: 'long' },
        employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID', inverseName: 'staff' },
      },
    },
  },
}
const COMPANIES = 50

const server = await createTestServer({ model: MODEL, folder, config: JSON.parse(config) })
const companies = Array.from({ length: COMPANIES }, (_, i) => ({ ID: i + 1, notes: `company ${i} `.repeat(200) }))
await insertRows(server.engine, 'Company', companies)
const persons = Array.from({ length: Number(people) }, (_, i) => ({
  ID: i + 1,
  name: `Person ${i + 1}`,
  employerID: (i % COMPANIES) + 1,
}))
await insertRows(server.engine, 'Person', persons)

// Without a handler, Node ends a process at the signal for a write beyond its limit.
process.on('SIGXFSZ', () => {})

process.on('message', async message => {
  if (message === 'rss') process.send!(process.memoryUsage.rss())
  else {
    await server.close()
    process.disconnect()
  }
})
process.send!(server.port)
