import { SocketAddress } from 'node:net'

/** Text of a binary address of 4 or 16 bytes, as `node:net` writes it; an IPv4 address within IPv6 as dotted quad. */
export function addressText(address: ArrayBuffer): string {
  const bytes = new Uint8Array(address)
  if (bytes.length !== 16) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16))
  return unmapAddress(new SocketAddress({ family: 'ipv6', address: groups.join(':') }).address)
}

/** Removes the prefix of a mapped address: a socket for both families shows `10.0.0.1` as `::ffff:10.0.0.1`. */
export function unmapAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
