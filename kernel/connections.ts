import { ConfigError } from '../config/config-error.ts'
import type { Config } from '../config/load-config.ts'
import type { ConnectionOptions } from '../config/option.ts'
import { isReference } from '../config/reference.ts'
import { addSecrets } from '../engine/base/known-secrets.ts'
import { type Connection, suggestion } from '../engine/index.ts'

const DEFAULT_CONNECTIONS = 10
const ADDRESS = /^postgres(?:ql)?:\/\//

/** The databases of the config, with the values that it refers to. @throws {ConfigError} with all problems */
export function openConnections({
  connections,
  nodes,
  readReference,
}: Pick<Config, 'connections' | 'nodes' | 'readReference'>): Record<string, Connection> {
  const problems: string[] = []
  const read = (value: ConnectionOptions['url'], place: string): string => {
    if (!isReference(value)) return value
    const outcome = readReference(value)
    if ('text' in outcome) return outcome.text
    if ('problem' in outcome) problems.push(`${place}: ${outcome.problem}`)
    return ''
  }
  const entries = Object.entries(connections).map(
    ([name, { url, password, maxConnections = DEFAULT_CONNECTIONS, sessionVariable }]) => {
      const place = `connections.${name}`
      const address = withHost(read(url, `${place}.url`))
      if (address !== '' && !(ADDRESS.test(address) && URL.canParse(address))) {
        problems.push(`${place}.url: it is not an address such as postgres://user@host:5432/database`)
      } else addSecrets(passwordsIn(address))
      const secret = password === undefined ? undefined : read(password, `${place}.password`)
      addSecrets([secret ?? ''])
      return [
        name,
        { url: address, ...(secret !== undefined && { password: secret }), maxConnections, sessionVariable },
      ] as const
    },
  )
  const sharedName = nodes.connection
  if (sharedName !== undefined && !Object.hasOwn(connections, sharedName)) {
    problems.push(
      `nodes.connection: there is no connection "${sharedName}" in the config file${suggestion(sharedName, Object.keys(connections))}`,
    )
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.fromEntries(entries)
}

/** Adds a host to an address without one, which uses a socket in the parameters, or this machine. */
const withHost = (address: string): string => address.replace(/^([a-z]+:\/\/[^/?#]*@)(?=\/|$)/i, '$1localhost')

/** Passwords of an address, if it has any. */
function passwordsIn(address: string): string[] {
  if (address === '') return []
  const { password, searchParams } = new URL(address)
  // The driver refuses characters that are not percent-encoded.
  const decodedPassword = /%(?![\da-f]{2})/i.test(password) ? password : decodeURIComponent(password)
  return [decodedPassword, ...searchParams.getAll('password')]
}
