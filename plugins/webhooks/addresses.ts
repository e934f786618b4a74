import { type LookupAddress, lookup as resolve } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The part of `dns.lookup` that is used. */
export type Resolve = (
  host: string,
  options: { readonly all: true; readonly family?: number },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** Describes the problem of a hook's address without showing the address, which may be a secret. */
export function addressProblem(text: string, allowPrivate: boolean): string | undefined {
  if (!URL.canParse(text)) return 'is not an address such as https://example.com/hook'
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return `begins with ${url.protocol}; it begins with https: or http:`
  if (url.username !== '' || url.password !== '')
    return 'has a user name or a password; the signature tells the receiver who sends'
  const host = hostOf(url)
  return isIP(host) === 0 || allowPrivate ? undefined : forbidden(host)
}

/** Host of an address; for IPv6 without brackets. The parser has normalized forms such as `0x7f.1`. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, '$1')

/**
 * Reason why an IP address may not be connected to; undefined if it may. IPv6 addresses that contain an IPv4 address are checked as that
 * IPv4 address. Source: IANA, Special-Purpose Address Registries.
 */
export function forbidden(address: string): string | undefined {
  const parsedAddress = ipaddr.parse(address)
  const range = rangeOf(parsedAddress)
  return range === undefined
    ? undefined
    : `is ${address}, which is not a public address (${range}); allowPrivate allows it`
}

/** Global unicast addresses of IPv6. The library names the special ones among them. */
const GLOBAL: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('64:ff9b::'), 96]

function rangeOf(parsedAddress: ipaddr.IPv4 | ipaddr.IPv6): string | undefined {
  if (parsedAddress instanceof ipaddr.IPv4) {
    const range = parsedAddress.range()
    return range === 'unicast' ? undefined : range
  }
  if (parsedAddress.isIPv4MappedAddress()) return rangeOf(parsedAddress.toIPv4Address())
  if (parsedAddress.match(NAT64)) return rangeOf(new ipaddr.IPv4(parsedAddress.toByteArray().slice(12)))
  const range = parsedAddress.range()
  if (range !== 'unicast') return range
  return parsedAddress.match(GLOBAL) ? undefined : 'reserved'
}

/**
 * A `lookup` for connections that fails if any address of a name is forbidden. The connection is made to an address that was checked, so
 * that an answer of DNS that changes meanwhile has no effect.
 */
export function checkedLookup(resolver: Resolve = resolve as Resolve): LookupFunction {
  return (host, options, callback) => {
    // The caller says whether it wants one address or all of them.
    const finish = callback as (error: Error | null, address?: string | LookupAddress[], family?: number) => void
    const family = Number(options.family) || 0
    resolver(host, { all: true, ...(family > 0 && { family }) }, (error, addresses) => {
      if (error) return finish(error)
      const [first] = addresses
      if (!first) return finish(new Error(`${host} has no address`))
      for (const { address } of addresses) {
        const problem = forbidden(address)
        if (problem) return finish(new Error(`${host} ${problem}`))
      }
      if (options.all) finish(null, addresses)
      else finish(null, first.address, first.family)
    })
  }
}
