/** The tool "call" of `/mcp`, and what "describe" says about functions. */
import t from 'tap'
import { connect } from '../support/clients/mcp-client.ts'
import { company } from '../support/fixtures/company.ts'
import { startServer } from '../support/servers/test-server.ts'
import { declaredPlugin, streamingPlugin } from '../support/plugins/test-plugins.ts'
import { type Case, names, run, runWithStaff } from './mcp-cases.ts'

const READS: readonly Case[] = [
  {
    says: 'a function of an entity',
    tool: 'call',
    input: { class: 'Employee', key: '1', function: 'greet' },
    data: 'Hello Ada',
  },
  {
    says: 'a function of a selection',
    tool: 'call',
    input: { class: 'Employee', filter: 'ID < 3', function: 'names' },
    data: ['Lovelace', 'Gödel'],
  },
  {
    says: 'a function with arguments',
    tool: 'call',
    input: { class: 'Employee', function: 'echo', arguments: ['a"b&c=d+e', 1, null, { x: [] }] },
    data: ['a"b&c=d+e', 1, null, { x: [] }],
  },
  {
    says: 'a selection',
    tool: 'call',
    input: { class: 'Employee', function: 'wellPaid', arguments: [90_000], attributes: ['lastName'] },
    has: { count: 2, data: names('Hopper', 'Lovelace') },
  },
  {
    says: 'an entity',
    tool: 'call',
    input: { class: 'Employee', function: 'richest', attributes: ['lastName'] },
    data: { __KEY: '4', lastName: 'Hopper' },
  },
  {
    says: 'a function of the datastore',
    tool: 'call',
    input: { function: 'sizes' },
    data: { companies: 4, employees: 6 },
  },
  {
    says: 'a text of its own type',
    tool: 'call',
    input: { function: 'export', arguments: ['csv'] },
    data: 'id;name\n1;Ada',
  },
  { says: 'bytes', tool: 'call', input: { function: 'export', arguments: ['bytes'] }, has: { data: /^\(3 bytes/ } },
  {
    says: 'an unknown function',
    tool: 'call',
    input: { class: 'Employee', key: '1', function: 'greets' },
    error: /^Employee has no function "greets"; did you mean "greet"/,
  },
  {
    says: 'an unknown function of the datastore',
    tool: 'call',
    input: { function: 'greet' },
    error: /^the datastore has no function "greet"; those of a dataclass take class/,
  },
  {
    says: 'a function that is not exposed',
    tool: 'call',
    input: { class: 'Employee', function: 'hidden' },
    error: /hidden/,
  },
  {
    says: 'an address in place of a function',
    tool: 'call',
    input: { class: 'Employee', function: '$release' },
    error: /is not a name/,
  },
  {
    says: 'a singleton of a class',
    tool: 'call',
    input: { class: 'Employee', singleton: 'Bell', function: 'ring' },
    error: /neither class/,
  },
  {
    says: 'a login',
    tool: 'call',
    input: { function: 'authentify', arguments: ['a', 'b'] },
    error: /send a key or a token/,
  },
  { says: 'a key without a class', tool: 'call', input: { function: 'sizes', key: '1' }, error: /take a class/ },
]
runWithStaff(READS)

t.test('declared functions', async t => {
  const server = await startServer(t, company, { config: { plugins: [declaredPlugin] } })
  await run(t, await connect(t, server.url), [
    {
      says: 'names of parameters',
      tool: 'describe',
      text: /earning\(minimum, count\?, direction\?\), plan\(period\)!.*raised\(percent\)!/,
    },
    {
      says: 'functions of the datastore with types',
      tool: 'describe',
      text: /\ndatastore: company\(key: integer \| \{"minLength":1,"type":"string"\}\) → Company as \{"__ENTITY".*\} \| null\n/,
    },
    {
      says: 'types and descriptions',
      tool: 'describe',
      input: { class: ['Employee'] },
      text: /\nearning\(minimum: .*"minimum":0.*, direction\?: "up" \| "down"\) → entities of Employee: function of the class, Employees who earn at least so much, by name\.\n/,
    },
    {
      says: 'wrong arguments',
      tool: 'call',
      input: { class: 'Employee', function: 'earning', arguments: [-1] },
      error: /argument 1, "minimum"/,
      status: 400,
    },
    {
      says: 'right arguments',
      tool: 'call',
      input: { class: 'Employee', function: 'earning', arguments: [80_000, 1, 'down'], attributes: ['lastName'] },
      has: { count: 1, data: [{ lastName: 'Lovelace' }] },
    },
  ])
})

t.test('functions that are generators', async t => {
  const server = await startServer(t, company, { config: { plugins: [streamingPlugin], mcp: { write: true } } })
  await run(t, await connect(t, server.url), [
    { says: 'values', tool: 'call', input: { function: 'counts', arguments: [3] }, data: [0, 1, 2] },
    { says: 'a failure', tool: 'call', input: { function: 'throwsAfter' }, error: /short and stout/, status: 500 },
    {
      says: 'too many values',
      tool: 'call',
      input: { function: 'counts', arguments: [1_000_000] },
      error: /more than 1048576 bytes/,
    },
  ])
})

t.test('declarations do not show dataclasses that are hidden', async t => {
  const roles = {
    privileges: [{ privilege: 'finance' }],
    permissions: { allowed: [{ applyTo: 'Company', type: 'dataclass', read: ['finance'] }] },
  }
  const server = await startServer(t, company, { roles, config: { plugins: [declaredPlugin] } })
  const agent = await connect(t, server.url)
  for (const input of [{}, { class: ['Employee'] }]) {
    const { text } = await agent.call('describe', input)
    t.match(text, /earning\(/)
    t.notMatch(text, /Company/)
  }
})
