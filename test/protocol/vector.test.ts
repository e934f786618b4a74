/** Vectors in filters: what is found, and their scores in answers. */
import { protocolTable } from '../support/checks/protocol-table.ts'
import { passages } from '../support/fixtures/passages.ts'
import { cosine, dot, euclidean, finds, X } from './vector-cases.ts'

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
