/** Queries in the body of a POST, and lists that cannot be parsed. */
import { company } from '../support/fixtures/company.ts'
import { protocolTable } from '../support/checks/protocol-table.ts'

/** JSON so long that the kernel thread does not parse it. */
const long = (json: string): Buffer => Buffer.from(json + ' '.repeat(100_000))

protocolTable('queries by POST', company, [
  {
    spec: 'D7',
    name: 'a query can be sent as a POST',
    post: '/Employee/$query',
    body: { $filter: 'salary = :1', $params: [45_000], $orderby: 'ID desc', $top: 1 },
    has: { __COUNT: 2 },
    keys: ['3'],
  },
  {
    spec: 'D7',
    name: 'an attribute list can be part of such a query',
    post: '/Employee(1)/lastName/$query',
    body: {},
    has: { lastName: 'Lovelace' },
  },
  {
    spec: 'D7',
    name: 'null means that a parameter is missing',
    post: '/Employee/$query',
    body: { $filter: 'salary = 45000', $params: null, $orderby: null, $top: null, $attributes: null },
    count: 2,
  },
  { spec: 'D7', name: 'such a query needs no body', post: '/City/$query', count: 4 },
  {
    spec: 'D7',
    name: 'a body that is not an object is refused',
    post: '/City/$query',
    body: [1],
    status: 400,
    errors: [1806],
  },
  {
    spec: 'D7',
    name: 'a body that is nested too deeply for a query is refused',
    post: '/City/$query',
    body: { $filter: 'name = :1', $params: JSON.parse(`${'['.repeat(4_000)}${']'.repeat(4_000)}`) as unknown },
    status: 400,
    errors: [1806],
  },
  {
    spec: 'D7',
    name: 'a long body is read as a short one',
    post: '/Employee/$query',
    body: long('{"$filter":"salary = :1","$params":[45000],"$orderby":"ID desc","$top":1}'),
    has: { __COUNT: 2 },
    keys: ['3'],
  },
  { spec: 'D7', name: 'a long body of blanks counts as no body', post: '/City/$query', body: long(''), count: 4 },
  ...['[1]', '{"$top":1e999}', '{"$top":1', '{"name":1}'].map(text => ({
    spec: 'D7',
    name: `a long body is refused as a short one: ${text}`,
    post: '/City/$query',
    body: long(text),
    status: 400,
    errors: [text.includes('name') ? 1811 : 1806],
  })),
  {
    spec: 'D7',
    name: '$query by GET is refused with the verb that works',
    get: '/City/$query',
    status: 405,
    errors: [1813],
    headers: { allow: 'POST' },
  },
  {
    spec: 'P1.10',
    name: 'an attribute list in the path that cannot be parsed',
    get: '/City/name,,ID',
    status: 400,
    errors: [1201, 1804],
  },
  {
    spec: 'P4.2',
    name: '$attributes that cannot be parsed',
    get: '/City?$attributes=name.',
    status: 400,
    errors: [1201, 1804],
  },
  {
    spec: 'P4.1',
    name: '$expand that cannot be parsed',
    get: '/City?$expand=*.name',
    status: 400,
    errors: [1201, 1805],
  },
  {
    spec: 'D7',
    name: 'a query by POST cannot delete',
    post: '/City/$query',
    body: { $method: 'delete' },
    status: 405,
    errors: [1813],
    left: { City: ["L'Aquila", 'New York (NY)', 'Paris', '東京'] },
  },
])
