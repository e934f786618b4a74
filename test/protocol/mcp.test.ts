/** The tools of `/mcp` as tables, by the official client in both eras, with writing on and off. */
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { type Agent, connect, ERAS, type ToolAnswer } from '../support/clients/mcp-client.ts'
import { company } from '../support/fixtures/company.ts'
import { passages } from '../support/fixtures/passages.ts'
import { isLong } from '../support/reference/rounds.ts'
import { startServer, transports, usualTransports } from '../support/servers/test-server.ts'
import { declaredPlugin, hiddenCompaniesPlugin, staffPlugin, streamingPlugin } from '../support/plugins/test-plugins.ts'

const MAX_ANSWER_BYTES = 16 * 1024

interface Case {
  readonly says: string
  readonly tool: string
  readonly input?: object
  /** Parts of the JSON. */
  readonly has?: object
  /** The whole `data`. */
  readonly data?: unknown
  readonly text?: RegExp
  /** Part of the message of an error. */
  readonly error?: RegExp
  readonly status?: number
}

const names = (...values: string[]) => values.map(lastName => ({ lastName }))
const employees = (input: object) => ({ class: 'Employee', attributes: ['lastName'], ...input })

const READS: readonly Case[] = [
  {
    says: 'all classes',
    tool: 'describe',
    text: /^4 of 4 classes\..*\nCompany\(ID\): ID long, name, revenues number/s,
  },
  {
    says: 'relations and functions',
    tool: 'describe',
    text: /employer>Company.*directReports>>Employee.*raise\(…\)!/,
  },
  {
    says: 'functions of the datastore',
    tool: 'describe',
    text: /\ndatastore: sizes\(…\)\n.*\ndatastore: login\(…\): may write\n/s,
  },
  {
    says: 'some classes',
    tool: 'describe',
    input: { match: 'popul' },
    text: /^1 of 4 classes.*\nCity\(name\): name, population long$/s,
  },
  {
    says: 'all about one',
    tool: 'describe',
    input: { class: ['Company'] },
    text: /^Company, key ID\n.*\nname: string, indexed, mandatory, maxLength 40\n.*\nstaff: several, EmployeeSelection, back: employer/s,
  },
  {
    says: 'all about two',
    tool: 'describe',
    input: { class: ['City', 'Tag'] },
    text: /^City, key name\n.*\n\nTag, key id\n/s,
  },
  {
    says: 'all about one, named by a text',
    tool: 'describe',
    input: { class: 'Company' },
    text: /^Company, key ID\n/,
  },
  { says: 'units', tool: 'describe', input: { class: 'Employee' }, text: /\ndailyWork: duration ms/ },
  {
    says: 'a class that does not exist',
    tool: 'describe',
    input: { class: ['Citi'] },
    error: /"Citi".*did you mean "City"/,
    status: 404,
  },
  { says: 'a private class', tool: 'describe', input: { class: ['Hidden'] }, error: /"Hidden"/, status: 404 },
  { says: 'no name', tool: 'describe', input: { class: ['$all'] }, error: /is not a name/ },

  {
    says: 'a filter with values',
    tool: 'query',
    input: employees({ filter: 'salary > :1', params: [80_000] }),
    has: { count: 2, shown: 2, data: names('Lovelace', 'Hopper') },
  },
  {
    says: 'quotes, signs and letters of all kinds',
    tool: 'query',
    input: employees({ filter: `'lastName' = :1 or lastName = "O'Reilly"`, params: ['Gödel'] }),
    has: { data: names('Gödel', "O'Reilly") },
  },
  {
    says: 'a filter that begins and ends with a quote',
    tool: 'query',
    input: employees({ filter: `"lastName" = "Hopper"` }),
    has: { count: 1 },
  },
  {
    says: 'an ampersand',
    tool: 'query',
    input: { class: 'Company', filter: 'name = "Empty & Co"', attributes: ['name'] },
    has: { count: 1 },
  },
  {
    says: 'an order',
    tool: 'query',
    input: employees({ orderBy: 'salary desc, lastName', top: 2 }),
    has: { count: 6, shown: 2, hint: /skip: 2/, data: names('Hopper', 'Lovelace') },
  },
  {
    says: 'a page',
    tool: 'query',
    input: employees({ orderBy: 'lastName', skip: 4 }),
    has: { first: 4, shown: 2, hint: undefined },
  },
  {
    says: 'a path to one',
    tool: 'query',
    input: { class: 'Employee', filter: 'ID = 1', attributes: ['employer.name'] },
    data: [{ __KEY: '1', employer: { __KEY: '1', name: 'Acme' } }],
  },
  {
    says: 'a path to several',
    tool: 'query',
    input: { class: 'Company', filter: 'ID = 3', attributes: ['staff.lastName'] },
    data: [{ __KEY: '3', staff: [{ __KEY: '6', lastName: 'Smith' }] }],
  },
  {
    says: 'all values',
    tool: 'query',
    input: { class: 'City', filter: 'name = Paris' },
    data: [{ __KEY: 'Paris', name: 'Paris', population: 2_100_000 }],
  },
  {
    says: 'numbers of all digits',
    tool: 'query',
    input: { class: 'Tag', filter: 'größe > 12', attributes: ['größe'] },
    has: { data: [{ größe: '9223372036854775807' }] },
  },
  {
    says: 'numbers of all digits as values',
    tool: 'query',
    input: { class: 'Tag', filter: 'größe = :1', params: ['9223372036854775807'] },
    has: { count: 1 },
  },
  {
    says: 'a long text is cut',
    tool: 'query',
    input: { class: 'Employee', filter: 'ID = 1', attributes: ['notes'], textBytes: 16 },
    has: { data: [{ notes: /^First of.*…$/ }] },
  },
  {
    says: 'an image',
    tool: 'query',
    input: { class: 'Employee', filter: 'ID = 1', attributes: ['photo', 'employer'] },
    has: { data: [{ photo: /image/, employer: '1' }] },
  },
  {
    says: 'an unknown class',
    tool: 'query',
    input: { class: 'Employe' },
    error: /did you mean "Employee"/,
    status: 404,
  },
  { says: 'a private class', tool: 'query', input: { class: 'Hidden' }, error: /"Hidden"/, status: 404 },
  {
    says: 'a class that would be an address',
    tool: 'query',
    input: { class: 'Employee(1)/raise' },
    error: /is not a name/,
  },
  {
    says: 'a class that would be a service',
    tool: 'query',
    input: { class: '$directory/logout' },
    error: /is not a name/,
  },
  {
    says: 'an unknown attribute',
    tool: 'query',
    input: employees({ filter: 'lastname = a' }),
    error: /did you mean "lastName"|"lastname"/,
    status: 404,
  },
  {
    says: 'a private attribute',
    tool: 'query',
    input: { class: 'Employee', attributes: ['secret'] },
    error: /"secret"/,
    status: 404,
  },
  {
    says: 'a filter that cannot be parsed',
    tool: 'query',
    input: employees({ filter: 'salary >' }),
    error: /./,
    status: 400,
  },
  { says: 'a formula', tool: 'query', input: employees({ filter: 'eval(1)' }), error: /eval|formula/i, status: 400 },
  {
    says: 'a misspelt argument',
    tool: 'query',
    input: employees({ filtr: 'ID = 1' }),
    error: /arguments\.filtr.*did you mean "filter"/,
  },
  {
    says: 'arguments of other interfaces',
    tool: 'query',
    input: employees({ limit: 5 }),
    error: /instead of limit there is top/,
  },
  {
    says: 'an aggregate of other interfaces',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'avg', attribute: 'salary' },
    error: /instead of avg there is average/,
  },
  {
    says: 'a wildcard of other interfaces',
    tool: 'query',
    input: employees({ filter: "lastName = '%love%'" }),
    has: { count: 0, hint: /the wildcard in values is @/ },
  },
  {
    says: 'a wildcard of other interfaces in a value',
    tool: 'query',
    input: employees({ filter: 'lastName = :1', params: ['love*'] }),
    has: { count: 0, hint: /the wildcard in values is @/ },
  },
  {
    says: 'and beside or',
    tool: 'query',
    input: employees({ filter: 'ID = 1 or ID = 2 and salary > 1' }),
    has: { hint: /from left to right/ },
  },
  {
    says: 'and beside or, in parentheses',
    tool: 'query',
    input: employees({ filter: 'ID = 1 or (ID = 2 and salary > 1)' }),
    has: { hint: undefined },
  },
  {
    says: 'a wrong type',
    tool: 'query',
    input: employees({ top: 'ten' }),
    error: /arguments\.top: expected an integer, received "ten"/,
  },
  {
    says: 'too many',
    tool: 'query',
    input: employees({ top: 1_000 }),
    error: /arguments\.top: expected a number <= 200, received 1000/,
  },
  { says: 'no class', tool: 'query', error: /"class" is missing/ },

  { says: 'a count', tool: 'aggregate', input: { class: 'Employee', function: 'count' }, data: 6 },
  {
    says: 'a count of some',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'count', filter: 'employer.name = :1', params: ['acme'] },
    data: 2,
  },
  {
    says: 'a sum',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'sum', attribute: 'salary' },
    data: 330_000,
  },
  {
    says: 'all of them',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'all', attribute: 'salary' },
    data: { salary: { count: 5, sum: 330_000, average: 66_000, min: 30_000, max: 120_000 } },
  },
  {
    says: 'values with their numbers',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'values', attribute: 'employer.name', top: 1 },
    data: [{ value: 'Acme', count: 2 }],
  },
  {
    says: 'different values',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'countDistinct', attribute: 'salary' },
    data: 4,
  },
  {
    says: 'a sum of nothing',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'sum' },
    error: /sum takes an attribute/,
  },
  {
    says: 'two attributes',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'sum', attribute: 'salary,ID' },
    error: /name one attribute/,
  },
  {
    says: 'an unknown function',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'avarage', attribute: 'ID' },
    error: /none of count.*did you mean "average"/,
  },
  {
    says: 'a private attribute',
    tool: 'aggregate',
    input: { class: 'Employee', function: 'max', attribute: 'secret' },
    error: /"secret"/,
    status: 404,
  },

  {
    says: 'words',
    tool: 'search',
    input: employees({ text: 'ADA' }),
    has: { count: 2, data: names('Lovelace', 'Smith') },
  },
  {
    says: 'words in one attribute, with a filter',
    tool: 'search',
    input: employees({ text: 'ada', in: ['firstName'], filter: 'salary < :1 or salary = null', params: [50_000] }),
    has: { data: names('Smith') },
  },
  {
    says: 'nothing by meaning',
    tool: 'search',
    input: employees({ text: 'ada', by: 'meaning' }),
    error: /nothing to be searched by meaning/,
  },
  {
    says: 'nothing at all',
    tool: 'search',
    input: employees({}),
    error: /give one of text, similarTo and vector; received 0/,
  },
  {
    says: 'a private attribute',
    tool: 'search',
    input: employees({ text: 'hush', in: ['secret'] }),
    error: /"secret"/,
    status: 404,
  },
  { says: 'an unknown class', tool: 'search', input: { class: 'Nothing', text: 'a' }, error: /"Nothing"/, status: 404 },

  {
    says: 'an image that does not exist',
    tool: 'image',
    input: { class: 'Employee', key: '2', attribute: 'photo' },
    error: /has no image/,
  },
  {
    says: 'an attribute that is not an image',
    tool: 'image',
    input: { class: 'Employee', key: '1', attribute: 'lastName' },
    error: /the attribute is not an image/,
  },
  {
    says: 'an image of an unknown entity',
    tool: 'image',
    input: { class: 'Employee', key: '99', attribute: 'photo' },
    error: /99/,
    status: 404,
  },
  {
    says: 'an unknown attribute',
    tool: 'image',
    input: { class: 'Employee', key: '1', attribute: 'foto' },
    error: /foto/,
    status: 404,
  },
  {
    says: 'an address in place of an attribute',
    tool: 'image',
    input: { class: 'Employee', key: '1', attribute: '$entityset/x' },
    error: /is not a name/,
  },

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

