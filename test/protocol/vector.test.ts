import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { passages } from '../support/fixtures/passages.ts'

const X = [1, 0, 0]

type Expected = Partial<ProtocolCase>

/** A request with a filter, `$params` and further query parameters. */
const ask = (
  spec: string,
  name: string,
  filter: string,
  params: unknown,
  more: string,
  expected: Expected,
): ProtocolCase => ({
  spec,
  name: `${name}: ${filter}`,
  get: `/Passage?$filter="${encodeURIComponent(filter)}"&$params='${
    typeof params === 'string' ? params : encodeURIComponent(JSON.stringify(params))
  }'${more}`,
  ...expected,
})
const finds = (spec: string, name: string, filter: string, params: unknown, keys: string[], more = ''): ProtocolCase =>
  ask(spec, name, filter, params, more, { keys, count: keys.length })
const refuses = (
  spec: string,
  name: string,
  filter: string,
  params: unknown,
  error: number,
  text: RegExp,
  more = '',
): ProtocolCase =>
  ask(spec, name, filter, params, more, { status: 400, errors: [error], has: { __ERROR: [{ message: text }] } })

const cosine = (threshold: number | null) => [{ vector: X, metric: 'cosine', threshold }]
const dot = (threshold: number) => [{ vector: X, metric: 'dot', threshold }]
const euclidean = (threshold: number) => [{ vector: X, metric: 'euclidean', threshold }]

