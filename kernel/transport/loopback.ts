import { isIP } from 'node:net'

/** True if a host name or an address always refers to this machine: `localhost`, `127.0.0.1`, `::1`. Source: RFC 6761, 6.3. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
