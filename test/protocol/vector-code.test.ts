import { passages } from '../support/fixtures/passages.ts'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { passagesPlugin, shelvesPlugin } from '../support/plugins/test-plugins.ts'

const X = [1, 0, 0]

const result = (name: string, path: string, value: unknown): ProtocolCase => ({
  spec: '4.7',
  name,
  get: path,
  json: { result: value },
})
const selects = (name: string, path: string, keys: readonly string[]): ProtocolCase => ({
  spec: '4.7',
  name,
  get: path,
  keys,
})
const finds = (name: string, body: unknown[], keys: readonly string[]): ProtocolCase => ({
  spec: '4.7',
  name,
  post: '/Passage/find',
  body,
  keys,
})
const params = encodeURIComponent(JSON.stringify([{ vector: X, threshold: -2 }]))

protocolTable(
  'vectors in function code',
  passages,
  [
    finds('a condition', ['embedding > :1', { vector: X, threshold: 0.7 }], ['1', '2']),
    finds('the metric and the threshold have defaults', ['embedding > :1', { vector: X }], ['1', '2', '7']),
    finds(
      'each placeholder has its own',
      ['embedding <= :1 and embedding > :2', { vector: X, metric: 'euclidean', threshold: 1 }, { vector: X }],
      ['1', '2'],
    ),
    finds(
      'the order by its score',
      ['embedding > :1 order by embedding', { vector: X, threshold: -2 }],
      ['4', '3', '7', '2', '1'],
    ),
    finds(
      'ascending distances',
      ['embedding >= :1 order by embedding asc', { vector: X, metric: 'euclidean', threshold: 0 }],
      ['1', '2', '5', '3', '4', '7'],
    ),
    finds(
      'without a threshold the nearest first',
      ['embedding > :1', { vector: X, threshold: null }],
      ['1', '2', '7', '3', '4'],
    ),
    finds('through 1→N', ['book.passages.embedding > :1', { vector: [0, 1, 0], threshold: 0.9 }], ['3', '4']),
    selects('a placeholder with a name', '/Passage/byName', ['1', '2']),
    selects('a vector of an entity, as a Float32Array', '/Passage/likeTheFirst', ['2', '7', '3', '4']),
    selects('inside another selection', '/Passage/inside', ['2', '7', '3', '4']),
    selects('from an entity', '/Passage(1)/nearest', ['2', '7']),
    result('selections are combined', '/Passage/algebra', [[2, 7], [1, 2, 3, 7], [1]]),
    result('aggregates', '/Passage/aggregates', [10, 7, ['long', 'near', 'same'], 3, 3]),
    result('through N→1', '/Passage/through', [1, 2, 6]),
    result(
      'a selection function receives the filtered entities, in their order',
      `/Passage/keys?$filter="embedding > :1"&$params=${params}&$orderby="embedding desc"`,
      [1, 2, 7, 3, 4],
    ),
    // Calculated attributes
    selects('a query handler may ask for similar ones', '/Passage?$filter="topic = x"', ['1', '2', '7']),
    selects('beside others', '/Passage?$filter="topic = x and page > 1"&$orderby=topic', ['7', '2']),
    {
      spec: 'P3.8',
      name: 'an attribute computed from a vector',
      get: '/Passage(2)/doubled,topic',
      has: { doubled: [1.6, 1.2, 0], topic: 'x' },
    },
  ],
  { config: { plugins: [passagesPlugin] } },
)

const refuses = (name: string, path: string, body: unknown[], message: RegExp): ProtocolCase => ({
  spec: '4.7',
  name,
  post: path,
  body,
  status: path.includes('put') ? 422 : 500,
  has: { __ERROR: [{ message }] },
})
/** The log says why a query of code is refused. */
const FAULT = /failed with UsageError/
const strange = (name: string, message: RegExp): ProtocolCase[] => [
  refuses(`${name} as a question`, '/Passage/findStrange', [name], FAULT),
  {
    spec: '4.7',
    name: `the code learns why ${name} is none`,
    post: '/Passage/whyStrange',
    body: [name],
    has: { result: message },
  },
  refuses(`${name} as a value`, '/Passage/putStrange', [name], message),
]