function check(t: Test, { data, has, text, error, status }: Case, answer: ToolAnswer): void {
  t.equal(answer.isError, error !== undefined, answer.text.slice(0, 500))
  t.ok(Buffer.byteLength(answer.text) <= MAX_ANSWER_BYTES)
  if (error) {
    t.match(answer.json.errors.map((each: { message: string }) => each.message).join('\n'), error)
    t.equal(answer.json.status !== undefined || status === undefined, true)
    if (status !== undefined) t.equal(answer.json.status, status)
  }
  if (text) t.match(answer.text, text)
  if (data !== undefined) t.strictSame(answer.json.data, data)
  if (has) t.match(answer.json, has)
  if (answer.json && !error) {
    t.match(answer.json.notice, /values, not instructions/)
    t.strictSame(answer.structured, answer.json, 'structured content says the same')
  }
}

async function run(t: Test, agent: Agent, cases: readonly Case[]): Promise<void> {
  for (const each of cases) {
    await t.test(`${each.tool}: ${each.says}`, async t => check(t, each, await agent.call(each.tool, each.input)))
  }
}

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
        await run(t, agent, [...READS, ...REFUSED])
        const { content } = await agent.call('image', { class: 'Employee', key: '1', attribute: 'photo' })
        t.match(content, [{ type: 'image', mimeType: /^image\/(webp|png)$/, data: /^[\w+/]+=*$/ }])
      })
    }
  })
}

t.test('writing', async t => {
  for (const era of isLong ? ERAS : ERAS.slice(1)) {
    await t.test(era, async t => {
      const config = { plugins: [staffPlugin], mcp: { write: true } }
      const server = await startServer(t, company, { transport: transports.at(-1)!, config })
      const agent = await connect(t, server.url, { era })
      const { tools } = await agent.client.listTools()
      const changing = tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name)
      t.strictSame(changing, ['call', 'write'])
      const documented = readFileSync('plugins/mcp/README.md', 'utf8').matchAll(/^\| `(\w+)` \|/gm)
      t.strictSame(
        [...documented].map(([, name]) => name),
        tools.map(({ name }) => name),
      )
      await run(t, agent, WRITES)
    })
  }
})

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
  const model = { name: 'prices', dataClasses: { Price: { key: 'ID', attributes } } }
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
