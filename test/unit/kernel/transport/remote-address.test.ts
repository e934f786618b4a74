import t from 'tap'
import { addressText, unmapAddress } from '../../../../kernel/transport/remote-address.ts'

const text = (...bytes: number[]) => addressText(new Uint8Array(bytes).buffer)

t.test('binary addresses are formatted as Node formats them', async t => {
  t.equal(text(127, 0, 0, 1), '127.0.0.1')
  t.equal(text(...Array<number>(15).fill(0), 1), '::1')
  t.equal(text(0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), 0xff), '2001:db8::ff')
  t.equal(text(...Array<number>(10).fill(0), 255, 255, 10, 0, 0, 1), '10.0.0.1')
})

t.test('an IPv4 address within IPv6 loses its prefix, others are unchanged', async t => {
  t.equal(unmapAddress('::ffff:10.0.0.1'), '10.0.0.1')
  t.equal(unmapAddress('::ffff:a00:1'), '::ffff:a00:1')
  t.equal(unmapAddress('::1'), '::1')
})
