/** The tools of `/mcp` with writing on. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { connect, ERAS } from '../support/clients/mcp-client.ts'
import { company } from '../support/fixtures/company.ts'
import { isLong } from '../support/runner/rounds.ts'
import { startServer, transports } from '../support/servers/test-server.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'
import { type Case, run } from './mcp-cases.ts'

/** Calls with writing on, one after the other. */
const WRITES: readonly Case[] = [
  {
    says: 'a stamp is there',
    tool: 'query',
    input: { class: 'City', filter: 'name = Paris', attributes: ['population'] },
    data: [{ __KEY: 'Paris', __STAMP: 1, population: 2_100_000 }],
  },
  {
    says: 'new entities',
    tool: 'write',
    input: {
      class: 'City',
      save: [
        { name: 'Rome', population: 3 },
        { name: 'a")/b', population: 4 },
      ],
    },
    has: { saved: 2, data: [{ __KEY: 'Rome', __STAMP: 1 }, { __KEY: 'a")/b' }] },
  },
  {
    says: 'a change',
    tool: 'write',
    input: { class: 'City', save: [{ __KEY: 'Rome', __STAMP: 1, population: 5 }] },
    data: [{ __KEY: 'Rome', __STAMP: 2 }],
  },
  {
    says: 'a change of an entity that has changed meanwhile',
    tool: 'write',
    input: { class: 'City', save: [{ __KEY: 'Rome', __STAMP: 1, population: 6 }] },
    error: /stamp/i,
    has: { errors: [{ entity: 0, errCode: 1263 }] },
  },
  {
    says: 'all or none',
    tool: 'write',
    input: { class: 'City', save: [{ name: 'Bern' }, { name: 'Rome' }] },
    error: /Rome|unique/i,
  },
  {
    says: 'none of them',
    tool: 'aggregate',
    input: { class: 'City', function: 'count', filter: 'name = Bern' },
    data: 0,
  },
  {
    says: 'a fault names the attribute',
    tool: 'write',
    input: { class: 'Company', save: [{ name: 'A', code: 'x' }] },
    has: { errors: [{ entity: 0, attribute: 'code' }] },
    error: /code/,
  },
  {
    says: 'a check',
    tool: 'write',
    input: { class: 'City', save: [{ name: 'Oslo' }], check: true },
    data: { wouldSave: 1 },
  },
  {
    says: 'a check saves nothing',
    tool: 'aggregate',
    input: { class: 'City', function: 'count', filter: 'name = Oslo' },
    data: 0,
  },
  {
    says: 'exact numbers',
    tool: 'write',
    input: { class: 'Tag', save: [{ id: '0000000000000000000000000000000B', größe: '9007199254740993' }] },
    has: { saved: 1 },
  },
  {
    says: 'are kept',
    tool: 'query',
    input: { class: 'Tag', filter: 'größe = 9007199254740993', attributes: ['größe'] },
    has: { data: [{ größe: '9007199254740993' }] },
  },
  { says: 'a deletion', tool: 'write', input: { class: 'City', delete: 'a")/b' }, data: { deleted: 'a")/b' } },
  {
    says: 'a deletion of nothing',
    tool: 'write',
    input: { class: 'City', delete: 'Atlantis' },
    error: /Atlantis/,
    status: 404,
  },
  { says: 'that many are left', tool: 'aggregate', input: { class: 'City', function: 'count' }, data: 5 },
  { says: 'neither', tool: 'write', input: { class: 'City' }, error: /either save or delete/ },
  {
    says: 'a private attribute',
    tool: 'write',
    input: { class: 'Employee', save: [{ lastName: 'X', secret: 'y' }] },
    error: /secret/,
  },
  {
    says: 'a function',
    tool: 'call',
    input: { class: 'Employee', key: '2', function: 'raise', arguments: [10] },
    has: { data: { success: true } },
  },
  {
    says: 'has changed it',
    tool: 'query',
    input: { class: 'Employee', filter: 'ID = 2', attributes: ['salary'] },
    has: { data: [{ __STAMP: 2 }] },
  },
  {
    says: 'a login',
    tool: 'call',
    input: { function: 'authentify', arguments: ['a', 'b'] },
    error: /send a key or a token/,
  },
]

t.test('writing', async t => {
  for (const era of isLong ? ERAS : ERAS.slice(1)) {
    await t.test(era, async t => {
      const config = { plugins: [staffPlugin], mcp: { write: true } }
      const server = await startServer(t, company, { transport: transports.at(-1)!, config })
      const agent = await connect(t, server.url, { era })
      const { tools } = await agent.client.listTools()
      const changing = tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name)
      t.strictSame(changing, ['call', 'write'])
      const documented = readFileSync('plugins/docs/pages/guide/agents.md', 'utf8').matchAll(/^\| `(\w+)` \|/gm)
      t.strictSame(
        [...documented].map(([, name]) => name),
        tools.map(({ name }) => name),
      )
      await run(t, agent, WRITES)
    })
  }
})
