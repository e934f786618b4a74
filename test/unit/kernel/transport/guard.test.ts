import t from 'tap'
import { RequestGuard } from '../../../../kernel/transport/guard.ts'
import { testLimits } from '../../../support/servers/transports.ts'

const verdict = (headers: readonly [string, string][], limits = testLimits, method = 'POST', path = '/rest') => {
  const guard = new RequestGuard(limits)
  guard.begin()
  for (const [name, value] of headers) guard.header(name, value)
  const error = guard.verdict(method, path, '')
  return error && { status: error.httpStatus, errCode: error.entries[0]!.errCode, message: error.message }
}
const host: [string, string] = ['host', 'x']
const length: [string, string] = ['content-length', '5']
const chunked: [string, string] = ['transfer-encoding', 'chunked']

t.test('a valid head passes', async t => {
  t.equal(verdict([host]), undefined)
  t.equal(verdict([host, length]), undefined)
  t.equal(verdict([host, chunked]), undefined)
  t.equal(verdict([host, ['content-length', '0']]), undefined)
  t.equal(verdict([['accept', 'a'], ['accept', 'b'], host]), undefined)
})

const malformed: [name: string, headers: [string, string][], reason: string][] = [
  ['two equal lengths', [host, length, length], 'there is more than one Content-Length'],
  ['an empty length and a good one', [host, ['content-length', ''], length], 'there is more than one Content-Length'],
  ['a length and a coding', [host, length, chunked], 'both Content-Length and Transfer-Encoding are given'],
  [
    'an empty length',
    [host, ['content-length', '']],
    'Content-Length is not a plain decimal number of at most 15 digits',
  ],
  [
    'a length in other digits',
    [host, ['content-length', '٣']],
    'Content-Length is not a plain decimal number of at most 15 digits',
  ],
  [
    'a length of 16 digits',
    [host, ['content-length', '1'.repeat(16)]],
    'Content-Length is not a plain decimal number of at most 15 digits',
  ],
  [
    'a length and a line end',
    [host, ['content-length', '5\n']],
    'Content-Length is not a plain decimal number of at most 15 digits',
  ],
  ['two codings', [host, chunked, chunked], 'there is more than one Transfer-Encoding'],
  ['an empty coding', [host, ['transfer-encoding', '']], 'Transfer-Encoding is not exactly "chunked"'],
  ['a coding in capitals', [host, ['transfer-encoding', 'Chunked']], 'Transfer-Encoding is not exactly "chunked"'],
  [
    'a byte after the coding',
    [host, ['transfer-encoding', 'chunked\x0b']],
    'Transfer-Encoding is not exactly "chunked"',
  ],
  ['no Host', [], 'there are 0 Host headers, exactly one is needed'],
  ['two Hosts', [host, host], 'there are 2 Host headers, exactly one is needed'],
  ['an empty Host', [['host', '']], 'the Host header is empty'],
  ['a header without a name', [host, ['', 'x']], 'a header has no name'],
]
for (const [name, headers, reason] of malformed) {
  t.test(`${name} is refused with 400 and its reason`, async t => {
    t.strictSame(verdict(headers), { status: 400, errCode: 1806, message: `malformed request: ${reason}` })
  })
}

t.test('state of one head does not affect the next', async t => {
  const guard = new RequestGuard(testLimits)
  for (const headers of [[host, length, length], [['', 'x']], [host, length]] as [string, string][][]) {
    guard.begin()
    for (const [name, value] of headers) guard.header(name, value)
  }
  t.equal(guard.verdict('POST', '/', ''), undefined)
  t.equal(guard.declaredLength, 5)
  guard.begin()
  guard.header(...host)
  t.equal(guard.declaredLength, undefined)
})

t.test('a method must be one of HTTP and a target a path', async t => {
  t.match(verdict([host], testLimits, ''), { status: 400 })
  t.match(verdict([host], testLimits, 'get'), { status: 400 })
  t.match(verdict([host], testLimits, 'XXGET'), { status: 400 })
  t.match(verdict([host], testLimits, 'GET', '*'), { status: 400 })
  t.match(verdict([host], testLimits, 'GET', 'http://x/'), { status: 400 })
  t.match(verdict([host], testLimits, 'GET', ''), { status: 400 })
})

t.test('a head is measured with its request line and all headers', async t => {
  const limits = { ...testLimits, headerBytes: 100 }
  t.equal(verdict([host, ['x', 'a'.repeat(40)]], limits), undefined)
  t.match(verdict([host, ['x', 'a'.repeat(100)]], limits), { status: 431 })
  t.match(verdict([host], limits, 'GET', `/${'a'.repeat(100)}`), { status: 431 })
})

t.test('a chunked body is refused with 411 if the option says so', async t => {
  const limits = { ...testLimits, refuseChunked: true }
  t.match(verdict([host, chunked], limits), { status: 411 })
  t.equal(verdict([host, length], limits), undefined)
})
