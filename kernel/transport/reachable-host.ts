import { isIP } from 'node:net'
import { parse } from 'ipaddr.js'

/** True for `0.0.0.0` and `::`, with which a server listens on all addresses of the machine. */
export const isWildcard = (host: string): boolean => isIP(host) > 0 && parse(host).range() === 'unspecified'

/** Host of a URL that reaches a server on this machine: browsers open no `http://0.0.0.0`. @param host on which the server listens */
export function reachableHost(host: string): string {
  if (isWildcard(host)) return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
