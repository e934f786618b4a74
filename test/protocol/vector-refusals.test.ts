/** Conditions on vectors that are refused, and the errors that say why. */
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { passages } from '../support/fixtures/passages.ts'
import { ask, cosine, X } from './vector-cases.ts'

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

protocolTable('wrong vectors in $filter', passages, [
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
])
