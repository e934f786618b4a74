/** Entities in the order of their scores, and the nearest of all that have one. */
import { protocolTable } from '../support/checks/protocol-table.ts'
import { passages } from '../support/fixtures/passages.ts'
import { ask, cosine, dot, euclidean, finds, X } from './vector-cases.ts'

protocolTable('orders by vectors', passages, [
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
])