protocolTable('vectors in $filter', passages, [
  // Metrics and comparators
  finds('4.3.2', 'the metric is cosine and the threshold 0.5', 'embedding > :1', [{ vector: X }], ['1', '2', '7']),
  finds('4.3.2', 'cosine above', 'embedding > :1', cosine(0.8), ['1']),
  finds('P2.12', 'cosine below', 'embedding < :1', cosine(0.6), ['3', '4']),
  finds('P2.12', 'cosine from 1 on finds vectors of the same direction', 'embedding >= :1', cosine(1), ['1']),
  finds('P2.12', 'cosine up to -1 finds vectors of the opposite direction', 'embedding <= :1', cosine(-1), ['4']),
  finds('P2.12', 'dot above', 'embedding > :1', dot(0.9), ['1', '7']),
  finds('P2.12', 'dot below, a zero vector too', 'embedding < :1', dot(0.5), ['3', '4', '5']),
  finds('P2.12', 'dot up to 0', 'embedding <= :1', dot(0), ['3', '4', '5']),
  finds('P2.12', 'euclidean up to: the near ones', 'embedding <= :1', euclidean(1), ['1', '2', '5']),
  finds('P2.12', 'euclidean above: the far ones', 'embedding > :1', euclidean(1), ['3', '4', '7']),
  finds('P2.12', 'a vector has distance 0 from itself', 'embedding <= :1', euclidean(0), ['1']),
  finds(
    'P2.12',
    'the default threshold applies to distances too',
    'embedding < :1',
    [{ vector: X, metric: 'euclidean' }],
    ['1'],
  ),
  finds('P2.12', 'a zero vector has no cosine with anything', 'embedding <= :1', [{ vector: [0, 0, 0] }], []),
  finds('P2.12', 'but a distance', 'embedding <= :1', [{ vector: [0, 0, 0], metric: 'euclidean' }], ['5']),
  finds('P2.12', 'a threshold that no vector reaches', 'embedding > :1', cosine(1e308), []),
  finds('P2.12', 'a threshold that all vectors reach', 'embedding > :1', dot(-1e308), ['1', '2', '3', '4', '5', '7']),
  finds('P1.3', 'lax object literals', 'embedding > :1', '[{vector:[1,0,0],threshold:0.9}]', ['1']),
  // With other conditions
  finds('P2.12', 'AND', 'embedding > :1 and page > 1', cosine(0.5), ['2', '7']),
  finds('P2.12', 'OR', 'embedding > :1 or page = 6', cosine(0.9), ['1', '6']),
  finds('P2.12', 'EXCEPT', 'embedding > :1 except text = near', cosine(0.5), ['1', '7']),
  finds('D2', 'NOT leaves out entities without a score', 'not (embedding > :1)', cosine(0.5), ['3', '4']),
  finds('D2', 'NOT of a group', 'not (embedding > :1 or page = 4)', cosine(0.5), ['3']),
  finds(
    'P2.12',
    'two conditions, each with its own vector',
    'embedding > :1 and embedding > :2',
    [{ vector: X }, { vector: [0, 1, 0], threshold: 0.7 }],
    ['7'],
  ),
  finds('P2.12', 'in parentheses', '(embedding > :1 or page = 6) and page < 7', cosine(0.5), ['1', '2', '6']),
  finds('P2.8', '= null', 'embedding = null', [], ['6']),
  finds('P2.8', '!= null', 'embedding != null', [], ['1', '2', '3', '4', '5', '7']),
  finds('P3.9', 'an alias of a vector', 'meaning > :1', cosine(0.9), ['1']),
  finds(
    'P2.9',
    'through N→1',
    'book.cover <= :1',
    [{ vector: [0, 0], metric: 'euclidean', threshold: 1 }],
    ['1', '2', '6'],
  ),
  {
    spec: 'P2.9',
    name: 'through 1→N',
    get: `/Book?$filter="passages.embedding > :1"&$params='[{"vector":[0,1,0],"threshold":0.9}]'`,
    keys: ['2'],
  },
  {
    spec: 'extension',
    name: 'through 1→N, all that have a score, which no order limits to the nearest',
    get: `/Book?$filter="passages.embedding > :1"&$params='[{"vector":[0,1,0],"threshold":null}]'`,
    keys: ['1', '2'],
  },
  // Order
  finds(
    'P2.12',
    'the highest score first',
    'embedding > :1',
    cosine(-2),
    ['1', '2', '7', '3', '4'],
    '&$orderby="embedding desc"',
  ),
  finds(
    'P2.12',
    'the lowest score first',
    'embedding > :1',
    cosine(-2),
    ['4', '3', '7', '2', '1'],
    '&$orderby="embedding"',
  ),
  finds(
    'P2.12',
    'ascending distances',
    'embedding >= :1',
    euclidean(0),
    ['1', '2', '5', '3', '4', '7'],
    '&$orderby=embedding',
  ),
  finds('P1.6', 'order by in the text', 'embedding > :1 order by embedding desc', dot(-9), [
    '7',
    '1',
    '2',
    '3',
    '5',
    '4',
  ]),
  finds(
    'P2.12',
    'several conditions: the first one decides',
    'embedding > :1 and embedding > :2',
    [
      { vector: [0, 1, 0], threshold: -2 },
      { vector: X, threshold: -2 },
    ],
    ['3', '7', '2', '1', '4'],
    '&$orderby="embedding desc"',
  ),
  finds(
    'P2.12',
    'no score is lowest',
    'embedding > :1 or page >= 5',
    cosine(0.9),
    ['5', '6', '7', '1'],
    '&$orderby="embedding asc"',
  ),
  finds('P2.12', 'an alias', 'embedding > :1', cosine(0.5), ['1', '2', '7'], '&$orderby="meaning desc"'),
  finds(
    'P2.12',
    'through N→1',
    'book.cover >= :1',
    [{ vector: [3, 4], metric: 'euclidean', threshold: 0 }],
    ['3', '4', '1', '2', '6'],
    '&$orderby="book.cover, ID"',
  ),
  ask('P1.6', 'a page of the order', 'embedding > :1', cosine(-2), '&$orderby="embedding desc"&$skip=1&$top=2', {
    keys: ['2', '7'],
    count: 5,
  }),
  // Without a threshold
  ask('extension', 'all that have a score, the nearest first', 'embedding > :1', cosine(null), '&$top=2', {
    keys: ['1', '2'],
    count: 5,
  }),
  finds(
    'extension',
    'all that have a score, or something else',
    'embedding > :1 or page = 5',
    cosine(null),
    ['1', '2', '3', '4', '5', '7'],
    '&$orderby=ID',
  ),
  ask(
    'extension',
    'the nearest by distance',
    'embedding < :1',
    [{ vector: X, metric: 'euclidean', threshold: null }],
    '&$top=3',
    { keys: ['1', '2', '5'], count: 6 },
  ),
  finds(
    'extension',
    'another order wins',
    'embedding > :1',
    cosine(null),
    ['7', '4', '3', '2', '1'],
    '&$orderby="page desc"',
  ),
  finds('extension', 'among what another condition finds', 'embedding > :1 and page > 1', cosine(null), [
    '2',
    '7',
    '3',
    '4',
  ]),
  finds('extension', 'nothing is left by its NOT', 'not (embedding > :1)', cosine(null), []),
  // The score
  {
    spec: 'extension',
    name: 'the score in a list of attributes',
    get: `/Passage/text,__SCORE?$filter="embedding > :1"&$params='[{"vector":[1,0,0],"threshold":0.9}]'`,
    has: { __ENTITIES: [{ __KEY: '1', text: 'same', __SCORE: 1 }] },
  },
  {
    spec: 'extension',
    name: 'the score in $attributes, null without one',
    get: `/Passage?$filter="embedding <= :1 or page = 6"&$params='[{"vector":[0,1,0],"metric":"euclidean","threshold":0}]'&$attributes=__SCORE`,
    has: {
      __ENTITIES: [
        { __KEY: '3', __SCORE: 0 },
        { __KEY: '6', __SCORE: null },
      ],
    },
  },
  {
    spec: 'extension',
    name: 'the score in whole entities, as an array',
    get: `/Passage/*,__SCORE?$filter="embedding > :1"&$params='[{"vector":[0,0,2],"metric":"dot","threshold":-1}]'&$asArray=true&$top=1`,
    has: [{ text: 'same', __SCORE: 0 }],
  },
  {
    spec: 'extension',
    name: 'no score without a condition',
    get: '/Passage/__SCORE',
    status: 404,
    errors: [1500, 1804],
  },
  {
    spec: 'extension',
    name: 'no score of a related entity',
    get: `/Passage?$filter="embedding > :1"&$params='[{"vector":[1,0,0]}]'&$attributes=book.__SCORE`,
    status: 404,
    errors: [1500, 1804],
  },
  // Exactly
  finds(
    'extension',
    '$exact changes nothing without an index',
    'embedding > :1',
    cosine(0.5),
    ['1', '2', '7'],
    '&$exact=true',
  ),
  {
    spec: 'P2.14',
    name: 'the plan of a scan',
    get: `/Passage?$filter="embedding > :1 and page < 3"&$params='[{"vector":[1,0,0]}]'&$queryplan=true`,
    has: {
      __queryPlan: { And: [{ item: '[index : Passage.page ] < 3' }, { item: 'Passage.embedding cosine > 0.5' }] },
    },
  },
  // Refusals
  refuses(
    'P2.12',
    'another comparator',
    'embedding = :1',
    cosine(0.5),
    1112,
    /= does not apply to "embedding", which is a vector/,
  ),
  refuses('P2.12', 'a text comparator', 'embedding begin :1', cosine(0.5), 1112, /vector/),
  refuses(
    'P2.12',
    'a value in place of a placeholder',
    'embedding > 0.5',
    [],
    1508,
    /a placeholder for an object such as/,
  ),
  refuses(
    'P2.12',
    'a number for the object',
    'embedding > :1',
    [0.5],
    1280,
    /holds a number; it takes an object such as/,
  ),
  refuses('P1.3', 'null for the object', 'embedding > :1', [null], 1279, /holds null.*embedding = null/),
  refuses('P2.12', 'an array for the object', 'embedding > :1', [X], 1280, /holds an array/),
  refuses('P2.12', 'no vector', 'embedding > :1', [{ threshold: 1 }], 1280, /without a vector/),
  refuses(
    'P2.12',
    'an empty vector',
    'embedding > :1',
    [{ vector: [] }],
    1280,
    /vector is an array of 0; it takes .*3 numbers/,
  ),
  refuses(
    'P2.12',
    'a vector of another dimension',
    'embedding > :1',
    [{ vector: [1, 2] }],
    1280,
    /vector is an array of 2/,
  ),
  refuses(
    'P2.12',
    'a text inside the vector',
    'embedding > :1',
    [{ vector: [1, '2', 3] }],
    1280,
    /a string at position 1/,
  ),
  refuses('P2.12', 'null inside the vector', 'embedding > :1', [{ vector: [1, null, 3] }], 1280, /null at position 1/),
  refuses('P2.12', 'infinity inside the vector', 'embedding > :1', `[{"vector":[1,1e999,0]}]`, 1280, /1e999/),
  refuses('P2.12', 'more than a Float32 holds', 'embedding > :1', [{ vector: [1, 1e39, 0] }], 1280, /1e\+39/),
  refuses('P1.3', 'NaN inside the vector', 'embedding > :1', `[{"vector":[1,NaN,0]}]`, 1806, /not JSON/),
  refuses(
    'P2.12',
    'an unknown metric',
    'embedding > :1',
    [{ vector: X, metric: 'manhattan' }],
    1280,
    /none of cosine, dot, euclidean/,
  ),
  refuses(
    'P2.12',
    'a text as threshold',
    'embedding > :1',
    [{ vector: X, threshold: 'high' }],
    1280,
    /not a finite number/,
  ),
  refuses(
    'P2.12',
    'a misspelled property',
    'embedding > :1',
    [{ vector: X, treshold: 0.9 }],
    1280,
    /treshold.*threshold/,
  ),
  {
    spec: 'P1.6',
    name: 'an order by a vector that the filter does not name',
    get: '/Passage?$orderby="embedding desc"',
    status: 404,
    errors: [1594, 1810],
  },
  {
    spec: 'P1.6',
    name: 'a private vector',
    get: `/Passage?$filter="other > :1"&$params='[{"vector":[1,0,0]}]'`,
    status: 404,
    errors: [1500],
  },
  // Elsewhere
  {
    spec: '2.3',
    name: 'the catalog',
    get: '/$catalog/Passage',
    has: { attributes: [{}, {}, {}, { name: 'embedding', kind: 'storage', type: 'object', dimension: 3 }] },
  },
  {
    spec: 'D2',
    name: 'a vector is read as an array of numbers',
    get: '/Passage(2)/embedding',
    has: { embedding: [0.8, 0.6, 0] },
  },
  {
    spec: '4.6',
    name: 'aggregates over the result of a vector filter',
    get: `/Passage/page?$compute=sum&$filter="embedding > :1"&$params='[{"vector":[1,0,0]}]'`,
    text: '10',
  },
  {
    spec: 'P6.7',
    name: 'distinct values in the result of a vector filter',
    get: `/Passage/page?$distinct=true&$filter="embedding > :1"&$params='[{"vector":[1,0,0]}]'`,
    json: [1, 2, 7],
  },
  { spec: '4.6', name: 'vectors are counted', get: '/Passage/embedding?$compute=count', text: '6' },
  {
    spec: 'extension',
    name: 'in the body of $query',
    post: '/Passage/$query',
    body: { $filter: 'embedding > :1', $params: [{ vector: X, threshold: 0.9 }] },
    keys: ['1'],
  },
])

