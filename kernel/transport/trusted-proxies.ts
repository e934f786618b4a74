import { compile } from '@fastify/proxy-addr'
import parseForwarded from 'forwarded-parse'
import ipaddr from 'ipaddr.js'
import { ConfigError } from '../../config/config-error.ts'
import { suggestion } from '../../engine/index.ts'
import { Client } from './client.ts'
import { EdgeErrors } from './edge-errors.ts'

const NAMES = ['loopback', 'linklocal', 'uniquelocal']
/** Maximum length of a chain of proxies; every address in it is compared with all trusted ones. */
const MAX_HOPS = 32

/** Element of a forwarding header: a proxy's report about the peer from which it received the request. */
interface Hop {
  /** Undefined if the proxy names no address: `unknown`, `_hidden`. */
  readonly address?: string | undefined
  readonly protocol?: string | undefined
  readonly host?: string | undefined
}

/** All lines of a header, by its lower-case name, joined with commas. Source: RFC 9110, 5.3. */
type JoinedHeader = (name: string) => string

/**
 * Proxies that are trusted to report the sender of a request: `X-Forwarded-For`, `-Proto`, `-Host`, and `Forwarded` (RFC 7239).
 *
 * Every proxy appends to these headers, so they are read from the end: the client is the first address, counted from the server, that is
 * not a trusted proxy. Anything before it was written by the client and is ignored. Configuring a number of proxies instead of their
 * addresses would mean trusting every client that connects directly.
 */
export class TrustedProxies {
  readonly #trusts: (address: string) => boolean
  readonly isEmpty: boolean

  /**
   * @param entries addresses, networks such as `10.0.0.0/8`, or `loopback`, `linklocal`, `uniquelocal`
   * @throws {ConfigError} naming the invalid entries
   */
  constructor(entries: readonly string[]) {
    this.isEmpty = entries.length === 0
    const problems = entries
      .filter(entry => !isEntry(entry))
      .map(
        entry =>
          `server.trustedProxies: ${JSON.stringify(entry)} is not an address such as "10.0.0.7", a network such as ` +
          `"10.0.0.0/8", or one of ${NAMES.join(', ')}${suggestion(entry, NAMES)}`,
      )
    if (problems.length > 0) throw new ConfigError(problems)
    const trusts = compile([...entries])
    this.#trusts = address => trusts(address, 0)
  }

  /**
   * Finds the client of a request.
   * @param direct client according to the connection only
   * @throws {EdgeErrors.MALFORMED_REQUEST} 400 when `Forwarded` cannot be read, or the two kinds of headers name different clients: a proxy
   * maintains one of them, and the other may come from the client
   */
  clientOf(direct: Client, header: JoinedHeader): Client {
    if (this.isEmpty || !this.#trusts(direct.address)) return direct
    const legacy = this.#follow(direct.address, legacyHops(header))
    const standard = this.#follow(direct.address, standardHops(header('forwarded')))
    if (legacy.address !== undefined && standard.address !== undefined && legacy.address !== standard.address) {
      throw EdgeErrors.MALFORMED_REQUEST(
        'X-Forwarded-For and Forwarded name different clients; the proxy has to remove the header that it does not write',
      )
    }
    const { address, protocol, host } = { ...legacy, ...standard }
    if (address === undefined && protocol === undefined && host === undefined) return direct
    return new Client(
      address ?? direct.address,
      protocol === undefined ? direct.isSecure : /^(https|wss)$/i.test(protocol),
      host ?? direct.host,
      true,
    )
  }

  /** Follows the hops, nearest first, as far as proxies are trusted. */
  #follow(peer: string, hops: readonly Hop[]): Hop {
    const result: { -readonly [K in keyof Hop]: Hop[K] } = {}
    for (const { address, protocol, host } of hops) {
      if (!this.#trusts(result.address ?? peer)) break
      if (protocol) result.protocol = protocol
      if (host) result.host = host
      if (address === undefined) break
      result.address = address
    }
    return result
  }
}

function isEntry(entry: string): boolean {
  // `compile` accepts "1" as an address; in other settings it is a number of proxies.
  if (!NAMES.includes(entry) && addressOf(entry.split('/')[0]) === undefined) return false
  try {
    compile(entry)
    return true
  } catch {
    return false
  }
}

/** Hops of `X-Forwarded-*`, nearest first. A proxy that does not append to `-Proto` and `-Host` sets them for the whole chain. */
function legacyHops(header: JoinedHeader): Hop[] {
  const addresses = lastItems(header('x-forwarded-for'))
  const protocols = lastItems(header('x-forwarded-proto'))
  const hosts = lastItems(header('x-forwarded-host'))
  const count = Math.max(addresses.length, protocols.length, hosts.length)
  return Array.from({ length: count }, (_, i) => ({
    address: addressOf(addresses[i]),
    protocol: protocols[i],
    host: hosts[i],
  }))
}

/** Hops of `Forwarded`, nearest first. */
function standardHops(value: string): Hop[] {
  if (value === '') return []
  let elements: Record<string, string>[]
  try {
    elements = parseForwarded(value)
  } catch {
    throw EdgeErrors.MALFORMED_REQUEST('Forwarded cannot be read; an example is for=192.0.2.1;proto=https')
  }
  return elements
    .slice(-MAX_HOPS)
    .reverse()
    .map(({ for: address, proto: protocol, host }) => ({ address: addressOf(address), protocol, host }))
}

/** Items of a list, last first; the rest beyond MAX_HOPS is not split. */
function lastItems(list: string): string[] {
  const items: string[] = []
  for (let end = list.length; end > 0 && items.length < MAX_HOPS; ) {
    const comma = list.lastIndexOf(',', end - 1)
    items.push(list.slice(comma + 1, end).trim())
    end = comma
  }
  return items
}

/** Address in `192.0.2.1`, `192.0.2.1:4711`, `[2001:db8::1]:4711`, in its normal form; undefined when there is none. */
function addressOf(node: string | undefined): string | undefined {
  if (node === undefined || node.length > 100) return undefined
  const address = /^\[([^\]]*)\](?::\w+)?$/.exec(node)?.[1] ?? /^([\d.]+):\w+$/.exec(node)?.[1] ?? node
  // `isValid` is not sufficient, because it accepts `1` and `0x7f.1`.
  return (address.includes(':') && ipaddr.isValid(address)) || ipaddr.IPv4.isValidFourPartDecimal(address)
    ? ipaddr.process(address).toString()
    : undefined
}
