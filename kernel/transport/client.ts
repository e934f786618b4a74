import ipaddr from 'ipaddr.js'

/** Groups of an IPv6 address that identify a network; the subscriber chooses the others. Source: RFC 4291, 2.5.4. */
const NETWORK_GROUPS = 4

/** Sender of a request: the peer of the connection, or the client that trusted proxies report. */
export class Client {
  #network: string | undefined

  constructor(
    /** IPv4 as dotted quad, IPv6 in its shortest form. Empty if the connection ended before the address was read. */
    readonly address: string,
    /** TLS protects the client's connection, to the server itself or to its proxy. */
    readonly isSecure: boolean,
    /** `Host` as the client sent it. */
    readonly host: string,
    /** A trusted proxy forwarded the request and named its client. */
    readonly isForwarded: boolean,
  ) {}

  /**
   * Key for quotas and throttles: the address, or for IPv6 its network of 64 bits, which belongs to one subscriber.
   */
  get network(): string {
    this.#network ??= networkOf(this.address)
    return this.#network
  }
}

/** Network of an address: the address itself for IPv4, such as `10.0.0.1`; `2001:db8::/64` for `2001:db8::1`. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  const parsedAddress = ipaddr.process(address)
  if (parsedAddress.kind() === 'ipv4') return parsedAddress.toString()
  const groups = (parsedAddress as ipaddr.IPv6).parts.map((group, i) => (i < NETWORK_GROUPS ? group : 0))
  return `${new ipaddr.IPv6(groups).toString()}/64`
}