const save = (name: string, body: object, expected: Expected): ProtocolCase => ({
  spec: '4.4',
  name,
  post: '/Passage?$method=update',
  body,
  ...expected,
})
const refused = (name: string, embedding: unknown, message: RegExp): ProtocolCase =>
  save(
    name,
    { ID: 20, embedding },
    { status: 422, has: { __STATUS: { success: false }, __ERROR: [{ errCode: 1508, message }] } },
  )

protocolTable('vectors in saves', passages, [
  save(
    'is saved as Float32 and shown as short decimals',
    { ID: 10, embedding: [0.1, 1 / 3, -2e-7] },
    { has: { embedding: [0.1, 0.33333334, -2e-7] } },
  ),
  save('null is fine', { ID: 11, embedding: null }, { has: { embedding: null } }),
  save(
    'the least and the greatest Float32',
    { ID: 12, embedding: [3.4028234663852886e38, 1e-45, -0] },
    { has: { embedding: [3.40282347e38, 1.40129846e-45, 0] } },
  ),
  refused('another dimension', [1, 2], /embedding cannot be an array of 2; an array of 3 numbers is expected/),
  refused('a text', 'x', /a value of type string/),
  refused('an object', { vector: [1, 2, 3] }, /a value of type object/),
  refused('a text inside', [1, 'x', 3], /a string at position 1/),
  refused('null inside', [1, 2, null], /null at position 2/),
  refused('too large', [1, 2, 1e39], /Float32/),
])

