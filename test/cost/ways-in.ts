/** Every place where a client sends input that can be long, numerous, deep or slow to process. */
import { generateKeyPairSync, sign } from 'node:crypto'

const MIB = 2 ** 20

/** Keys for the tokens of clients, which are signed with the private one; the server has the public one. */
export const tokenKeys = generateKeyPairSync('ed25519')

/** A request; without a method, POST if it has a body or `$method`, otherwise GET. */
export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | undefined
  /** Below `/rest`, or below the host if it begins with `//`. */
  readonly path: string
  readonly body?: string | Uint8Array | undefined
  readonly headers?: Record<string, string>
}

export interface WayIn {
  readonly name: string
  readonly method?: Asked['method']
  /** Maximum size that the limits admit, in bytes, rows or entities. */
  readonly max: number
  /** @param size up to `max` */
  request(size: number): Asked
}

const repeat = (piece: string, length: number): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length - (length % piece.length) || piece.length)
/** Combining marks in the wrong order, which normalization has to sort. */
const MARKS = '\u0300\u0323'
const list = (element: string, length: number): string => `[${repeat(`${element},`, length).slice(0, -1)}]`
const get = (path: string) => ({ path: path.replaceAll(' ', '%20').replaceAll('"', '%22') })
const update = (body: string) => ({ path: '/City?$method=update', body })
const query = (body: object) => ({ path: '/City/$query', body: JSON.stringify({ $top: 1, ...body }) })

/** Maximum length of a request line with headers, near the limit of the transports. */
const LINE = 60_000

