import type { TransportName } from '../../../kernel/transport/transport.ts'

/** Path of requests that are hidden behind others and must never run. */
export const SMUGGLED_PATH = '/smuggled'

/** An attack that a server must withstand. After each it serves the next connection, and `SMUGGLED_PATH` has not run. */
export interface HostileRequest {
  name: string
  /** Pieces, sent in order, each in a separate turn. */
  send: readonly (string | Uint8Array)[]
  /**
   * `refused`: the server ends the connection, with an error as its only answer or with none.
   * `ended`: the server may wait for more, so the client ends the connection; at most one answer, with any status except 500.
   * `reset`: the same, but the client resets the connection.
   */
  outcome: 'refused' | 'ended' | 'reset'
  /** Status of the one answer, if it is the same on all transports. */
  status?: number
  /** Builds whose parser hides the problem from JavaScript; see kernel/transport/README.md. */
  undetectedBy?: readonly TransportName[]
}

const TARGET = '/rest/$catalog'
const SMUGGLED = `GET ${SMUGGLED_PATH} HTTP/1.1\r\nHost: x\r\n\r\n`
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const ONE_CHUNK = '1\r\na\r\n0\r\n\r\n'

const get = (headers: string, target = TARGET) => `GET ${target} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
const post = (headers: string, body: string) => `POST ${TARGET} HTTP/1.1\r\nHost: x\r\n${headers}\r\n${body}`
const bytes = (text: string) => Buffer.from(text, 'latin1')

const lengths: readonly HostileRequest[] = [
  ['two equal lengths', `Content-Length: 1\r\nContent-Length: 1\r\n`],
  ['two lengths, the first one short', `Content-Length: 1\r\nContent-Length: ${SMUGGLED.length + 1}\r\n`],
  ['two lengths, the first one long', `Content-Length: ${SMUGGLED.length + 1}\r\nContent-Length: 1\r\n`],
  ['an empty length before a good one', `Content-Length: \r\nContent-Length: 1\r\n`],
  ['an empty length', 'Content-Length:\r\n'],
  ['a length of blanks', 'Content-Length: \t \r\n'],
  ['a length with a plus sign', 'Content-Length: +1\r\n'],
  ['a negative length', 'Content-Length: -1\r\n'],
  ['a hexadecimal length', 'Content-Length: 0x1\r\n'],
  ['a decimal fraction as length', 'Content-Length: 1.0\r\n'],
  ['a length in exponent form', 'Content-Length: 1e0\r\n'],
  ['two lengths in one line', 'Content-Length: 1, 1\r\n'],
  ['a length with a blank inside', 'Content-Length: 1 1\r\n'],
  ['a length with an underscore', 'Content-Length: 1_0\r\n'],
  ['a length of 16 digits', 'Content-Length: 1000000000000000\r\n'],
  ['a length of 40 digits', `Content-Length: ${'9'.repeat(40)}\r\n`],
  ['a length beyond 64 bits that wraps to 1', 'Content-Length: 18446744073709551617\r\n'],
  ['a length that is not a number', 'Content-Length: NaN\r\n'],
].map(([name, header]) => ({ name: name!, send: [post(header!, `a${SMUGGLED}`)], outcome: 'refused' }))

const codings: readonly HostileRequest[] = [
  ['chunked twice in one line', 'Transfer-Encoding: chunked, chunked\r\n'],
  ['chunked twice in two lines', `${CHUNKED}${CHUNKED}`],
  ['an unknown coding', 'Transfer-Encoding: xchunked\r\n'],
  ['identity', 'Transfer-Encoding: identity\r\n'],
  ['identity before chunked', 'Transfer-Encoding: identity, chunked\r\n'],
  ['gzip before chunked', 'Transfer-Encoding: gzip, chunked\r\n'],
  ['gzip after chunked', 'Transfer-Encoding: chunked, gzip\r\n'],
  ['chunked in quotes', 'Transfer-Encoding: "chunked"\r\n'],
  ['chunked with a parameter', 'Transfer-Encoding: chunked;a=b\r\n'],
  ['chunked after a comma', 'Transfer-Encoding: ,chunked\r\n'],
  ['an empty coding', 'Transfer-Encoding:\r\n'],
  ['an empty coding before chunked', `Transfer-Encoding:\r\n${CHUNKED}`],
  ['an unknown coding before chunked', `Transfer-Encoding: x\r\n${CHUNKED}`],
  ['a coding and a length', `${CHUNKED}Content-Length: 1\r\n`],
  ['a length and a coding', `Content-Length: ${ONE_CHUNK.length}\r\n${CHUNKED}`],
  ['a length and an empty coding', `Content-Length: ${ONE_CHUNK.length}\r\nTransfer-Encoding:\r\n`],
].map(([name, header]) => ({ name: name!, send: [post(header!, ONE_CHUNK + SMUGGLED)], outcome: 'refused' }))

const chunks: readonly HostileRequest[] = [
  ['a chunk size that is not hexadecimal', 'z\r\na\r\n'],
  ['an empty chunk size', '\r\na\r\n'],
  ['a negative chunk size', '-1\r\na\r\n'],
  ['a chunk size with 0x', '0x1\r\na\r\n'],
  ['a chunk size beyond 64 bits', 'fffffffffffffffff\r\na\r\n'],
  ['a chunk size of 10 kB', `${'0'.repeat(10_000)}1\r\na\r\n`],
  ['a chunk longer than its size', '1\r\nabc\r\n'],
  ['chunk lines that end in bare LF', '1\na\n0\n\n'],
  ['a NUL in a chunk size', '1\0\r\na\r\n'],
  ['a chunk extension of 20 kB', `1;${'e'.repeat(20_000)}\r\na\r\n`],
  ['a body of nothing but chunk sizes', '1'],
].map(([name, body]) => ({ name: name!, send: [post(CHUNKED, body!)], outcome: 'ended' }))

const trailers: readonly HostileRequest[] = [
  {
    name: 'a request in place of trailers',
    send: [post(CHUNKED, `1\r\na\r\n0\r\n${SMUGGLED}`)],
    outcome: 'ended',
    undetectedBy: ['uws'],
  },
  {
    name: 'a request after two bytes in place of trailers',
    send: [post(CHUNKED, `1\r\na\r\n0\r\nXX${SMUGGLED}`)],
    outcome: 'ended',
    undetectedBy: ['uws', 'uws-node20'],
  },
  { name: 'a trailer', send: [post(CHUNKED, '1\r\na\r\n0\r\nX: a\r\n\r\n')], outcome: 'ended' },
  { name: 'trailers that never end', send: [post(CHUNKED, `0\r\n${'X: a\r\n'.repeat(10_000)}`)], outcome: 'ended' },
]

const heads: readonly HostileRequest[] = [
  { name: 'two equal Host headers', send: [get('Host: x\r\n')], outcome: 'refused' },
  { name: 'two differing Host headers', send: [get('Host: y\r\n')], outcome: 'refused' },
  { name: 'an empty Host header', send: [`GET ${TARGET} HTTP/1.1\r\nHost:\r\n\r\n`], outcome: 'refused' },
  {
    name: 'a header without a name that hides a length',
    send: [post(`: x\r\nContent-Length: ${SMUGGLED.length}\r\n`, SMUGGLED)],
    outcome: 'ended',
    undetectedBy: ['uws', 'uws-node20'],
  },
  ...[
    ['no Host header', `GET ${TARGET} HTTP/1.1\r\n\r\n`],
    ['a header without a name', get(': x\r\n')],
    ['a blank before the colon', post('Content-Length : 1\r\n', 'a')],
    ['a tab before the colon', post('Transfer-Encoding\t: chunked\r\n', ONE_CHUNK)],
    ['a header line without a colon', get('Nonsense\r\n')],
    ['a folded header line', post('X: a\r\n Content-Length: 1\r\n', 'a')],
    ['a folded length', post('Content-Length:\r\n 1\r\n', 'a')],
    ['a folded first header line', `GET ${TARGET} HTTP/1.1\r\n X: a\r\nHost: x\r\n\r\n`],
    ['a NUL in a header value', get('X: a\0b\r\n')],
    ['a NUL in a header name', get('X\0: a\r\n')],
    ['a NUL in the path', get('', '/rest/\0')],
    ['a NUL before the request', `\0${get('')}`],
    ['a carriage return in a header value', get('X: a\rb\r\n')],
    ['a vertical tab after a coding', post('Transfer-Encoding: chunked\x0b\r\n', ONE_CHUNK)],
    ['a vertical tab before a length', post('Content-Length: \x0b1\r\n', 'a')],
    ['lines that end in bare LF', `GET ${TARGET} HTTP/1.1\nHost: x\n\n`],
    ['lines that end in bare CR', `GET ${TARGET} HTTP/1.1\rHost: x\r\r`],
    ['a bare LF that hides a header', post('X: a\nContent-Length: 1\r\n', 'a')],
    ['a head that ends in bare LF', `GET ${TARGET} HTTP/1.1\r\nHost: x\r\n\n`],
    ['HTTP/0.9', `GET ${TARGET}\r\n`],
    ['HTTP/0.9 with headers', `GET ${TARGET}\r\nHost: x\r\n\r\n`],
    ['HTTP/1.0 without Host', `GET ${TARGET} HTTP/1.0\r\n\r\n`],
    ['an unknown version', `GET ${TARGET} HTTP/9.9\r\nHost: x\r\n\r\n`],
    ['a version in lower case', `GET ${TARGET} http/1.1\r\nHost: x\r\n\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an absolute target', get('', `http://y${TARGET}`)],
    ['the target *', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an authority as target', 'CONNECT y:80 HTTP/1.1\r\nHost: y\r\n\r\n'],
    ['a target without a slash', get('', 'rest')],
    ['an empty target', get('', '')],
    ['two blanks before the target', get('', ` ${TARGET}`)],
    ['a tab before the target', `GET\t${TARGET} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['a blank in the target', get('', '/rest/a b')],
    ['no method', ` ${TARGET} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['a method in lower case', `get ${TARGET} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['a method that does not exist', `BREW ${TARGET} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['a method of 10 kB', `${'A'.repeat(10_000)} ${TARGET} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['a request line of 100 kB', get('', `/${'a'.repeat(100_000)}`)],
    ['a query of 100 kB', get('', `${TARGET}?$filter=${'a'.repeat(100_000)}`)],
    ['a header of 1 MB', get(`X: ${'a'.repeat(1_000_000)}\r\n`)],
    ['a header name of 100 kB', get(`${'a'.repeat(100_000)}: x\r\n`)],
    ['10,000 headers', get('X: a\r\n'.repeat(10_000))],
    ['a head that never ends', `GET ${TARGET} HTTP/1.1\r\nHost: x\r\nX: a\r\n`],
    ['nothing but line ends', '\r\n'.repeat(1_000)],
    ['an upgrade to a WebSocket', get('Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n')],
    ['an upgrade to HTTP/2', get('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAM\r\n')],
    ['an unknown expectation', post('Expect: the-unexpected\r\nContent-Length: 1\r\n', 'a')],
    ['header names of objects', get('__proto__: x\r\nconstructor: y\r\ntoString: z\r\n')],
  ].map(([name, request]): HostileRequest => ({ name: name!, send: [bytes(request!)], outcome: 'ended' })),
  { name: 'bytes in the path that are not UTF-8', send: [bytes(get('', '/rest/\xff\xfe'))], outcome: 'ended' },
  { name: 'bytes in the query that are not UTF-8', send: [bytes(get('', `${TARGET}?\xc3`))], outcome: 'ended' },
  { name: 'bytes in a header that are not UTF-8', send: [bytes(get('Cookie: \xff\xc3\r\n'))], outcome: 'ended' },
  { name: 'a byte after a length', send: [bytes(post('Content-Length: 1\xff\r\n', 'a'))], outcome: 'ended' },
  {
    name: 'a length in a byte above ASCII',
    send: [bytes(post('Content-Length: \xb2\r\n', SMUGGLED))],
    outcome: 'refused',
  },
  {
    name: 'the hello of a TLS client',
    send: [Buffer.from(`16030100c8010000c40303${'ab'.repeat(193)}`, 'hex')],
    outcome: 'ended',
  },
  {
    name: '64 kB of noise',
    send: [Buffer.from({ length: 65_536, 0: 0 }).map((_, i) => (i * 7919 + 13) & 255)],
    outcome: 'ended',
  },
  {
    name: 'a body of nearly 1 GB',
    send: [post('Content-Length: 999999999\r\n', 'a')],
    outcome: 'refused',
    status: 413,
  },
]

const pauses: readonly HostileRequest[] = [
  { name: 'nothing at all', send: [], outcome: 'ended' },
  { name: 'a head in single bytes', send: [...get('')], outcome: 'ended' },
  { name: 'a chunked body in single bytes', send: [post(CHUNKED, ''), ...ONE_CHUNK], outcome: 'ended' },
  { name: 'a long head in pieces', send: pieces(get(`X: ${'a'.repeat(40_000)}\r\n`), 1_000), outcome: 'ended' },
  {
    name: 'two requests in single bytes, the first refused',
    send: [...post('Content-Length: +1\r\n', ''), ...SMUGGLED],
    outcome: 'refused',
  },
  {
    name: 'the second request in a packet of its own',
    send: [post('Content-Length: \r\n', ''), SMUGGLED],
    outcome: 'refused',
  },
  { name: 'a client that leaves at once', send: [], outcome: 'reset' },
  { name: 'a client that leaves within the request line', send: ['GET /re'], outcome: 'reset' },
  { name: 'a client that leaves within the headers', send: [`GET ${TARGET} HTTP/1.1\r\nHo`], outcome: 'reset' },
  { name: 'a client that leaves after the head', send: [post('Content-Length: 5\r\n', '')], outcome: 'reset' },
  { name: 'a client that leaves within the body', send: [post('Content-Length: 5\r\n', 'a')], outcome: 'reset' },
  { name: 'a client that leaves within a chunk size', send: [post(CHUNKED, '1')], outcome: 'reset' },
  { name: 'a client that leaves within a chunk', send: [post(CHUNKED, '5\r\na')], outcome: 'reset' },
  {
    name: 'a client that leaves after the whole request',
    send: [post('Content-Length: 1\r\n', 'a')],
    outcome: 'reset',
  },
  {
    name: 'a client that closes its side within the body',
    send: [post('Content-Length: 5\r\n', 'a')],
    outcome: 'ended',
  },
]

function pieces(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size))
}

export const hostileRequests: readonly HostileRequest[] = [
  ...lengths,
  ...codings,
  ...chunks,
  ...trailers,
  ...heads,
  ...pauses,
]
