import { type ProtocolCase, protocolTable } from '../support/protocol-table.ts'
import { company } from '../support/fixtures/company.ts'
import { staffPlugin } from '../support/test-plugins.ts'

const result = (value: unknown) => ({ result: value })
const ada = { __entityModel: 'Employee', __KEY: '1', __STAMP: 1, lastName: 'Lovelace' }

const addresses: ProtocolCase[] = [
  { spec: '4.7', name: 'a dataclass function is called by POST', post: '/Employee/add', body: [1, 2], json: result(3) },
  { spec: '4.7', name: 'a selection function gets the whole class', post: '/Employee/total', json: result(330_000) },
  {
    spec: '4.7',
    name: 'a selection function gets what the filter leaves',
    post: '/Employee/total?$filter="woman = true"',
    json: result(240_000),
  },
  {
    spec: '4.7',
    name: 'a selection function gets the order',
    post: '/Employee/names?$orderby="lastName desc"&$filter="ID < 3"',
    json: result(['Lovelace', 'Gödel']),
  },
  {
    spec: 'P1.4',
    name: 'several keys are a selection',
    post: '/Employee(1,2)/names',
    json: result(['Lovelace', 'Gödel']),
  },
  {
    spec: '4.7',
    name: 'an entity function is called on one entity',
    get: '/Employee(1)/greet',
    json: result('Hello Ada'),
  },
  { spec: '4.7', name: 'brackets work as parentheses do', post: '/Employee[2]/greet', json: result('Hello Kurt') },
  {
    spec: 'P1.5',
    name: 'an entity can be named by another attribute',
    post: '/Employee:lastName(Gödel)/greet',
    json: result('Hello Kurt'),
  },
  {
    spec: '4.7',
    name: 'an entity that does not exist is 404',
    post: '/Employee(99)/greet',
    status: 404,
    errors: [1543],
  },
  {
    spec: '4.1',
    name: 'a datastore function is behind $catalog',
    post: '/$catalog/login',
    body: ['a', 'a'],
    json: result(true),
  },
  { spec: '4.1', name: 'by GET if it allows it', get: '/$catalog/sizes', json: result({ companies: 4, employees: 6 }) },
  {
    spec: 'P7.1',
    name: 'a singleton function has its class in the path',
    post: '/$singleton/Counter/increment',
    body: [0],
    json: result(0),
  },
  {
    spec: 'P7.1',
    name: 'the selection class comes before the dataclass',
    post: '/Employee/both',
    json: result('selection'),
  },
  {
    spec: 'P1.8',
    name: 'an entity set without id stands for what the query finds',
    post: '/Employee/total/$entityset/?$filter="woman = true"',
    json: result(240_000),
  },
  { spec: 'P6.1', name: '$none is an empty selection', post: '/Employee/total/$entityset/$none', json: result(0) },
  {
    spec: 'P7.1',
    name: 'a function that is not exposed is unknown',
    post: '/Employee/hidden',
    status: 404,
    errors: [-10729],
  },
  {
    spec: 'P7.1',
    name: 'an unknown one too',
    post: '/Employee/totl',
    status: 404,
    errors: [-10729],
    has: { __ERROR: [{ message: /did you mean "total"/ }] },
  },
  {
    spec: 'P7.1',
    name: 'by GET a name that is none is an attribute list',
    get: '/Employee/hidden',
    status: 404,
    errors: [1500, 1804],
  },
  {
    spec: 'P7.1',
    name: 'a selection function is none of an entity',
    post: '/Employee(1)/total',
    status: 404,
    errors: [-10729],
  },
  {
    spec: 'P7.1',
    name: 'a singleton that is none is unknown',
    post: '/$singleton/Countr/x',
    status: 404,
    errors: [-10729],
  },
  {
    spec: 'P7.1',
    name: 'so is one of its private functions',
    post: '/$singleton/Counter/hidden',
    status: 404,
    errors: [-10729],
  },
  {
    spec: 'P7.1',
    name: 'a function of a prototype is unknown',
    post: '/$singleton/Counter/constructor',
    status: 404,
    errors: [-10729],
  },
  {
    spec: 'P7.1',
    name: 'a function of the data API is not exposed',
    post: '/Employee/all',
    status: 404,
    errors: [-10729],
  },
]