export const waysIn: readonly WayIn[] = [
  // Addresses and headers
  { name: 'a query string of quotes', max: LINE, request: n => get(`/City?${repeat('a="b" c&', n)}`) },
  { name: 'a query string of open quotes', max: LINE, request: n => get(`/City?${repeat("a=('b&", n)}`) },
  { name: 'a query string of parameters', max: LINE, request: n => get(`/City?${repeat('$top=1&', n)}`) },
  { name: 'a path of many parts', max: LINE, request: n => get(`/City${repeat('/a', n)}`) },
  { name: 'a path of brackets', max: LINE, request: n => get(`/City${repeat('(', n)}`) },
  { name: 'a list of keys', max: LINE, request: n => get(`/City(${repeat('1,', n).slice(0, -1)})`) },
  { name: 'a key of escapes', max: LINE, request: n => get(`/City(${repeat('%C3%A9', n)})`) },
  { name: 'a list of attributes', max: LINE, request: n => get(`/City/${repeat('name,', n)}ID`) },
  { name: 'an expansion', max: LINE, request: n => get(`/City?$top=1&$expand=${repeat('parent,', n)}parent`) },
  { name: 'a sort order', max: LINE, request: n => get(`/City?$top=1&$orderby="${repeat('name,', n)}ID"`) },
  { name: 'attributes to compute', max: LINE, request: n => get(`/City/${repeat('group,', n)}ID?$compute=$all`) },
  { name: 'cookies', max: LINE, request: n => ({ path: '/City(1)', headers: { cookie: repeat('a=b; ', n).trim() } }) },
  {
    name: 'a forwarded address',
    max: LINE,
    request: n => header('x-forwarded-for', `${repeat('1.2.3.4,', n)}1.1.1.1`),
  },
  { name: 'entity tags', max: LINE, request: n => header('if-none-match', `${repeat('"a",', n)}"b"`) },
  { name: 'ranges', max: LINE, request: n => header('range', `bytes=${repeat('0-1,', n)}5-6`) },
  { name: 'encodings', max: LINE, request: n => header('accept-encoding', `${repeat('a;q=0.5,', n)}b`) },
  { name: 'a token', max: LINE, request: n => header('authorization', `Bearer ${repeat('a.', n)}`) },
  { name: 'brackets in the head of a token', max: LINE, request: n => bearer(`{"alg":"EdDSA","a":${repeat('[', n)}`) },
  {
    name: 'members in the head of a token',
    max: 12_000,
    request: n => bearer(`{${repeat('"a":1,', n)}"alg":"EdDSA"}`),
  },
  { name: 'a signed token of brackets', max: 12_000, request: n => bearer(HEAD, `{"sub":"x","a":${repeat('[', n)}`) },
  {
    name: 'privileges in a signed token',
    max: 12_000,
    request: n => bearer(HEAD, `{"sub":"x","exp":9000000000,"privileges":${list('"a"', n)}}`),
  },
  { name: 'a password in a header', max: LINE, request: n => header('authorization', `Basic ${repeat('QUFB', n)}`) },
  { name: 'an origin', max: LINE, request: n => header('origin', `http://${repeat('a.', n)}com`) },

  { name: 'parts behind a service', max: LINE, request: n => get(`/$client${repeat('/a', n)}`) },
  { name: 'a catalog of names', max: LINE, request: n => get(`/$catalog/${repeat('City,', n)}City`) },
  { name: 'a relation of a relation', max: LINE, request: n => get(`/City(1)${repeat('/parent', n)}`) },

  // Queries
  { name: 'brackets in a filter', max: MIB, request: n => query({ $filter: repeat('(', n) }) },
  { name: 'conditions', max: MIB, request: n => query({ $filter: `ID = 0${repeat(' or ID = 1', n)}` }) },
  { name: 'nested conditions', max: 64_000, request: n => query({ $filter: nested(n) }) },
  { name: 'not', max: MIB, request: n => query({ $filter: `${repeat('not ', n)}ID = 1` }) },
  { name: 'a long path', max: MIB, request: n => query({ $filter: `${repeat('parent.', n)}ID = 1` }) },
  { name: 'a text with marks', max: MIB, request: n => query(compared('name = :1', `a${repeat(MARKS, n / 2)}`)) },
  { name: 'wildcards', max: MIB, request: n => query(compared('notes = :1', `${repeat('@a', n)}@`)) },
  {
    name: 'wildcards that nearly match',
    max: MIB,
    request: n => query(compared('notes = :1', `@${repeat('e@', n)}#`)),
  },
  { name: 'a long pattern', max: MIB, request: n => query(compared('notes = :1', `@${repeat('o', n)}@`)) },
  { name: 'keywords', max: MIB, request: n => query(compared('notes % :1', repeat('item ', n))) },
  { name: 'values to be in', max: MIB, request: n => query(compared('name in :1', Array(n >> 3).fill('abcd'))) },
  {
    name: 'different values to be in',
    max: 99_000,
    request: n =>
      query(
        compared(
          'name in :1',
          Array.from({ length: n }, (_, i) => `t${i.toString(36)}`),
        ),
      ),
  },
  { name: 'numbers to be in', max: MIB, request: n => query(compared('group in :1', Array(n >> 2).fill(12))) },
  {
    name: 'deep parameters',
    max: MIB,
    request: n => ({ path: '/City/$query', body: `{"$filter":"ID=:1","$params":${repeat('[', n)}` }),
  },
  { name: 'lax parameters', max: LINE, request: n => get(`/City?$filter="ID=:1"&$params={${repeat("a:'b',", n)}}`) },
  { name: 'a vector', max: MIB, request: n => query(compared('embedding > :1', { vector: Array(n >> 1).fill(1) })) },
  {
    name: 'a keyword search of objects',
    max: MIB,
    request: n => query(compared('info.tags[] = :1', `@${repeat('t@', n)}`)),
  },

  // Commands
  { name: 'a login', max: MIB, request: n => login(JSON.stringify(['x', `a${repeat(MARKS, n / 2)}`])) },
  { name: 'a login by a long name', max: MIB, request: n => login(JSON.stringify([`a${repeat(MARKS, n / 2)}`, 'x'])) },
  { name: 'a login of brackets', max: MIB, request: n => login(repeat('[', n)) },
  { name: 'a login of objects', max: MIB, request: n => login(list('{"a":1}', n)) },
  {
    name: 'a release of brackets',
    max: MIB,
    request: n => ({ path: '/$entityset?$method=release', body: repeat('[', n) }),
  },
  {
    name: 'a release of names',
    max: MIB,
    request: n => ({ path: '/$entityset?$method=release', body: list('"A"', n) }),
  },
  {
    name: 'a long filter of a set',
    max: MIB,
    request: n => ({ ...query({ $filter: `ID > ${repeat('1', n)}` }), path: '/City/$query?$method=entityset' }),
  },

  { name: 'a group of marks', max: MIB, request: n => group(JSON.stringify([`a${repeat(MARKS, n / 2)}`])) },
  { name: 'groups', max: MIB, request: n => group(list('"a"', n)) },

  // Routes of plugins
  { name: 'a body of brackets for a route', max: MIB, request: n => ({ path: '//noted', body: repeat('[', n) }) },
  { name: 'a body of members for a route', max: MIB, request: n => ({ path: '//noted', body: list('{"a":1}', n) }) },
  { name: 'a query string of a route', max: LINE, request: n => get(`//noted?${repeat("a=('b&", n)}`) },

  // Agents
  { name: 'a message of brackets', max: MIB, request: n => message(repeat('[', n)) },
  { name: 'a message of members', max: MIB, request: n => message(`{${repeat('"a":1,', n)}"b":1}`) },
  {
    name: 'a filter of an agent',
    max: 20_000,
    request: n => tool('query', { filter: `ID = 0${repeat(' or ID=1', n)}` }),
  },
  {
    name: 'values of an agent',
    max: 1_000,
    request: n => tool('query', { filter: 'ID = :1', params: Array(n).fill(1) }),
  },
  {
    name: 'attributes of an agent',
    max: 100,
    request: n => tool('query', { attributes: Array(n).fill('notes'), top: 200 }),
  },
  { name: 'words of an agent', max: 2_000, request: n => tool('search', { text: repeat('item ', n) }) },
  {
    name: 'different values of an agent',
    max: 1_000,
    request: n => tool('aggregate', { function: 'values', attribute: 'notes', top: n }),
  },

  // Arguments of functions
  {
    name: 'arguments of a singleton',
    max: 8 * MIB,
    request: n => ({ path: '/$singleton/Fragile/count1', body: list('"x"', n) }),
  },
  {
    name: 'arguments of a related entity',
    max: 8 * MIB,
    request: n => ({ path: '/Note(2)/before/echo', body: list('"x"', n) }),
  },
  { name: 'nested arguments', max: 8 * MIB, request: n => call('lengthOf', repeat('[', n)) },
  { name: 'many arguments', max: 8 * MIB, request: n => call('lengthOf', list('"x"', n)) },
  { name: 'a long argument', max: 8 * MIB, request: n => call('lengthOf', `["${repeat('x', n)}"]`) },
  {
    name: 'keys in an argument',
    max: 8 * MIB,
    request: n => call('fine', list('{"__DATACLASS":"City","__KEY":"1","__ENTITY":true}', n)),
  },

  // Answers of functions, by their characters
  { name: 'a text from a function', max: 30_000_000, request: n => call('isHuge', `[${n},"漢"]`) },
  { name: 'an answer of a function', max: 30_000_000, request: n => call('answers', `[${n}]`) },
  { name: 'an error of a function', max: 30_000_000, request: n => call('fails', `[${n}]`) },

  // Saving
  { name: 'empty entities', max: 32 * MIB - 2, request: n => update(list('{}', n)) },
  { name: 'numbers in place of entities', max: 32 * MIB - 2, request: n => update(list('1', n)) },
  { name: 'entities', max: 32 * MIB - 2, request: n => update(list('{"name":"a","notes":"b","group":1}', n)) },
  { name: 'entities that are refused', max: 32 * MIB - 2, request: n => update(list('{"name":1}', n)) },
  {
    name: 'entities to validate',
    max: 32 * MIB - 2,
    request: n => ({ path: '/City?$method=validate', body: list('{"name":1}', n) }),
  },
  {
    name: 'an atomic save',
    max: 32 * MIB - 2,
    request: n => ({ path: '/City?$method=update&$atomic=true', body: list('{"name":1}', n) }),
  },
  { name: 'unknown attributes', max: 8 * MIB, request: n => update(unknownAttributes(n)) },
  { name: 'keys that nothing has', max: 32 * MIB - 2, request: n => update(list('{"__KEY":"a","__STAMP":1}', n)) },
  { name: 'a body of brackets', max: 32 * MIB, request: n => update(repeat('[', n)) },
  { name: 'a text of marks', max: 32 * MIB - 100, request: n => update(`{"name":"a${repeat(MARKS, n / 4)}"}`) },
  { name: 'a long text', max: 32 * MIB - 100, request: n => update(`{"notes":"${repeat('words and ', n)}"}`) },
  { name: 'a deep object', max: 32 * MIB - 100, request: n => update(`{"info":${repeat('{"a":', n)}`) },
  { name: 'a wide object', max: 8 * MIB, request: n => update(`{"info":{"list":${list('1', n)}}}`) },
  { name: 'names of an object', max: 9_990, request: n => update(`{"info":{${namesOf(n)}}}`) },
  {
    name: 'names in a transaction',
    max: 196_000,
    request: n => ({
      path: '/City?$method=update&$atomic=true',
      body: list(`{"info":{${namesOf(4_000)}}}`, Math.ceil(n / 4_000) * (namesOf(4_000).length + 12)),
    }),
  },
  { name: 'a number of digits', max: 32 * MIB - 100, request: n => update(`{"group":${repeat('1', n)}}`) },
  {
    name: 'an image in a save',
    max: 32 * MIB - 100,
    request: n => update(`{"photo":"data:image/png;base64,${repeat('AAAA', n)}"}`),
  },

  // Counted in entities: the answers are much larger than the requests
  { name: 'many entities', max: 100_000, request: n => update(list('{"name":"a","group":1}', 23 * n)) },
  {
    name: 'many entities that are refused',
    max: 100_000,
    request: n => update(list('{"name":1}', 11 * n)),
  },
  {
    name: 'many entities as an array',
    max: 100_000,
    request: n => ({ path: '/City?$method=update&$asArray=true', body: list('{"name":"a","group":1}', 23 * n) }),
  },
  {
    name: 'many entities to refresh',
    max: 10_000,
    request: n => ({ path: '/City?$refresh=true&$method=update', body: list('{"name":"a","group":1}', 23 * n) }),
  },
  {
    name: 'many entities to validate',
    max: 10_000,
    request: n => ({ path: '/City?$method=validate', body: list('{"name":1,"group":"a","parentID":"b"}', 38 * n) }),
  },
  {
    name: 'saved entities with what is related to them',
    max: 10_000,
    request: n => ({
      path: '/City?$method=update&$expand=children,parent',
      body: list('{"name":"a","parentID":1}', 26 * n),
    }),
  },

  {
    name: 'nested values in entities',
    max: 32 * MIB - 100,
    request: n => {
      const nested = `${repeat('[', 80)}"${repeat('words ', 600)}"${repeat(']', 80)}`
      return update(list(`{"info":{"a":${nested}}}`, n))
    },
  },

  // Dataclasses with events, restrict events and calculated attributes
  { name: 'entities with events', max: 8 * MIB, request: n => note(list('{"title":"a","rank":1}', n)) },
  { name: 'entities that events refuse', max: 8 * MIB, request: n => note(list('{"title":"no","rank":1}', n)) },
  { name: 'keys of hidden entities', max: 8 * MIB, request: n => note(list('{"__KEY":"1","__STAMP":1,"rank":2}', n)) },
  { name: 'rows that a restrict event filters', max: 2_000, request: n => get(`/Note?$top=${n}&$expand=before`) },
  { name: 'rows that are calculated', max: 2_000, request: n => get(`/Note?$top=${n}&$orderby="shout desc"`) },

  // Large stored values, by the number of entities
  ...[
    '?$attributes=info.z',
    '?$filter="info.k1 = 1"',
    '?$orderby="info.z desc"',
    '?$format=csv&$attributes=info.z',
  ].map(query => ({ name: `large objects: ${query}`, max: 24, request: (n: number) => get(`/Big${query}&$top=${n}`) })),
  ...['/info.z?$distinct=true', '/info.z?$compute=$all', '/notes?$distinct=true', '/notes?$compute=$all'].map(
    query => ({
      name: `large values: ${query}`,
      max: 24,
      request: (n: number) => get(`/Big${query}&$filter="ID <= ${n}"`),
    }),
  ),

  // Deletions, locks, uploads
  {
    name: 'keys to delete',
    max: LINE,
    request: n => ({ path: `/City(${repeat('0,', n).slice(0, -1)})?$method=delete` }),
  },
  { name: 'a lock', max: MIB, request: n => ({ path: '/City(1)?$lock=true', body: repeat('[', n) }) },
  { name: 'an upload', max: 32 * MIB, request: n => ({ path: '/$upload?$rawPict=true', body: new Uint8Array(n) }) },
  { name: 'parts of a form', max: 32 * MIB, request: n => form(`${PART}\r\n\r\n`, n) },
  { name: 'headers of a form', max: 32 * MIB, request: n => form(`${PART}\r\n${repeat('a: b\r\n', 4_000)}\r\n`, n) },
  { name: 'boundaries of a form', max: 32 * MIB, request: n => form('--a-', n) },
  {
    name: 'an attachment',
    max: 32 * MIB,
    method: 'PUT',
    request: n => ({ path: '/City(1)/photo', body: new Uint8Array(n) }),
  },

  // Size of the answer in rows, not bytes
  { name: 'a page', max: 20_000, request: n => get(`/City?$top=${n}`) },
  { name: 'a page with expansions', max: 20_000, request: n => get(`/City?$top=${n}&$expand=parent,children`) },
  { name: 'rows as a table', max: 20_000, request: n => get(`/City?$top=${n}&$format=looker`) },
  { name: 'rows as CSV', max: 20_000, request: n => get(`/City?$top=${n}&$format=csv`) },
  { name: 'rows as lines', max: 20_000, request: n => get(`/City?$top=${n}&$format=ndjson`) },
  { name: 'different values', max: 20_000, request: n => get(`/City/notes?$distinct=true&$top=${n}`) },
  { name: 'a sorted page', max: 20_000, request: n => get(`/City?$top=${n}&$orderby="notes desc"`) },
]