protocolTable('vectors in entity sets and after changes', passages, [
  finds('extension', 'all that have a score, before', 'embedding > :1', cosine(null), ['1', '2', '7', '3', '4']),
  {
    spec: '4.5',
    name: 'an updated vector is found at its new place',
    post: '/Passage?$method=update',
    body: { __KEY: '3', __STAMP: 1, embedding: [5, 0, 0] },
    has: { embedding: [5, 0, 0] },
  },
  finds('4.5', 'after the update', 'embedding > :1', cosine(0.9), ['1', '3']),
  {
    spec: '4.5',
    name: 'a vector that becomes null',
    post: '/Passage?$method=update',
    body: { __KEY: '1', __STAMP: 1, embedding: null },
    has: { embedding: null },
  },
  finds('4.5', 'after that', 'embedding > :1', cosine(0.9), ['3']),
  finds('extension', 'all that have a score, then', 'embedding > :1', cosine(null), ['3', '2', '7', '4']),
  {
    spec: '4.4',
    name: 'deletion by a vector filter',
    post: `/Passage?$method=delete&$filter="embedding > :1"&$params='[{"vector":[1,0,0],"threshold":0.7}]'`,
    json: { ok: true },
    left: { Passage: ['1', '4', '5', '6', '7'] },
  },
  finds('4.5', 'after the deletion', 'embedding > :1', cosine(-2), ['7', '4'], '&$orderby="embedding desc"'),
])
