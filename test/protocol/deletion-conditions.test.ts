import { company } from '../support/fixtures/company.ts'
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'

/*
 * Deletions with fewer conditions than their client meant, saves that are meant as reads, and addresses that may name several
 * entities: all are refused, and nothing changes.
 */
const EMPLOYEES = ['1', '2', '3', '4', '5', '6']
const ID = '0123456789ABCDEF0123456789ABCDEF'

const kept = (spec: string, name: string, verb: 'post' | 'delete', path: string, more: object = {}): ProtocolCase => ({
  spec,
  name: `${name}: ${verb} ${path}`,
  [verb]: path,
  status: 400,
  errors: [1806],
  left: { Employee: EMPLOYEES },
  ...more,
})
const says = (message: RegExp) => ({ __ERROR: [{ message }] })
const both = (name: string, address: string, query = '', more: object = {}): ProtocolCase[] => [
  kept('4.4', name, 'post', `/${address}?$method=delete${query && `&${query}`}`, more),
  kept('P1.9', name, 'delete', `/${address}${query && `?${query}`}`, more),
]

const deletions: ProtocolCase[] = [
  ...both('an empty filter', 'Employee', '$filter=""'),
  ...both('a filter without a value', 'Employee', '$filter='),
  ...both('a filter of blanks', 'Employee', '$filter=%20%20'),
  ...both('an encoded empty filter', 'Employee', '%24filter=%22%22'),
  ...both('two filters', 'Employee', '$filter="ID=1"&$filter='),
  ...both('two filters that would each be enough', 'Employee', '$filter="ID=99"&$filter="ID>0"', {
    has: says(/more than once/),
  }),
  ...both('an address without its key', 'Employee/', '', { has: says(/a key may be missing/) }),
  ...both('two slashes', 'Employee//'),
  ...both('an order without a condition', 'Employee', '$filter="order by ID"'),
  ...both('a filter without its $', 'Employee', 'filter="ID=1"', { errors: [1811] }),
  ...both('another case', 'Employee', '$Filter="ID=1"', { errors: [1811] }),
  ...both('a misspelled name', 'Employee', '$filtre="ID=1"', { errors: [1811] }),
  ...both('any other name', 'Employee', 'ID=1'),
  ...both('values without a filter', 'Employee', '$params=[1]'),
  ...both('$top', 'Employee', '$top=1'),
  ...both('$limit with a filter', 'Employee', '$filter="ID>1"&$limit=1'),
  ...both('$skip', 'Employee', '$skip=1'),
  ...both('a saved filter without a set', 'Employee', '$savedfilter="ID=1"'),
  ...both('$refresh without a set', 'Employee', '$refresh=true', { has: says(/without an entity set/) }),
  ...both('a read for apps', 'Employee', '$extendedAttributes=name'),
  ...both('empty brackets', 'Employee()'),
  ...both('square ones', 'Employee[]'),
  ...both('encoded ones', 'Employee%28%29'),
  ...both('a blank in brackets', 'Employee(%20)', '', { status: 404, errors: [1543] }),
  ...both('empty brackets with a filter', 'Employee()', '$filter="ID=1"'),
  ...both('an entity set without an id', 'Employee/$entityset/'),
  ...both('an entity set without an id, with a filter', 'Employee/$entityset/', '$filter="ID=1"'),
  ...['$savedfilter=', '$savedfilter="ID>0"', '$savedorderby="ID"'].flatMap(saved =>
    both('a set that has ended is not made again', `Employee/$entityset/${ID}`, saved, { status: 404, errors: [1802] }),
  ),
  ...both(
    'nor is a set that it is combined with',
    'Employee/$entityset/$none',
    `$logicOperator=OR&$otherCollection=${ID}`,
    { errors: [1820] },
  ),
  ...both('a set that is refreshed', 'Employee/$entityset/$none', '$refresh=true', { has: says(/other entities/) }),
  ...both('an attribute that is not unique', 'Employee:woman(true)', '', { errors: [1813] }),
  ...both('an alias of such an attribute', 'Employee:pay(45000)', '', { errors: [1813] }),
  ...both('the stamp', 'Employee:__STAMP(1)', '', { errors: [1813] }),
  ...both('the global stamp', 'Employee:__GlobalStamp(1)', '', { errors: [1813] }),
  ...both('a relation', 'Employee:employer(1)', '', { errors: [1813] }),
  ...both('a key that no entity has', 'Employee:__KEY(99)', '', { status: 404, errors: [1543] }),
  ...both('a unique value that no entity has', 'Company:code(none)', '', { status: 404, errors: [1543] }),
  ...both('an attribute that does not exist', 'Employee:nothing(1)', '', { status: 404, errors: [1500] }),
  kept('4.4', 'keys in the body', 'post', '/Employee?$method=delete', { body: ['1'] }),
  kept('4.4', 'a filter in the body', 'post', '/Employee?$method=delete', { body: { $filter: 'ID = 1' } }),
  kept('P1.9', 'a body of DELETE', 'delete', '/Employee', { body: { __KEY: '1' } }),
  kept('4.4', 'a long body', 'post', '/Employee?$method=delete', {
    body: { keys: Array.from({ length: 1000 }, (_, i) => i) },
    status: 413,
    errors: undefined,
  }),
]

