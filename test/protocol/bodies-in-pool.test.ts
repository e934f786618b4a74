/** The body of a save means the same, whichever thread reads it. Source: base specification 4.4; protocol notes 5.1 and 5.2. */
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { loudPlugin } from '../support/plugins/test-plugins.ts'
import { startServer, transports } from '../support/servers/test-server.ts'

const MARK = '\uFEFF'
/** Cases in this order, each with its address, the body, the status and the answers. */
const CASES: [string, string, string, number, unknown][] = [
  ['new entities', '', '[{"name":"A"},{"name":"B"}]', 200, { __ENTITIES: [{ name: 'A' }, { name: 'B' }] }],
  ['a list that is none', '', '{"__ENTITIES":5,"name":"H"}', 400, { __ERROR: [{ errCode: 1806 }] }],
  [
    'a list that is replaced',
    '',
    '{"__ENTITIES":[{"name":"I"}],"__ENTITIES":{}}',
    400,
    { __ERROR: [{ errCode: 1806 }] },
  ],
  ['a byte order mark', '', `${MARK}[{"name":"J"}]`, 200, { __ENTITIES: [{ name: 'J' }] }],
  ['a byte order mark before one entity', '', `${MARK}{"name":"K"}`, 200, { name: 'K' }],
]
for (const inlineCostMs of [0.2, 0]) {
  t.test(`bodies are read ${inlineCostMs ? 'in the writer' : 'in the pool'}`, async t => {
    const config = { plugins: [loudPlugin], functions: { threads: 1 }, pool: { inlineCostMs, threads: 1 } }
    const server = await startServer(t, company, { config, transport: transports.at(-1)! })
    for (const [what, query, body, status, answer] of CASES) {
      const found = await server.post(`/Company?$method=update${query}`, Buffer.from(body))
      t.equal(found.status, status, `${what}: ${found.text.slice(0, 300)}`)
      t.match(found.json, answer, what)
    }
    // Code takes part in the answer alone, and an entity that is there twice divides the body.
    const people = [{ lastName: 'C' }, { __KEY: '1', __STAMP: 1, lastName: 'D' }, { lastName: 'E' }]
    const twice = [...people, { __KEY: '1', __STAMP: 2, lastName: 'F' }, { lastName: 'G' }]
    const saved = await server.post('/Employee?$method=update&$attributes=lastName,employer.loud', twice)
    t.match(saved.json, { __ENTITIES: ['C', 'D', 'E', 'F', 'G'].map(lastName => ({ lastName })) }, saved.text)
    t.match((await server.get('/Employee(1)')).json, { lastName: 'F', __STAMP: 3 })
    for (const body of [{ name: 'L' }, [{ name: 'L' }]]) {
      const refused = await server.post('/Company?$method=update', body, { 'if-match': '*' })
      t.equal(refused.status, 412, refused.text)
    }
    const names = await server.get('/Company?$filter="ID > 4"&$attributes=name&$orderby=ID&$asArray=true')
    t.same((names.json as { name: string }[]).map(({ name }) => name).join(''), 'ABJK')
  })
}

t.test('a large save is seen by whoever has its answer', async t => {
  const server = await startServer(t, company, { config: { pool: { threads: 1 } }, transport: transports.at(-1)! })
  for (let round = 1; round <= 4; round++) {
    const names = Array.from({ length: 2_500 }, (_, i) => ({ name: `${round} ${i}`, info: { text: 'x'.repeat(200) } }))
    const saved = await server.post('/Company?$method=update', names)
    const answer = (saved.json as { __ENTITIES: { ID: number; name: string }[] }).__ENTITIES
    t.equal(answer.length, names.length, saved.text.slice(0, 300))
    const [first, last] = [answer[0]!, answer.at(-1)!]
    t.match((await server.get(`/Company(${last.ID})`)).json, { name: last.name })
    const found = await server.get(`/Company?$filter="ID >= ${first.ID}"&$top=1`)
    t.match(found.json, { __COUNT: names.length }, found.text.slice(0, 300))
  }
})
