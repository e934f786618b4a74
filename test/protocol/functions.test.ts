/** Functions of plugins: addresses, verbs and the catalog. */
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { company } from '../support/fixtures/company.ts'
import { config, result } from './function-answers.ts'

/** Headers that keep a browser from running the content of an answer. */
const ISOLATED = {
  'content-security-policy': /(^|; )sandbox$/,
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

const addresses: ProtocolCase[] = [
  { spec: '4.7', name: 'a dataclass function is called by POST', post: '/Employee/add', body: [1, 2], json: result(3) },
  {
    spec: '4.7',
    name: 'a selection function receives the whole class',
    post: '/Employee/total',
    json: result(330_000),
  },
  {
    spec: '4.7',
    name: 'a selection function receives the filtered entities',
    post: '/Employee/total?$filter="woman = true"',
    json: result(240_000),
  },
  {
    spec: '4.7',
    name: 'a selection function receives the order',
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
    name: 'an entity cannot be named by an attribute that is not unique',
    post: '/Employee:lastName(Gödel)/greet',
    status: 400,
    errors: [1813],
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
    name: 'an entity set without id stands for the result of the query',
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
    name: 'by GET a name that is not a function is an attribute list',
    get: '/Employee/hidden',
    status: 404,
    errors: [1500, 1804],
  },
  {
    spec: 'P7.1',
    name: 'a selection function cannot be called on an entity',
    post: '/Employee(1)/total',
    status: 404,
    errors: [-10729],
  },
  {
    spec: 'P7.1',
    name: 'a class that is not a singleton is unknown',
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
  {
    spec: 'P7.2',
    name: 'HEAD works where GET does',
    head: '/Employee(1)/greet',
    text: '',
    headers: { 'content-type': /json/ },
  },
  {
    spec: '4.1',
    name: 'an unknown datastore function is not found, whatever the verb',
    post: '/$catalog/logn',
    status: 404,
    errors: [-10729],
    has: { __ERROR: [{ message: /has no function "logn"; did you mean "login"\?/ }] },
  },
  { spec: '4.1', name: 'nor by GET', get: '/$catalog/logn', status: 404, errors: [1800] },
  { spec: 'P7.2', name: 'a description takes no POST', post: '/$catalog/Employee', status: 405, errors: [1813] },
  { spec: 'P7.2', name: 'nor do all descriptions', post: '/$catalog/$all', status: 405, errors: [1813] },
  {
    spec: 'P7.4',
    name: 'an image that a function sends cannot run in a browser',
    get: '/$catalog/export?$params=["svg"]',
    text: '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    headers: { ...ISOLATED, 'content-type': 'image/svg+xml' },
  },
  {
    spec: 'P7.4',
    name: 'nor can a page',
    get: '/$catalog/export?$params=["page"]',
    headers: { ...ISOLATED, 'content-type': 'text/html' },
  },
  {
    spec: 'P7.4',
    name: 'unless its function says what it may do',
    get: '/$catalog/export?$params=["page%20that%20may"]',
    headers: { 'content-security-policy': "default-src 'self'", 'x-content-type-options': 'nosniff' },
  },
  { spec: 'P7.2', name: 'the catalog itself takes no POST', post: '/$catalog', status: 405, headers: { allow: 'GET' } },
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
  {
    spec: '4.1',
    name: 'which lists those of the datastore too',
    get: '/$catalog/$all',
    has: { methods: [{ name: 'sizes', applyTo: 'dataStore', scope: 'public', allowedOnHTTPGET: true, exposed: true }] },
  },
]

protocolTable('addresses of functions', company, addresses, { config })
protocolTable('verbs of functions', company, verbs, { config })

protocolTable('functions in the catalog', company, catalog, { config })