const PART = '\r\n--a\r\ncontent-disposition: form-data; name="a"'

function form(piece: string, length: number) {
  const headers = { 'content-type': 'multipart/form-data; boundary=a' }
  return { path: '/$upload?$binary=true', body: repeat(piece, length), headers }
}

const namesOf = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":1`).join()

const group = (body: string) => ({ path: '/$directory/currentUserBelongsTo', body })
const note = (body: string) => ({ path: '/Note?$method=update', body })

function message(body: string) {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return { path: '//mcp', body, headers }
}

const tool = (name: string, input: object) =>
  message(
    JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name, arguments: { class: 'City', ...input } },
    }),
  )

function header(name: string, value: string) {
  return { path: '/City(1)', headers: { [name]: value } }
}

const HEAD = '{"alg":"EdDSA"}'

function bearer(head: string, claims = '{}') {
  const text = [head, claims].map(part => Buffer.from(part).toString('base64url')).join('.')
  const signature = sign(null, Buffer.from(text), tokenKeys.privateKey).toString('base64url')
  return header('authorization', `Bearer ${text}.${signature}`)
}

function login(body: string) {
  return { path: '/$directory/login', body }
}

function call(name: string, body: string) {
  return { path: `/$catalog/${name}`, body }
}

function compared(filter: string, value: unknown) {
  return { $filter: filter, $params: [value] }
}

function nested(length: number): string {
  const deep = `${'('.repeat(190)}ID=1${')'.repeat(190)}`
  return `ID=0${` or ${deep}`.repeat(Math.max(1, Math.floor(length / (deep.length + 4))))}`
}

function unknownAttributes(length: number): string {
  const count = Math.max(1, Math.floor(length / 12))
  return `{${Array.from({ length: count }, (_, i) => `"${i.toString(36).padStart(7, 'x')}":1`).join()}}`
}