const verbs: ProtocolCase[] = [
  {
    spec: 'P7.2',
    name: 'GET is refused where it is not allowed',
    get: '/Employee/add',
    status: 405,
    errors: [1829],
    headers: { allow: 'POST' },
  },
  { spec: 'P7.2', name: 'also on the datastore', get: '/$catalog/login', status: 405, errors: [1829] },
  {
    spec: 'P7.2',
    name: 'GET takes its arguments from $params',
    get: '/Employee/echo?$params=\'[1,"two",null]\'',
    json: result([1, 'two', null]),
  },
  { spec: 'P7.2', name: 'PUT is refused', put: '/Employee/add', status: 405, headers: { allow: 'GET, POST' } },
  { spec: 'P7.2', name: 'HEAD works where GET does', head: '/Employee(1)/greet' },
  { spec: 'P7.2', name: 'the catalog itself takes no POST', post: '/$catalog', status: 405, headers: { allow: 'GET' } },
]

const args: ProtocolCase[] = [
  {
    spec: '4.7',
    name: 'a JSON array',
    post: '/Employee/echo',
    body: [1, 'a', null, { b: [2] }],
    json: result([1, 'a', null, { b: [2] }]),
  },
  { spec: 'P7.2', name: 'no body: no arguments', post: '/Employee/echo', json: result([]) },
  {
    spec: 'P7.2',
    name: 'an object with params only',
    post: '/Employee/echo',
    body: { params: [1, 2] },
    json: result([1, 2]),
  },
  {
    spec: 'P7.2',
    name: 'another value is the only argument',
    post: '/Employee/echo',
    body: { a: 1 },
    json: result([{ a: 1 }]),
  },
  {
    spec: 'P7.3',
    name: 'dates stay texts',
    post: '/Employee/echo',
    body: ['2020-01-31T00:00:00Z'],
    json: result(['2020-01-31T00:00:00Z']),
  },
  { spec: 'P7.2', name: 'broken JSON is refused', post: '/Employee/echo', body: '[1', status: 400, errors: [1806] },
  {
    spec: 'P7.2',
    name: 'what would change prototypes is refused',
    post: '/Employee/echo',
    body: '[{"__proto__":{"a":1}}]',
    status: 400,
  },
  {
    spec: 'P7.3',
    name: 'an entity with its key is loaded',
    post: '/Employee/nameOf',
    body: [{ __ENTITY: true, __DATACLASS: 'Employee', __KEY: 2 }],
    json: result(['Gödel', false, false]),
  },
  {
    spec: 'P7.3',
    name: 'what is given with it is assigned',
    post: '/Employee/nameOf',
    body: [{ __ENTITY: true, __DATACLASS: 'Employee', __KEY: '2', lastName: 'B', employer: { __KEY: 2 } }],
    json: result(['B', false, true]),
  },
  {
    spec: 'P7.3',
    name: 'an entity without key is new',
    post: '/Employee/nameOf',
    body: [{ __ENTITY: true, __DATACLASS: 'Employee', lastName: 'N' }],
    json: result(['N', true, true]),
  },
  {
    spec: 'P7.3',
    name: 'an entity that is not there is refused',
    post: '/Employee/nameOf',
    body: [{ __ENTITY: true, __DATACLASS: 'Employee', __KEY: 77 }],
    status: 404,
    errors: [1543],
  },
  {
    spec: 'P7.3',
    name: 'a private attribute cannot be given',
    post: '/Employee/nameOf',
    body: [{ __ENTITY: true, __DATACLASS: 'Employee', __KEY: 1, secret: 'x' }],
    status: 400,
    errors: [1603],
  },
  {
    spec: 'P7.3',
    name: 'an entity of a private class neither',
    post: '/Employee/nameOf',
    body: [{ __ENTITY: true, __DATACLASS: 'Hidden', __KEY: 1 }],
    status: 400,
    errors: [1603],
  },
  {
    spec: 'P7.3',
    name: 'a value that does not fit is refused',
    post: '/Employee/nameOf',
    body: [{ __ENTITY: true, __DATACLASS: 'Employee', __KEY: 1, salary: 'much' }],
    status: 400,
  },
  {
    spec: 'P7.3',
    name: 'an unknown entity set is refused',
    post: '/Employee/countOf',
    body: [{ __DATASET: '0'.repeat(32), __ENTITIES: true }],
    status: 404,
    errors: [1802],
  },
  {
    spec: 'P7.3',
    name: 'what is no id of a set too',
    post: '/Employee/countOf',
    body: [{ __DATASET: 'x' }],
    status: 400,
    errors: [1603],
  },
]

