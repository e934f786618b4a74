/**
 * Reads, saves and functions that are refused, as an agent sees it: the attribute, the reason, and what would do. What its role hides is
 * answered like what does not exist.
 */
import t, { type Test } from 'tap'
import { type Agent, connect } from '../support/clients/mcp-client.ts'
import { company } from '../support/fixtures/company.ts'
import { refusedPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'

interface Refusal {
  readonly says: string
  readonly tool: string
  readonly input: object
  readonly status?: number
  /** The first error. */
  readonly error: {
    readonly message: string | RegExp
    readonly errCode?: number
    readonly attribute?: string | undefined
    readonly entity?: number
  }
}

const query = (input: object) => ({ tool: 'query', input })
const save = (dataClass: string, ...entities: object[]) => ({
  tool: 'write',
  input: { class: dataClass, save: entities },
})
/** A call of a function of the datastore. */
const code = (name: string, ...values: unknown[]) => ({ tool: 'call', input: { function: name, arguments: values } })
const ENTITY = { __ENTITY: true }

/** A plain sentence about the attribute; the same from a tool and from code. */
const WRONG_TYPE = {
  message: 'population cannot be "many"; a whole number from -2147483648 to 2147483647 is expected',
  errCode: 1508,
  attribute: 'population',
}
const MANDATORY = { message: 'lastName is mandatory and cannot be null', errCode: 1116, attribute: 'lastName' }
const NO_KEY = { message: 'the new entity has no key; give name a value', errCode: 1546, attribute: 'name' }
const TAKEN = { message: 'another entity has "PARIS" as name, which is unique', errCode: 1115, attribute: 'name' }
const BELOW = { message: 'salary is -1; at least 0 is expected', errCode: 1568, attribute: 'salary' }
const NO_COMPANY = { message: /99/, errCode: 1155 }
const STALE = {
  message: 'entity "Paris" of City has __STAMP 1, the request sent 7; read it again and repeat the change',
  errCode: 1263,
  attribute: undefined,
}

const READS: readonly Refusal[] = [
  {
    says: 'an unknown class',
    ...query({ class: 'Citi' }),
    status: 404,
    error: { message: /"Citi" datastore class cannot be found; did you mean "City"\?$/, errCode: 1800 },
  },
  ...[
    { says: 'shown', ...query({ class: 'City', attributes: ['populaton'] }) },
    { says: 'in a filter', ...query({ class: 'City', filter: 'populaton > 1' }) },
    { says: 'in an order', ...query({ class: 'City', orderBy: 'populaton' }) },
    { says: 'in a sum', tool: 'aggregate', input: { class: 'City', function: 'sum', attribute: 'populaton' } },
    { says: 'in a search', tool: 'search', input: { class: 'City', text: 'a', in: ['populaton'] } },
  ].map(each => ({
    ...each,
    says: `an unknown attribute ${each.says}`,
    status: 404,
    error: { message: /"populaton".*City.*; did you mean "population"\?$/, errCode: 1500, attribute: 'populaton' },
  })),
  {
    says: 'a value of the wrong type',
    ...query({ class: 'City', filter: 'population = :1', params: ['many'] }),
    status: 400,
    error: { message: 'the placeholder :1 holds the text "many"; it takes a number', errCode: 1280 },
  },
  {
    says: 'a value of the wrong type in the filter',
    ...query({ class: 'Employee', filter: 'birthDate > soon' }),
    status: 400,
    error: { message: /^cannot compare "birthDate" with "soon"; it takes a date such as /, attribute: 'birthDate' },
  },
  {
    says: 'a missing value',
    ...query({ class: 'City', filter: 'population = :2', params: [1] }),
    status: 400,
    error: { message: 'the placeholder :2 is not in $params, which has :1', errCode: 1279 },
  },
  {
    says: 'a sum of texts',
    tool: 'aggregate',
    input: { class: 'City', function: 'sum', attribute: 'name' },
    status: 400,
    error: { message: /^sum does not apply to "name", which is a text; use /, errCode: 1817, attribute: 'name' },
  },
  {
    says: 'more entities than a page has',
    ...query({ class: 'City', top: 500 }),
    error: { message: 'arguments.top: expected a number <= 200, received 500' },
  },
  {
    says: 'an entity that does not exist',
    tool: 'image',
    input: { class: 'Employee', key: '99', attribute: 'photo' },
    status: 404,
    error: { message: /99.*"Employee"/, errCode: 1543 },
  },
]

const SAVES: readonly Refusal[] = [
  {
    says: 'an unknown class',
    ...save('Citi', { name: 'x' }),
    status: 404,
    error: { message: /"Citi".*; did you mean "City"\?$/, errCode: 1800 },
  },
  {
    says: 'an unknown attribute, of the second entity',
    ...save('City', { name: 'Oslo' }, { name: 'Rome', populaton: 1 }),
    status: 404,
    error: {
      message: 'no attribute "populaton" in City; did you mean "population"?',
      errCode: 1500,
      attribute: 'populaton',
      entity: 1,
    },
  },
  { says: 'a mandatory value that is missing', ...save('Employee', { firstName: 'x' }), status: 422, error: MANDATORY },
  { says: 'no key', ...save('City', { population: 1 }), status: 422, error: NO_KEY },
  { says: 'a wrong type', ...save('City', { name: 'x', population: 'many' }), status: 422, error: WRONG_TYPE },
  { says: 'a key that exists', ...save('City', { name: 'PARIS' }), status: 409, error: TAKEN },
  { says: 'a value below its limit', ...save('Employee', { lastName: 'x', salary: -1 }), status: 422, error: BELOW },
  {
    says: 'a related entity that does not exist',
    ...save('Employee', { lastName: 'x', employerID: 99 }),
    status: 409,
    error: NO_COMPANY,
  },
  { says: 'a stale stamp', ...save('City', { __KEY: 'Paris', __STAMP: 7, population: 1 }), status: 409, error: STALE },
  {
    says: 'no stamp',
    ...save('City', { __KEY: 'Paris', population: 1 }),
    status: 409,
    error: { message: /the request sent none; read it again/, errCode: 1263 },
  },
  {
    says: 'a change of an entity that does not exist',
    ...save('City', { __KEY: 'Oslo', __STAMP: 1, population: 1 }),
    status: 404,
    error: { message: /none has this key; leave __KEY and __STAMP out to create one$/, errCode: 1543 },
  },
  {
    says: 'a calculated value',
    ...save('Employee', { lastName: 'x', fullName: 'y' }),
    status: 422,
    error: { message: /fullName cannot be modified: it is calculated/, attribute: 'fullName' },
  },
  {
    says: 'more entities than a save has',
    ...save('City', ...Array(501).fill({ name: 'x' })),
    error: { message: /^arguments\.save: .*500 items/ },
  },
  {
    says: 'something that is no entity',
    tool: 'write',
    input: { class: 'City', save: ['Oslo'] },
    error: { message: 'arguments.save.0: expected an object, received "Oslo"' },
  },
]

/** The same through code, and what code does wrong itself, of which only the log has the details. */
const FUNCTIONS: readonly Refusal[] = [
  { says: 'a mandatory value', ...code('create', 'Employee', { firstName: 'x' }), status: 422, error: MANDATORY },
  { says: 'no key', ...code('create', 'City', { population: 1 }), status: 422, error: NO_KEY },
  { says: 'a wrong type', ...code('create', 'City', { population: 'many' }), status: 422, error: WRONG_TYPE },
  { says: 'a key that exists', ...code('create', 'City', { name: 'PARIS' }), status: 409, error: TAKEN },
  { says: 'a limit', ...code('create', 'Employee', { lastName: 'x', salary: -1 }), status: 422, error: BELOW },
  {
    says: 'a related entity that does not exist',
    ...code('create', 'Employee', { lastName: 'x', employerID: 99 }),
    status: 409,
    error: NO_COMPANY,
  },
  { says: 'a wrong type in a change', ...code('change', 'City', 'Paris', { population: 'many' }), error: WRONG_TYPE },
  {
    says: 'an entity with a stale stamp',
    ...code('keep', { ...ENTITY, __DATACLASS: 'City', __KEY: 'Paris', __STAMP: 7, population: 1 }),
    status: 409,
    error: STALE,
  },
  // Stamps have 32 bits: 2 ** 32 + 1 must not count as 1.
  ...[-1, 0, 2 ** 32 + 1].map(stamp => ({
    says: `an entity with the stamp ${stamp}`,
    ...code('keep', { ...ENTITY, __DATACLASS: 'City', __KEY: 'Paris', __STAMP: stamp, population: 1 }),
    status: 409,
    error: { message: /has __STAMP 1, the request sent \d+; read it again/, errCode: 1263 },
  })),
  {
    says: 'an entity with a wrong value',
    ...code('keep', { ...ENTITY, __DATACLASS: 'City', __KEY: 'Paris', population: 'many' }),
    status: 400,
    error: WRONG_TYPE,
  },
  {
    says: 'an entity that does not exist',
    ...code('keep', { ...ENTITY, __DATACLASS: 'City', __KEY: 'Oslo' }),
    status: 404,
    error: { message: 'argument 1 of the function: City has no entity with the key Oslo', errCode: 1543 },
  },
  {
    says: 'an entity with an unknown attribute',
    ...code('keep', { ...ENTITY, __DATACLASS: 'City', __KEY: 'Paris', populaton: 1 }),
    status: 400,
    error: { message: /^argument 1 .*: City has no attribute "populaton"$/, errCode: 1603 },
  },
  ...(
    [
      ['an unknown class', code('create', 'Citi', {}), 'TypeError'],
      ['an unknown attribute', code('create', 'City', { name: 'x', populaton: 1 }), 'UsageError'],
      ['an unknown attribute in a query', code('count', 'City', 'populaton > 1'), 'UsageError'],
      ['a query that cannot be read', code('count', 'City', 'population >'), 'UsageError'],
      ['an unknown attribute in an order', code('sorted', 'City', 'populaton'), 'UsageError'],
      ['a sum of texts', code('sum', 'City', 'name'), 'UsageError'],
    ] as const
  ).map(([says, call, error]) => ({
    says,
    ...call,
    status: 500,
    error: {
      message: `the function ds.${call.input.function} failed with ${error}; the log of the server tells more`,
      errCode: 1562,
    },
  })),
]

async function refuse(t: Test, agent: Agent, { says, tool, input, status, error }: Refusal): Promise<void> {
  const { isError, json, text } = await agent.call(tool, input)
  t.equal(isError, true, `${says}: ${text.slice(0, 300)}`)
  t.match(json.errors[0], error, says)
  if (status !== undefined) t.equal(json.status, status, says)
  t.notMatch(text, /\bat \/|\.ts\b|\.js\b|node_modules/, `${says}: no stack`)
}

const config = { plugins: [refusedPlugin], mcp: { write: true } }

t.test('refusals', async t => {
  const server = await startServer(t, company, { config })
  const before = (await server.get('/City?$top=-1')).text
  const agent = await connect(t, server.url)
  for (const [title, refusals] of Object.entries({ reads: READS, saves: SAVES, functions: FUNCTIONS })) {
    await t.test(title, async t => {
      for (const each of refusals) await refuse(t, agent, each)
    })
  }
  const { json } = await agent.call('call', code('statusOf', 'Employee', { firstName: 'x' }).input)
  t.match(json.data, { success: false, status: 4, errors: [MANDATORY] }, 'code that does not throw sees the same')
  t.equal((await server.get('/City?$top=-1')).text, before, 'nothing has changed')
})

t.test('a body beyond its limit', async t => {
  const server = await startServer(t, company, { config })
  const agent = await connect(t, server.url)
  const { input } = save('City', { name: 'x'.repeat(2 ** 20) })
  await t.rejects(agent.call('write', input), /larger than the limit of 1048576 bytes/)
})

/** Requests with a name that the role hides, and with one that does not exist: the answers differ in this name alone. */
const HIDDEN: readonly (readonly [says: string, hidden: string, missing: string, of: (name: string) => object])[] = [
  ['a class read', 'Company', 'Zzmpany', name => query({ class: name })],
  ['a class described', 'Company', 'Zzmpany', name => ({ tool: 'describe', input: { class: [name] } })],
  ['a class saved', 'Company', 'Zzmpany', name => save(name, { name: 'x' })],
  ['a class deleted', 'Company', 'Zzmpany', name => ({ tool: 'write', input: { class: name, delete: '1' } })],
  ['a class in an argument', 'Company', 'Zzmpany', name => code('keep', { ...ENTITY, __DATACLASS: name, __KEY: 1 })],
  ['a relation to it', 'employer', 'zzployer', name => query({ class: 'Employee', filter: `${name}.name = a` })],
  ['an attribute shown', 'salary', 'zzlary', name => query({ class: 'Employee', attributes: [name] })],
  ['an attribute in a filter', 'salary', 'zzlary', name => query({ class: 'Employee', filter: `${name} > 1` })],
  ['an attribute in an order', 'salary', 'zzlary', name => query({ class: 'Employee', orderBy: name })],
  [
    'an attribute in a sum',
    'salary',
    'zzlary',
    name => ({ tool: 'aggregate', input: { class: 'Employee', function: 'sum', attribute: name } }),
  ],
  ['an attribute saved', 'salary', 'zzlary', name => save('Employee', { lastName: 'x', [name]: 1 })],
  ['with a wrong value', 'salary', 'zzlary', name => save('Employee', { lastName: 'x', [name]: 'much' })],
  [
    'an attribute in an argument',
    'salary',
    'zzlary',
    name => code('keep', { ...ENTITY, __DATACLASS: 'Employee', __KEY: 1, [name]: 1 }),
  ],
]

t.test('what a role hides', async t => {
  const forStaff = (applyTo: string, type: string) => ({
    applyTo,
    type,
    read: ['staff'],
    create: ['staff'],
    update: ['staff'],
    drop: ['staff'],
  })
  const roles = {
    privileges: [{ privilege: 'staff' }],
    permissions: { allowed: [forStaff('Company', 'dataclass'), forStaff('Employee.salary', 'attribute')] },
  }
  const server = await startServer(t, company, { roles, config })
  const agent = await connect(t, server.url)
  for (const [says, hidden, missing, of] of HIDDEN) {
    const ask = async (name: string) => {
      const { tool, input } = of(name) as Pick<Refusal, 'tool' | 'input'>
      const { isError, text } = await agent.call(tool, input)
      t.equal(isError, true, `${says}: ${text.slice(0, 200)}`)
      return text.replaceAll(name, 'NAME').replace(/; did you mean \\?"\w+\\?"\?/g, '')
    }
    t.equal(await ask(hidden), await ask(missing), says)
  }
  // Names that the agent does not know: those of an alias, and of code.
  const UNNAMED = {
    message: 'the session has no privilege to give a value of Employee that it may not read',
    errCode: 1608,
    attribute: undefined,
  }
  for (const { says, ...request } of [
    { says: 'by an alias', ...save('Employee', { lastName: 'x', pay: 1 }) },
    { says: 'by code', ...code('create', 'Employee', { lastName: 'x', salary: 1 }) },
    { says: 'by code that changes it', ...code('change', 'Employee', 1, { salary: 1 }) },
  ]) {
    await refuse(t, agent, { says, ...request, status: 401, error: UNNAMED })
    const { text } = await agent.call(request.tool, request.input)
    t.notMatch(text, /salary/, says)
  }
  await refuse(t, agent, {
    says: 'a wrong value by an alias',
    ...save('Employee', { lastName: 'x', pay: 'much' }),
    error: { message: 'a hidden value of Employee violates the model', errCode: 1570, attribute: undefined },
  })
  await refuse(t, agent, {
    says: 'a class that code saves',
    ...code('create', 'Company', { name: 'x' }),
    error: { message: /"Company" datastore class cannot be found|no privilege/ },
  })
})
