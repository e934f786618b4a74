/** Other forms of an answer: `$format`, query plans and `$prettyprint`. */
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'
import { startServer, usualTransports } from '../support/servers/test-server.ts'
import { refused } from './compute-cases.ts'

const NUMBER = { conceptType: 'METRIC', semanticGroup: 'NUMERIC', semanticType: 'NUMBER' }
const TEXT = { conceptType: 'DIMENSION', semanticGroup: 'TEXT', semanticType: 'TEXT' }

protocolTable('$format', company, [
  {
    spec: 'P6.8',
    name: 'looker is a table',
    get: '/Company/ID,name?$top=2&$skip=1&$format=looker',
    json: {
      __COUNT: 4,
      __FIRST: 1,
      schema: [
        { name: 'ID', dataType: 'NUMBER', semantics: NUMBER },
        { name: 'name', dataType: 'STRING', semantics: TEXT },
      ],
      rows: [{ values: [2, 'Éclair'] }, { values: [3, 'zeta'] }],
      filtersApplied: false,
    },
  },
  {
    spec: 'P6.8',
    name: 'a filter is reported',
    get: '/Company/name?$filter="name=a@"&$format=looker',
    has: { __COUNT: 1, rows: [{ values: ['Acme'] }], filtersApplied: true },
  },
  {
    spec: 'P6.8',
    name: 'without a list every scalar attribute is a column, and nothing else',
    get: '/Company(1)?$format=looker',
    has: {
      schema: [
        { name: 'ID' },
        { name: 'name' },
        { name: 'revenues' },
        { name: 'founded', dataType: 'STRING', semantics: { semanticGroup: 'DATETIME' } },
        { name: 'active', dataType: 'BOOLEAN', semantics: { conceptType: 'DIMENSION' } },
        { name: 'code' },
      ],
      rows: [{ values: [1, 'Acme', 1_000_000.5, '1985-11-01', true, 'FR/1'] }],
    },
  },
  {
    spec: 'P6.8',
    name: 'attributes that are not scalars are left out of a list',
    get: '/Employee(1)/lastName,photo,employer,directReports,employerName?$format=looker',
    has: { schema: [{ name: 'lastName' }, { name: 'employerName' }], rows: [{ values: ['Lovelace', 'Acme'] }] },
  },
  {
    spec: 'P6.8',
    name: 'columns are in the order of the list, each once',
    get: '/Employee/employerName,lastName,ID,lastName?$filter="ID<3"&$orderby="ID desc"&$format=looker',
    has: { rows: [{ values: ['Acme', 'Gödel', 2] }, { values: ['Acme', 'Lovelace', 1] }] },
  },
  {
    spec: 'P6.8',
    name: 'a list without a scalar has rows without values',
    get: '/Employee(1)/photo?$format=looker',
    has: { __COUNT: 1, schema: [], rows: [{ values: [] }] },
  },
  {
    spec: 'P6.8',
    name: 'a long64 is exact in a table',
    get: '/Tag/größe?$format=looker',
    text: `{"__COUNT":2,"__FIRST":0,"schema":[{"name":"größe","dataType":"NUMBER","semantics":${JSON.stringify(NUMBER)}}],"rows":[{"values":[9223372036854775807]},{"values":[12]}],"filtersApplied":false}`,
  },
  {
    spec: 'own',
    name: 'csv has a head, and columns over relations',
    get: '/Employee?$filter="ID<3"&$orderby="ID desc"&$attributes=ID,lastName,employer.name,employer.founded&$format=csv',
    text: 'ID,lastName,employer.name,employer.founded\r\n2,Gödel,Acme,1985-11-01\r\n1,Lovelace,Acme,1985-11-01\r\n',
    headers: { 'content-type': 'text/csv; charset=UTF-8; header=present' },
  },
  {
    spec: 'own',
    name: 'csv without a list has all attributes except relations and images',
    get: '/Company(1)?$format=csv',
    text: /^ID,name,revenues,founded,active,[^\r]*\r\n1,Acme,1000000.5,1985-11-01,true,[^\r]*\r\n$/,
  },
  {
    spec: 'own',
    name: 'a wildcard in csv',
    get: '/Employee/employer.*?$top=1&$format=csv',
    text: /^employer\.ID,employer\.name,/,
  },
  {
    spec: 'own',
    name: 'a long64 is exact in csv',
    get: '/Tag/größe?$format=csv',
    text: 'größe\r\n9223372036854775807\r\n12\r\n',
  },
  {
    spec: 'own',
    name: 'ndjson is all of a selection',
    get: '/Company/name?$filter="ID<3"&$format=ndjson',
    text: /^\{"__KEY":"1",[^\n]*\}\n\{"__KEY":"2",[^\n]*\}\n$/,
  },
  {
    spec: 'own',
    name: 'ndjson of a page',
    get: '/Company/name?$top=1&$skip=3&$format=ndjson',
    text: /^\{"__KEY":"4",[^\n]*\}\n$/,
  },
  { spec: 'own', name: 'ndjson of nothing', get: '/Company/name?$filter="ID<0"&$format=ndjson', text: '' },
  { spec: 'own', name: 'csv of nothing', get: '/Company/name?$filter="ID<0"&$format=csv', text: 'name\r\n' },
  refused('P1.10', 'an unknown attribute in csv', '/Company/nothing?$format=csv', 404, [1500, 1804]),
  refused('P1.10', 'a private attribute in csv', '/Employee/secret?$format=csv', 404, [1500, 1804]),
  { spec: 'P6.8', name: 'json is the usual answer', get: '/Company?$format=json', keys: ['1', '2', '3', '4'] },
  refused('P6.8', 'another format', '/Company?$format=xml', 400, [1801]),
  refused('P1.10', 'an unknown attribute', '/Company/nothing?$format=looker', 404, [1500, 1804]),
  refused('P1.10', 'a private attribute', '/Employee/secret?$format=looker', 404, [1500, 1804]),
])