const results: ProtocolCase[] = [
  { spec: 'P7.4', name: 'nothing is null', post: '/Employee/nothing', json: result(null) },
  { spec: 'P7.4', name: 'no entity is null', post: '/Employee/noEntity', json: result(null) },
  { spec: 'P7.4', name: 'a date is ISO text', post: '/Employee/today', json: result('2020-01-31T12:00:00.000Z') },
  {
    spec: 'P7.4',
    name: 'an integer beyond doubles is text',
    post: '/Employee/big',
    json: result({ big: '1152921504606846976', small: 5 }),
  },
  { spec: 'P7.4', name: 'an entity is sent bare', post: '/Employee(1)/self', has: ada },
  {
    spec: 'P7.4',
    name: 'only the attributes asked for',
    post: '/Employee(1)/self?$attributes=lastName',
    has: { ...ada, firstName: undefined },
  },
  {
    spec: 'P7.4',
    name: '$expand works on it',
    post: '/Employee(2)/self?$expand=manager',
    has: { manager: { __KEY: '1', lastName: 'Lovelace' } },
  },
  { spec: 'P7.4', name: 'a related entity', post: '/Employee(2)/boss', has: ada },
  {
    spec: 'P7.4',
    name: 'an entity as it is in memory',
    post: '/Employee(1)/dreamOf',
    body: [5],
    has: { ...ada, salary: 5 },
  },
  { spec: 'P7.4', name: 'it has not been saved', get: '/Employee(1)', has: { salary: 90_000, __STAMP: 1 } },
  {
    spec: 'P7.4',
    name: 'a new entity has no key',
    post: '/Employee/fresh',
    body: ['New'],
    has: { __entityModel: 'Employee', lastName: 'New', __KEY: undefined, secret: undefined },
  },
  {
    spec: 'P7.4',
    name: 'a selection is a collection',
    get: "/Employee/wellPaid?$params='[50000]'",
    has: { __entityModel: 'Employee', __FIRST: 0 },
    count: 2,
    keys: ['4', '1'],
  },
  {
    spec: 'P7.4',
    name: 'it is paged',
    get: "/Employee/wellPaid?$params='[50000]'&$top=1&$skip=1",
    count: 2,
    keys: ['1'],
    has: { __FIRST: 1, __SENT: 1 },
  },
  {
    spec: 'P7.4',
    name: 'a page past its end is empty',
    get: "/Employee/wellPaid?$params='[50000]'&$skip=9",
    count: 2,
    keys: [],
    has: { __FIRST: 9 },
  },
  {
    spec: 'P7.4',
    name: '$asArray works on it',
    get: "/Employee/wellPaid?$params='[50000]'&$asArray=true",
    keys: ['4', '1'],
  },
  {
    spec: 'P7.4',
    name: 'a selection function narrows the selection',
    get: '/Employee/women?$filter="salary > 80000"',
    count: 2,
  },
  {
    spec: 'P7.4',
    name: 'a selection of a datastore function',
    get: '/$catalog/companies?$top=2&$attributes=name',
    count: 4,
    keys: ['1', '2'],
  },
  {
    spec: 'P7.4',
    name: 'entities inside of objects are objects without what is private',
    post: '/Employee/couple',
    has: {
      result: {
        first: { lastName: 'Lovelace', secret: undefined },
        all: [{ lastName: 'Lovelace' }, { lastName: 'Gödel' }],
      },
    },
  },
  {
    spec: 'P7.4',
    name: 'text is text/plain',
    get: '/$catalog/export?$params=\'["csv"]\'',
    text: 'id;name\n1;Ada',
    headers: { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename="staff.csv"' },
  },
  {
    spec: 'P7.4',
    name: 'bytes are sent as they are',
    get: '/$catalog/export?$params=\'["bytes"]\'',
    text: '\x01\x02\x03',
    headers: { 'content-type': 'application/octet-stream' },
  },
  {
    spec: 'P7.4',
    name: 'an object is JSON',
    get: '/$catalog/export?$params=\'["json"]\'',
    json: { a: 1 },
    headers: { 'content-type': /application\/json/ },
  },
  {
    spec: 'P7.4',
    name: 'a redirect',
    get: '/$catalog/export?$params=\'["redirect"]\'',
    status: 303,
    text: '',
    headers: { location: '/elsewhere' },
  },
  {
    spec: 'P7.4',
    name: 'a header cannot be split',
    get: '/$catalog/export?$params=\'["a\\r\\nSet-Cookie: b"]\'',
    status: 500,
    errors: [1562],
  },
  {
    spec: 'P7.4',
    name: 'a promise is refused',
    post: '/Employee/later',
    status: 500,
    errors: [1562],
    has: { __ERROR: [{ message: /promise/ }] },
  },
  { spec: 'P7.4', name: 'what JSON cannot hold is refused', post: '/Employee/circle', status: 500, errors: [1562] },
  {
    spec: 'P7.4',
    name: 'an exception is 500 without its text',
    post: '/Employee/fails',
    status: 500,
    errors: [1562],
    has: { __ERROR: [{ message: /^the function Employee\.fails failed with Error; / }] },
  },
  {
    spec: 'P7.4',
    name: 'an error object goes through',
    post: '/Employee/refuses',
    status: 500,
    json: { __ERROR: [{ message: 'not on Sundays', componentSignature: 'acme', errCode: 4711 }] },
  },
  {
    spec: 'P7.4',
    name: 'an error of the data API goes through',
    post: '/Employee/badQuery',
    status: 404,
    errors: [1500],
  },
  { spec: 'P7.4', name: 'the settings of the plugin have arrived', post: '/Employee/bonus', json: result(100) },
]

const catalog: ProtocolCase[] = [
  {
    spec: 'D2',
    name: 'a dataclass lists its exposed functions',
    get: '/$catalog/Employee',
    has: {
      methods: [
        { name: 'wellPaid', applyTo: 'dataClass', scope: 'public', allowedOnHTTPGET: true, exposed: true },
        { name: 'add', applyTo: 'dataClass', scope: 'public', allowedOnHTTPGET: false, exposed: true },
      ],
    },
  },
  { spec: 'D2', name: 'one without functions has no methods', get: '/$catalog/City', has: { methods: undefined } },
  {
    spec: '2.4',
    name: 'singletons are listed with their functions',
    get: '/$catalog',
    has: {
      singletons: [
        {
          name: 'Counter',
          methods: [
            { name: 'increment', allowedOnHTTPGET: false, exposed: true },
            { name: 'current', allowedOnHTTPGET: true, exposed: true },
          ],
        },
      ],
    },
  },
  { spec: '2.4', name: 'also in $all', get: '/$catalog/$all', has: { singletons: [{ name: 'Counter' }] } },
]

const config = { plugins: [staffPlugin], functions: { threads: 1 } }
protocolTable('addresses of functions', company, addresses, { config })
protocolTable('verbs of functions', company, verbs, { config })
protocolTable('arguments of functions', company, args, { config })
protocolTable('results of functions', company, results, { config })
protocolTable('functions in the catalog', company, catalog, { config })