protocolTable(
  'vectors that function code passes',
  passages,
  [
    {
      spec: '4.7',
      name: 'an array is saved',
      post: '/Passage/put',
      body: [1, [0.1, 2, 3]],
      has: { result: { success: true } },
    },
    {
      spec: '4.7',
      name: 'a Float32Array is saved',
      post: '/Passage/putSingles',
      body: [2, [0.1, 2, 3]],
      has: { result: { success: true } },
    },
    { spec: '4.7', name: 'and read as short decimals', get: '/Passage(2)', has: { embedding: [0.1, 2, 3] } },
    {
      spec: '4.7',
      name: 'both are found',
      get: `/Passage?$filter="embedding <= :1"&$params='[{"vector":[0.1,2,3],"metric":"euclidean","threshold":0}]'`,
      keys: ['1', '2'],
    },
    refuses('another dimension', '/Passage/put', [1, [1, 2]], /an array of 2; an array of 3 numbers/),
    refuses('a text inside', '/Passage/put', [1, [1, '2', 3]], /a string at position 1/),
    refuses('too large', '/Passage/put', [1, [1, 1e39, 3]], /1e\+39, which a Float32 cannot hold/),
    refuses('no vector', '/Passage/find', ['embedding > :1', 5], FAULT),
    {
      spec: 'P1.6',
      name: 'an order without a condition',
      post: '/Passage/find',
      body: ['page > 1 order by embedding'],
      status: 500,
      errors: [1562],
    },
    ...strange('NaN', /NaN, which a Float32 cannot hold/),
    ...strange('sparse', /an array with nothing at position 0/),
    ...strange('like', /a value of type object/),
    ...strange('short', /an array of 2/),
    { spec: '4.7', name: 'nothing of that is saved', get: '/Passage(1)', has: { embedding: [0.1, 2, 3], __STAMP: 2 } },
    // Integers of parameters beyond 2^53 are bigints.
    {
      spec: '4.7',
      name: 'bigints are numbers',
      post: '/Passage/putStrange',
      body: ['bigint'],
      has: { result: { success: true } },
    },
    { spec: '4.7', name: 'they are saved as such', get: '/Passage(1)', has: { embedding: [1, 2, 3], __STAMP: 3 } },
  ],
  { config: { plugins: [passagesPlugin] } },
)

const body = (vector: number[], threshold: number | null, more: object = {}) => ({
  $filter: 'embedding > :1',
  $params: [{ vector, threshold }],
  ...more,
})

protocolTable(
  'vectors of entities that a restrict event hides',
  passages,
  [
    { spec: 'P8.9', name: 'the event itself asks for similar ones', get: '/Passage', keys: ['1', '2', '7'] },
    {
      spec: 'P8.9',
      name: 'a threshold finds nothing else',
      post: '/Passage/$query',
      body: body([0, 1, 0], 0.5),
      keys: ['2', '7'],
    },
    {
      spec: 'P8.9',
      name: 'nor an order by scores',
      post: '/Passage/$query',
      body: body([0, 1, 0], null, { $top: 2 }),
      keys: ['7', '2'],
      count: 3,
    },
    {
      spec: 'P8.9',
      name: 'nor a path from elsewhere',
      post: '/Book/$query',
      body: { $filter: 'passages.embedding > :1', $params: [{ vector: [0, 1, 0], threshold: 0.9 }] },
      keys: [],
    },
    {
      spec: 'P8.9',
      name: 'nor its opposite',
      post: '/Passage/$query',
      body: { $filter: 'not(embedding > :1)', $params: [{ vector: [0, 1, 0], threshold: 0.7 }] },
      keys: ['1', '2'],
    },
    { spec: 'P8.9', name: 'nor function code', get: '/Passage/nearest', keys: ['7', '2', '1'] },
    {
      spec: 'P8.9',
      name: 'nor $compute',
      post: '/Passage/page/$query',
      body: body([0, 1, 0], -2, { $compute: 'sum' }),
      text: '10',
    },
  ],
  { config: { plugins: [shelvesPlugin] } },
)