for (const transport of usualTransports) {
  t.test(`Accept on ${transport}`, async t => {
    const { get, send } = await startServer(t, company, { transport, config: { auth: { guestsAdministrate: true } } })
    const lines = 'name\r\nAcme\r\n'
    for (const [accept, type] of [
      ['text/csv', 'text/csv'],
      ['text/csv; charset=utf-8, */*;q=0.1', 'text/csv'],
      ['application/json;q=0.5, text/csv', 'text/csv'],
      ['application/ndjson', 'application/x-ndjson'],
      ['text/csv;q=0', 'application/json'],
      ['text/csv;q=0, */*', 'application/json'],
      ['text/csv;q=0.5, application/json', 'application/json'],
      ['text/csv;q=0.1, application/x-ndjson;q=0.9', 'application/x-ndjson'],
      ['text/html, application/xml', 'application/json'],
    ] as const) {
      const { headers, text } = await get('/Company/name?$filter="ID=1"', { accept })
      t.match(headers['content-type'], type, accept)
      if (type === 'text/csv') t.equal(text, lines)
      const head = await send('HEAD', '/Company/name?$filter="ID=1"', undefined, { accept })
      t.match(head.headers['content-type'], type, `HEAD ${accept}`)
    }
    const csv = { accept: 'text/csv' }
    for (const json of ['$format=json', '%24format=json'])
      t.match((await get(`/Company/name?${json}&$filter="ID=1"`, csv)).json, { __COUNT: 1 }, 'the parameter decides')
    t.equal((await get('/Company(1)/name', csv)).text, lines, 'without other parameters')
    t.match((await get('/Company/nothing', csv)).json, { __ERROR: [{ errCode: 1500 }] }, 'errors are JSON')
    const prometheus = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1'
    t.match(await get('//metrics', { accept: prometheus }), {
      status: 200,
      headers: { 'content-type': /^text\/plain/ },
    })
  })
}

const ACME = { item: '[index : Company.name ] in ["acme"]' }
const JOIN = 'Join on Table : Company : Employee.employerID = Company.ID'

