/** The tools of `/mcp`: which there are, and what they show of events, decimals and vectors. */
import t from 'tap'
import { connect, ERAS } from '../support/clients/mcp-client.ts'
import { company } from '../support/fixtures/company.ts'
import { passages } from '../support/fixtures/passages.ts'
import { startServer, usualTransports } from '../support/servers/test-server.ts'
import { hiddenCompaniesPlugin, staffPlugin } from '../support/plugins/test-plugins.ts'
import { type Case, run } from './mcp-cases.ts'
import { modelWith } from '../support/fixtures/model-with.ts'

/** Calls with writing off. */
const REFUSED: readonly Case[] = [
  {
    says: 'a function that may change something',
    tool: 'call',
    input: { class: 'Employee', key: '1', function: 'raise', arguments: [10] },
    error: /does not allow GET.*mcp\.write/,
  },
  {
    says: 'nothing has changed',
    tool: 'query',
    input: { class: 'Employee', filter: 'ID = 1', attributes: ['salary'] },
    data: [{ __KEY: '1', salary: 90_000 }],
  },
]

for (const transport of usualTransports) {
  t.test(`tools on ${transport}`, async t => {
    const config = { plugins: [staffPlugin] }
    const server = await startServer(t, company, { transport, config })
    for (const era of ERAS) {
      await t.test(era, async t => {
        const agent = await connect(t, server.url, { era })
        t.equal(agent.client.getProtocolEra(), era)
        t.match(agent.client.getInstructions(), /Begin with describe/)
        const { tools } = await agent.client.listTools()
        const offered = ['describe', 'query', 'aggregate', 'search', 'image', 'call']
        t.strictSame(
          tools.map(({ name }) => name),
          offered,
          'without write',
        )
        for (const { annotations, name } of tools) t.equal(annotations?.readOnlyHint, true, name)
        await t.rejects(agent.call('write', { class: 'City', delete: 'Paris' }), /there is no tool "write"/)
        await t.rejects(agent.call('qery'), /did you mean "query"/)
        await run(t, agent, REFUSED)
        const { content } = await agent.call('image', { class: 'Employee', key: '1', attribute: 'photo' })
        t.match(content, [{ type: 'image', mimeType: /^image\/(webp|png)$/, data: /^[\w+/]+=*$/ }])
      })
    }
  })
}

t.test('restrict events', async t => {
  const server = await startServer(t, company, { config: { plugins: [hiddenCompaniesPlugin] } })
  await run(t, await connect(t, server.url), [
    {
      says: 'hide entities',
      tool: 'query',
      input: { class: 'Company', attributes: ['ID'] },
      data: [
        { __KEY: '1', ID: 1 },
        { __KEY: '2', ID: 2 },
      ],
    },
    { says: 'from counts', tool: 'aggregate', input: { class: 'Company', function: 'count' }, data: 2 },
    { says: 'from sums', tool: 'aggregate', input: { class: 'Company', function: 'max', attribute: 'ID' }, data: 2 },
    {
      says: 'from values',
      tool: 'aggregate',
      input: { class: 'Company', function: 'values', attribute: 'name' },
      data: [
        { value: 'Acme', count: 1 },
        { value: 'Éclair', count: 1 },
      ],
    },
    { says: 'from paths', tool: 'query', input: { class: 'Employee', filter: 'employer.name = zeta' }, data: [] },
    { says: 'from searches', tool: 'search', input: { class: 'Company', text: 'zeta' }, data: [] },
    {
      says: 'from images',
      tool: 'image',
      input: { class: 'Company', key: '3', attribute: 'contract' },
      error: /3/,
      status: 404,
    },
    {
      says: 'from functions',
      tool: 'call',
      input: { class: 'Employee', key: '6', function: 'company' },
      data: null,
    },
  ])
})

t.test('exact decimals', async t => {
  const attributes = { ID: { type: 'long' }, price: { type: 'decimal', scale: 2 }, sums: { type: 'object' } }
  const model = modelWith({ Price: attributes })
  const rows = { Price: [{ ID: 1, price: '1234567890123456.78', sums: { of: { them: [1.5] } } }] }
  const server = await startServer(t, { model, rows })
  await run(t, await connect(t, server.url), [
    {
      says: 'keep their digits',
      tool: 'query',
      input: { class: 'Price', filter: 'price = :1', params: ['1234567890123456.78'] },
      data: [{ __KEY: '1', ID: 1, price: '1234567890123456.78', sums: { of: { them: [1.5] } } }],
    },
    {
      says: 'in sums too',
      tool: 'aggregate',
      input: { class: 'Price', function: 'sum', attribute: 'price' },
      data: '1234567890123456.78',
    },
  ])
})

t.test('vectors', async t => {
  const server = await startServer(t, passages)
  const agent = await connect(t, server.url)
  const shown = ['text']
  await run(t, agent, [
    {
      says: 'is a vector',
      tool: 'describe',
      input: { class: ['Passage'] },
      text: /\nembedding: vector, dimension 3\n/,
    },
    {
      says: 'near a vector',
      tool: 'search',
      input: { class: 'Passage', vector: [1, 0, 0], attributes: shown, top: 2 },
      has: {
        data: [
          { text: 'same', __SCORE: 1 },
          { text: 'near', __SCORE: /^0\.(8|79999)/ },
        ],
      },
    },
    {
      says: 'like another one, with a filter',
      tool: 'search',
      input: { class: 'Passage', similarTo: '2', filter: 'page > :1', params: [2], attributes: shown, top: 1 },
      has: { data: [{ text: 'long' }] },
    },
    {
      says: 'all values but vectors',
      tool: 'query',
      input: { class: 'Passage', filter: 'ID = 1' },
      data: [{ __KEY: '1', ID: 1, text: 'same', page: 1, bookID: 1 }],
    },
    { says: 'of another length', tool: 'search', input: { class: 'Passage', vector: [1] }, error: /./, status: 400 },
    {
      says: 'a vector that is null',
      tool: 'search',
      input: { class: 'Passage', similarTo: '6' },
      error: /is not a vector/,
    },
    {
      says: 'a vector of nothing',
      tool: 'search',
      input: { class: 'Passage', similarTo: '77' },
      error: /77/,
      status: 404,
    },
    {
      says: 'a private vector',
      tool: 'search',
      input: { class: 'Passage', similarTo: '1', in: ['other'] },
      error: /"other"/,
      status: 404,
    },
  ])
})