const CITIES = ["L'Aquila", 'New York (NY)', 'Paris', '東京']
const read = (name: string, path: string, body: unknown = {}): ProtocolCase => ({
  spec: '4.4',
  name: `${name}: ${path}`,
  post: path,
  body,
  status: 400,
  errors: [1806],
  left: { City: CITIES },
})

const reads: ProtocolCase[] = [
  ...['$filter="name=a"', '$params=[1]', '$orderby=name', '$top=1', '$limit=10', '$skip=1'].flatMap(parameter => [
    read('a read by POST', `/City?${parameter}`, { name: 'Oslo' }),
    read('a save that selects', `/City?$method=update&${parameter}`, { name: 'Oslo' }),
    read('a check that selects', `/City?$method=validate&${parameter}`, { name: 'Oslo' }),
  ]),
  read('attributes of an app', '/City?$extendedAttributes=name', { name: 'Oslo' }),
  read('a computation', '/City?$compute=count', { name: 'Oslo' }),
  read('one of several', '/City?$expand=name&$filter="name=a"', [{ name: 'Oslo' }]),
  {
    spec: '4.4',
    name: 'a save takes parameters that shape its answer',
    notRemote: 'commits of a database have no global stamp',
    post: '/City?$attributes=name&$asArray=true',
    body: [{ name: 'Oslo' }],
    json: [{ __KEY: 'Oslo', __STAMP: 1, name: 'Oslo', __GlobalStamp: 17 }],
  },
]

const several = (
  name: string,
  verb: 'get' | 'post' | 'put' | 'delete',
  path: string,
  body?: unknown,
): ProtocolCase => ({
  spec: '4.2',
  name,
  [verb]: path,
  ...(body !== undefined && { body }),
  status: 400,
  errors: [1813],
})

const addresses: ProtocolCase[] = [
  several('a lock', 'post', '/Employee:woman(true)?$lock=true'),
  several('a lock by GET', 'get', '/Employee:woman(true)?$lock=true'),
  several('a lock by a stamp', 'post', '/Employee:__STAMP(1)?$lock=true'),
  several('an image', 'put', '/Employee:woman(true)/photo?$rawPict=true', 'x'),
  several('an image that is removed', 'delete', '/Employee:woman(true)/photo?$imageformat=best'),
  several('a function of an entity', 'post', '/Employee:woman(true)/raise', [1]),
  several('a function of a related entity', 'post', '/Employee:woman(true)/manager/greet'),
  { spec: '4.2', name: 'a read shows the first', get: '/Employee:woman(true)', has: { __KEY: '1' } },
  { spec: '4.2', name: 'the first with a stamp, too', get: '/Employee:__STAMP(1)', has: { __KEY: '1' } },
  {
    spec: '4.2',
    name: 'a unique attribute is enough',
    post: '/Company:code("FR/1")?$lock=true',
    has: { result: true },
  },
]

protocolTable('deletions without a condition', company, deletions)
protocolTable('saves that are meant as reads', company, reads, { isolated: true })
protocolTable('one entity of several', company, addresses, {
  config: { plugins: [staffPlugin], functions: { threads: 1 } },
})