protocolTable('$queryplan and $querypath', company, [
  {
    spec: 'P2.14',
    name: 'a condition is an item',
    notRemote: 'the plan shows a statement',
    get: '/Company?$filter="revenues>0"&$queryplan=true',
    has: { __queryPlan: { item: 'Company.revenues > 0' }, __entityModel: 'Company', __COUNT: 2 },
  },
  {
    spec: 'P2.14',
    name: 'a condition that an index serves says so',
    notRemote: 'the plan shows a statement',
    get: '/Company?$filter="name=Acme"&$queryplan=true',
    has: { __queryPlan: ACME },
  },
  {
    spec: 'P2.14',
    name: 'an indexed property of an object is shown as indexed',
    notRemote: 'the plan shows a statement',
    get: '/Company?$filter="info.address.city=paris"&$queryplan=true',
    has: { __queryPlan: { item: '[index : Company.info.address.city ] in ["paris"]' }, __COUNT: 1 },
  },
  {
    spec: 'P2.14',
    name: 'a relation is a join with a subquery',
    notRemote: 'the plan shows a statement',
    get: '/Employee?$filter="employer.name=Acme and salary>50000"&$queryplan=true',
    has: { __queryPlan: { And: [{ item: JOIN, subquery: [ACME] }, { item: 'Employee.salary > 50000' }] } },
  },
  {
    spec: 'P2.14',
    name: 'conjunctions connect the same conditions as in the query',
    notRemote: 'the plan shows a statement',
    get: '/Company?$filter="(name=acme or revenues>0) except not(staff.salary>1)"&$queryplan=true',
    has: {
      __queryPlan: {
        Except: [
          { Or: [ACME, { item: 'Company.revenues > 0' }] },
          { Not: [{ item: 'Join on Table : Employee : Employee.employerID = Company.ID' }] },
        ],
      },
    },
  },
  {
    spec: 'P2.14',
    name: 'the path says how many entities each step found',
    notRemote: 'the plan shows a statement',
    get: '/Employee?$filter="employer.name=Acme and salary>50000"&$querypath=true',
    has: {
      __queryPath: {
        steps: [
          {
            description: 'AND',
            time: Number,
            recordsfounds: 1,
            steps: [
              {
                description: JOIN,
                recordsfounds: 2,
                steps: [{ steps: [{ description: ACME.item, recordsfounds: 1 }] }],
              },
              { description: 'Employee.salary > 50000', recordsfounds: 1 },
            ],
          },
        ],
      },
      __COUNT: 1,
    },
  },
  {
    spec: 'P2.14',
    name: 'the path counts only entities that the steps before have left over',
    notRemote: 'the plan shows a statement',
    get: '/Employee?$filter="salary>50000 and salary>1e9 and firstName=x"&$querypath=true',
    has: {
      __queryPath: {
        steps: [{ description: 'AND', recordsfounds: 0, steps: [{}, { recordsfounds: 0 }] }],
      },
      __COUNT: 0,
    },
  },
  {
    spec: 'P2.14',
    name: 'both precede the collection, also when it is indented',
    notRemote: 'the plan shows a statement',
    get: '/City?$filter="name=x"&$top=0&$queryplan=true&$prettyprint=true',
    text: '{\n  "__queryPlan": {\n    "item": "[index : City.name ] in [\\"x\\"]"\n  },\n  "__entityModel": "City",\n  "__GlobalStamp": 16,\n  "__COUNT": 0,\n  "__FIRST": 0,\n  "__ENTITIES": [],\n  "__SENT": 0\n}',
  },
  {
    spec: 'P2.14',
    name: 'without a filter nothing is added',
    notRemote: 'commits of a database have no global stamp',
    get: '/City?$top=0&$queryplan=true&$querypath=true',
    json: { __entityModel: 'City', __GlobalStamp: 16, __COUNT: 4, __FIRST: 0, __ENTITIES: [], __SENT: 0 },
  },
  {
    spec: 'P2.14',
    name: 'a flag that is off adds nothing',
    get: '/City?$top=0&$filter="name=x"&$queryplan=false&$querypath=true',
    has: { __queryPlan: undefined, __queryPath: {} },
  },
  refused('P5.9', 'a filter that is wrong', '/City?$filter="nothing=1"&$queryplan=true', 404, [1500]),
])

protocolTable(
  '$prettyprint',
  company,
  ['$prettyprint=true', '$prettyformatting=true'].map(parameter => ({
    spec: 'P11',
    name: `${parameter} breaks the answer into lines`,
    notRemote: 'commits of a database have no global stamp',
    get: `/City?$top=0&${parameter}`,
    text: '{\n  "__entityModel": "City",\n  "__GlobalStamp": 16,\n  "__COUNT": 4,\n  "__FIRST": 0,\n  "__ENTITIES": [],\n  "__SENT": 0\n}',
  })),
)
