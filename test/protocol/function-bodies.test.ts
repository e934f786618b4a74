/** Arguments of functions in every form in which clients of 4D send them, to functions of every kind. */
import { type ProtocolCase, protocolTable } from '../support/checks/protocol-table.ts'
import { company } from '../support/fixtures/company.ts'
import { echoPlugin } from '../support/plugins/test-plugins.ts'

/** Functions, and the value before their arguments in the answer. */
const TARGETS: readonly (readonly [kind: string, path: string, on: unknown, query?: string])[] = [
  ['a dataclass', '/City/say', 'City'],
  ['all entities', '/City/tell', 4],
  ['a filtered selection', '/City/tell', 1, '$filter="name = Paris"'],
  ['a filtered selection with a placeholder', '/City/tell', 2, '$filter="population > :1"&$params=[5000000]'],
  ['several keys', '/City("Paris","東京")/tell', 2],
  ['an entity set', '/City/tell/$entityset/$none', 0],
  ['an entity', '/City("Paris")/speak', 'Paris'],
  ['an entity in brackets', '/City["Paris"]/speak', 'Paris'],
  ['the datastore', '/$catalog/say', 'ds'],
  ['a singleton', '/$singleton/Horn/say', 'Horn'],
]

const VALUES = [1, 'a"b&c=d', null, { x: [true] }]

/** Bodies of a POST, and the arguments in them. */
const BODIES: readonly (readonly [form: string, body: unknown, values: readonly unknown[]])[] = [
  ['a list', VALUES, VALUES],
  ['an empty list', [], []],
  ['an object with params', { params: VALUES }, VALUES],
  ['the members of the data explorer', { params: VALUES, dataClass: 'City', __KEY: 'Paris', function: 'say' }, VALUES],
  ['an empty list as params', { params: [] }, []],
  ['a list in the list', [[1, 2]], [[1, 2]]],
  ['an object with params in the list', [{ params: [1] }], [{ params: [1] }]],
  ['no body', undefined, []],
  ['blanks', ' \n', []],
  ['an object', { a: 1 }, [{ a: 1 }]],
  ['a text', '"a"', ['a']],
  ['null', 'null', [null]],
]

const encoded = encodeURIComponent(JSON.stringify(VALUES))

/** Values of `$params` in a GET, and the arguments in them. */
const PARAMETERS: readonly (readonly [form: string, query: string, values: readonly unknown[]])[] = [
  ['a list', `$params=${encoded}`, VALUES],
  ['a list in single quotes', '$params=\'[1,"a"]\'', [1, 'a']],
  ['a list in double quotes', '$params="[1,2]"', [1, 2]],
  ['an object with params', '$params={"params":[1,2],"page":3}', [1, 2]],
  ['an object', '$params={"a":1}', [{ a: 1 }]],
  ['an empty list', '$params=[]', []],
  ['nothing', '$params=', []],
  ['no $params', '', []],
]

const cases: ProtocolCase[] = TARGETS.flatMap(([kind, path, on, query]) => {
  const more = (...parts: (string | undefined)[]) => parts.filter(Boolean).join('&')
  const at = (...parts: (string | undefined)[]) => (more(...parts) ? `${path}?${more(...parts)}` : path)
  const posts = BODIES.map(([form, body, values]) => ({
    spec: 'P7.2',
    name: `${kind}, POST: ${form}`,
    post: at(query),
    body,
    json: { result: [on, ...values] },
  }))
  // The values of the filter would be the arguments of a GET.
  if (query?.includes('$params')) return posts
  const gets = PARAMETERS.map(([form, parameters, values]) => ({
    spec: 'P7.2',
    name: `${kind}, GET: ${form}`,
    get: at(query, parameters),
    json: { result: [on, ...values] },
  }))
  const asQuery = { $params: VALUES, ...(query && { $filter: 'name = Paris' }) }
  const ofQuery = {
    spec: 'D7',
    name: `${kind}, $query`,
    post: `${path}/$query`,
    body: asQuery,
    json: { result: [on, ...VALUES] },
  }
  return [...posts, ...gets, ...(path.includes('$') ? [] : [ofQuery])]
})

protocolTable('bodies of functions', company, cases, { config: { plugins: [echoPlugin], functions: { threads: 1 } } })

protocolTable(
  'bodies of functions, refused',
  company,
  [
    ...['[1', '{"params":[1', '[1,]', '\u0000', '[1e999]', '{"params":[{"__proto__":1}]}'].map(body => ({
      spec: 'P7.2',
      name: `POST: ${JSON.stringify(body)}`,
      post: '/City/say',
      body,
      status: 400,
      errors: [1806],
    })),
    ...['[1', '{"params":[1', '[1e999]'].map(params => ({
      spec: 'P7.2',
      name: `GET: ${params}`,
      get: `/City/say?$params=${params}`,
      status: 400,
      errors: [1806],
    })),
    {
      spec: 'P7.2',
      name: 'more arguments than a function takes, as a list',
      post: '/City/say',
      body: Array(1_001).fill(1),
      status: 400,
      has: { __ERROR: [{ message: /at most 1000 arguments; received 1001/ }] },
    },
    {
      spec: 'P7.2',
      name: 'more arguments than a function takes, as params',
      post: '/City/say',
      body: { params: Array(1_001).fill(1), page: 1 },
      status: 400,
      has: { __ERROR: [{ message: /at most 1000 arguments; received 1001/ }] },
    },
  ],
  { config: { plugins: [echoPlugin], functions: { threads: 1 } } },
)
