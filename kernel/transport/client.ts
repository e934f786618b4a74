import ipaddr from 'ipaddr.js'

/** Groups of an IPv6 address that name a network; the others are the subscriber's to choose. Source: RFC 4291, 2.5.4. */
const NETWORK_GROUPS = 4

/** Sender of a request: the peer of the connection, or what trusted proxies say of the client behind them. */
export class Client {
  #network: string | undefined

  constructor(
    /** IPv4 as dotted quad, IPv6 in its shortest form. Empty when the connection ended before it was asked for. */
    readonly address: string,
    /** TLS protects the connection of the client, to the server itself or to its proxy. */
    readonly isSecure: boolean,
    /** `Host` as the client sent it. */
    readonly host: string,
    /** A trusted proxy forwarded the request and said for whom. */
    readonly isForwarded: boolean,
  ) {}

  /**
   * Key for quotas and throttles: the address, for IPv6 its network of 64 bits, of which one subscriber has all addresses.
   */
  get network(): string {
    this.#network ??= networkOf(this.address)
    return this.#network
  }
}

/** `10.0.0.1` of itself, `2001:db8::/64` of `2001:db8::1`. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const groups = (parsed as ipaddr.IPv6).parts.map((group, i) => (i < NETWORK_GROUPS ? group : 0))
  return `${new ipaddr.IPv6(groups).toString()}/64`
}
