import type { LookupAddress } from 'node:dns'
import t from 'tap'
import { addressProblem, checkedLookup, forbidden, type Resolve } from '../../../../plugins/webhooks/addresses.ts'

const allowed = [
  '8.8.8.8',
  '1.1.1.1',
  '100.128.0.1',
  '172.32.0.1',
  '2606:4700::1111',
  '2a00:1450::1',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
]
const refused = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '0.0.0.0',
  '0.1.2.3',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.88.99.1',
  '::1',
  '::',
  'fe80::1',
  'fec0::1',
  'fc00::1',
  'fd12:3456::1',
  'ff02::1',
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '::127.0.0.1',
  '::7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::a00:1',
  '64:ff9b:1::808:808',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
  '2001:10::1',
  '2001:2::1',
  '100::1',
  '3fff::1',
  '5f00::1',
  '::ffff:0:127.0.0.1',
  '4000::1',
]

t.test('only public addresses may be connected to', t => {
  for (const address of allowed) t.equal(forbidden(address), undefined, address)
  for (const address of refused)
    t.match(forbidden(address), /not a public address \([A-Za-z0-9]+\); allowPrivate allows it/, address)
  t.end()
})

const literals = [
  'http://127.0.0.1/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://0177.0.0.1/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://127.0.0.1./',
  'https://10.1.2.3:8443/x',
]

t.test('addresses of hooks, in every spelling', t => {
  for (const url of literals) {
    t.match(addressProblem(url, false), /not a public address/, url)
    t.equal(addressProblem(url, true), undefined, `${url}, allowed`)
  }
  for (const url of ['https://example.com/', 'http://example.com:8080/a?b=c', 'https://[2606:4700::1111]/'])
    t.equal(addressProblem(url, false), undefined, url)
  for (const url of ['file:///etc/passwd', 'gopher://example.com/', 'javascript:1', 'data:,x'])
    t.match(addressProblem(url, true), /begins with/, url)
  for (const url of ['', 'example.com', 'http://', '//example.com/'])
    t.match(addressProblem(url, true), /is not an address/, url)
  for (const url of ['http://u@example.com/', 'http://u:p@example.com/', 'http://:p@example.com/'])
    t.match(addressProblem(url, true), /has a user name/, url)
  t.end()
})

const answer = (...addresses: string[]): LookupAddress[] =>
  addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
const look = (resolve: Resolve, all: boolean) =>
  new Promise(done => checkedLookup(resolve)('name.example', { all }, (...found: unknown[]) => done(found)))

t.test('each address of a name is checked, and one that was checked is connected to', async t => {
  const fixed =
    (...addresses: string[]): Resolve =>
    (_host, _options, done) =>
      done(null, answer(...addresses))
  t.same(await look(fixed('8.8.8.8', '1.1.1.1'), false), [null, '8.8.8.8', 4])
  t.same(await look(fixed('8.8.8.8', '2606:4700::1111'), true), [null, answer('8.8.8.8', '2606:4700::1111')])
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['2606:4700::1111', '::1']]) {
    t.match(
      await look(fixed(...addresses), true),
      [{ message: /^name.example is .*not a public address/ }],
      addresses.join(),
    )
  }
  t.match(await look(fixed(), false), [{ message: 'name.example has no address' }])
  t.match(await look((_host, _options, done) => done(new Error('ENOTFOUND'), []), false), [{ message: 'ENOTFOUND' }])
  let asked = 0
  const rebinding: Resolve = (_host, _options, done) => done(null, answer(asked++ === 0 ? '8.8.8.8' : '127.0.0.1'))
  t.same([await look(rebinding, false), asked], [[null, '8.8.8.8', 4], 1], 'it is resolved once')
})
