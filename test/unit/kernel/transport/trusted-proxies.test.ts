import t from 'tap'
import { Client, networkOf } from '../../../../kernel/transport/client.ts'
import { TrustedProxies } from '../../../../kernel/transport/trusted-proxies.ts'

const PEER = '127.0.0.1'
const OURS = ['loopback', '10.0.0.0/8', 'fd00::/8']
type Headers = Record<string, string>

const clientOf = (headers: Headers, { trusted = OURS, peer = PEER, isSecure = false } = {}): Client =>
  new TrustedProxies(trusted).clientOf(new Client(peer, isSecure, 'backend', false), name => headers[name] ?? '')

const xff = (value: string): Headers => ({ 'x-forwarded-for': value })
const standard = (value: string): Headers => ({ forwarded: value })

const addresses: [name: string, headers: Headers, address: string][] = [
  ['no header: the peer', {}, PEER],
  ['one hop', xff('192.0.2.1'), '192.0.2.1'],
  ['values that the client wrote before are ignored', xff('8.8.8.8, 192.0.2.1'), '192.0.2.1'],
  ['trusted proxies in between are skipped', xff('8.8.8.8, 192.0.2.1, 10.1.2.3,127.0.0.1'), '192.0.2.1'],
  ['all are proxies: the furthest', xff('10.0.0.1, 10.0.0.2'), '10.0.0.1'],
  ['a client that writes our addresses gains nothing', xff('10.0.0.9, 192.0.2.1'), '192.0.2.1'],
  ['IPv4 within IPv6', xff('::ffff:192.0.2.1'), '192.0.2.1'],
  ['IPv6 in its shortest form', xff('2001:0DB8:0:0::1'), '2001:db8::1'],
  ['an address with a port', xff('192.0.2.1:4711'), '192.0.2.1'],
  ['IPv6 with a port', xff('[2001:db8::1]:4711'), '2001:db8::1'],
  ['no address: the proxy that reports that', xff('192.0.2.1, unknown'), PEER],
  ['no address behind another proxy: that proxy', xff('unknown, 10.0.0.2'), '10.0.0.2'],
  ['a number is not an address', xff('3221225985'), PEER],
  ['an empty header', xff(''), PEER],
  ['commas alone', xff(',,'), PEER],
  ['Forwarded', standard('for=192.0.2.1;proto=https'), '192.0.2.1'],
  ['Forwarded with several elements', standard('for=8.8.8.8, for=192.0.2.1, for=10.0.0.2'), '192.0.2.1'],
  ['Forwarded with IPv6 and a port', standard('For="[2001:db8::1]:4711"'), '2001:db8::1'],
  ['Forwarded with a hidden client', standard('for=_hidden, for=10.0.0.2'), '10.0.0.2'],
  ['Forwarded without a client', standard('proto=https'), PEER],
  ['both kinds agree', { ...xff('8.8.8.8, 192.0.2.1'), ...standard('for=192.0.2.1') }, '192.0.2.1'],
]
for (const [name, headers, address] of addresses) {
  t.test(`address: ${name}`, async t => t.equal(clientOf(headers).address, address))
}

t.test('a peer that is not trusted is the client, whatever it sends', async t => {
  const headers = { ...xff('192.0.2.1'), ...standard('for=192.0.2.2;proto=https'), 'x-forwarded-proto': 'https' }
  for (const [peer, trusted] of [
    ['8.8.8.8', OURS],
    [PEER, []],
  ] as const) {
    const client = clientOf(headers, { peer, trusted: [...trusted] })
    t.match(client, { address: peer, isSecure: false, host: 'backend', isForwarded: false })
  }
})

const schemes: [headers: Headers, isSecure: boolean][] = [
  [{ 'x-forwarded-proto': 'https' }, true],
  [{ 'x-forwarded-proto': 'HTTPS' }, true],
  [{ 'x-forwarded-proto': 'http' }, false],
  [{ ...xff('192.0.2.1'), 'x-forwarded-proto': 'https' }, true],
  // Appended by each proxy: the value of the edge counts.
  [{ ...xff('192.0.2.1, 10.0.0.2'), 'x-forwarded-proto': 'https, http' }, true],
  [{ ...xff('192.0.2.1, 10.0.0.2'), 'x-forwarded-proto': 'http, https' }, false],
  // Set by the edge for the whole chain.
  [{ ...xff('192.0.2.1, 10.0.0.2'), 'x-forwarded-proto': 'https' }, true],
  // Written by the client before the edge appended its own.
  [{ ...xff('8.8.8.8, 192.0.2.1'), 'x-forwarded-proto': 'https, http' }, false],
  [standard('for=192.0.2.1;proto=https'), true],
  [standard('for=192.0.2.1;proto=https, for=10.0.0.2;proto=http'), true],
  [standard('for=8.8.8.8;proto=https, for=192.0.2.1;proto=http'), false],
  [standard('for=192.0.2.1'), false],
]
for (const [headers, isSecure] of schemes) {
  t.test(`scheme of ${JSON.stringify(headers)}`, async t => t.equal(clientOf(headers).isSecure, isSecure))
}

t.test('if the proxy sends no scheme, the connection decides whether it is secure', async t => {
  t.equal(clientOf(xff('192.0.2.1'), { isSecure: true }).isSecure, true)
  t.equal(clientOf({ 'x-forwarded-proto': 'http' }, { isSecure: true }).isSecure, false)
})

t.test('the host is the one that the client addressed', async t => {
  t.equal(clientOf(xff('192.0.2.1')).host, 'backend')
  t.match(clientOf({ 'x-forwarded-host': 'app.example.com' }), { host: 'app.example.com', isForwarded: true })
  t.equal(clientOf(standard('for=192.0.2.1;host="app.example.com:8443"')).host, 'app.example.com:8443')
})

t.test('headers that contradict each other or cannot be read are refused', async t => {
  for (const headers of [
    { ...xff('192.0.2.1'), ...standard('for=192.0.2.2') },
    standard('for='),
    standard('for="192.0.2.1'),
    standard('192.0.2.1'),
  ]) {
    t.throws(() => clientOf(headers), { httpStatus: 400, message: /Forwarded/ })
  }
})

t.test('an endless chain costs no more than a long one', async t => {
  const chain = (hops: number) => xff(`192.0.2.1${', 10.0.0.1'.repeat(hops)}`)
  t.equal(clientOf(chain(31)).address, '192.0.2.1')
  t.equal(clientOf(chain(5_000)).address, '10.0.0.1')
})

t.test('entries that are not addresses stop the start, all reported at once', async t => {
  t.throws(() => new TrustedProxies(['loopbak', '10.0.0.0/8', '10.0.0.0/40', '1', 'proxy.local', '0.0.0.0/0']), {
    name: 'ConfigError',
    problems: [
      /"loopbak" is not .*; did you mean "loopback"\?/,
      /"10.0.0.0\/40" is not/,
      /"1" is not/,
      /"proxy.local" is not/,
      /"0.0.0.0\/0" is not/,
    ],
  })
})

t.test('IPv6 clients are counted by their networks', async t => {
  t.equal(networkOf('192.0.2.1'), '192.0.2.1')
  t.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  t.equal(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:2:ffff::'))
  t.not(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
  t.equal(networkOf('::ffff:192.0.2.1'), '192.0.2.1')
  t.equal(networkOf('::1'), '::/64')
  t.equal(networkOf(''), '')
  t.equal(new Client('2001:db8::1', false, 'x', false).network, '2001:db8::/64')
})
