import type { Config } from '../../config/load-config.ts'
import { isLoopback } from '../transport/loopback.ts'

/** Warning about a server that is reachable from other machines and restricts nothing; undefined when there is none to give. */
export function openServerWarning(
  { server, auth }: Pick<Config, 'server' | 'auth'>,
  hasRoles: boolean,
): string | undefined {
  const isProxied = server.trustedProxies.length > 0
  if (hasRoles || (isLoopback(server.host) && !isProxied)) return undefined
  const reason = isProxied
    ? 'server.trustedProxies forward requests of others'
    : `${server.host} is not a loopback address`
  const guests = auth.guestsAdministrate
    ? 'read, change and delete all data, and see and end all sessions'
    : 'read, change and delete all data'
  return `${reason}, and there is no roles file: every client may ${guests}. Write a roles.json (auth.rolesFile), or listen on 127.0.0.1`
}
