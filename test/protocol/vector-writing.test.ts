/** Vectors in saves, and answers after changes. */
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { passages } from '../support/fixtures/passages.ts'
import { cosine, type Expected, finds } from './vector-cases.ts'

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
