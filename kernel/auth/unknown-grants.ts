import type { Logger } from 'pino'
import { ConfigError } from '../../config/config-error.ts'
import type { Config } from '../../config/load-config.ts'
import type { Engine, Granted } from '../../engine/index.ts'

interface Holder extends Partial<Granted> {
  readonly name: string
}

interface Holders {
  readonly users: readonly Holder[]
  readonly keys: readonly Holder[]
  readonly plugins?: readonly Holder[]
}

/** Plugins that have their own rights. */
export const pluginHolders = ({ plugins }: Pick<Config, 'plugins'>): Holder[] =>
  plugins.flatMap(({ specifier, granted }) => (granted ? { name: specifier, ...granted } : []))

/** @throws {ConfigError} plugins have roles or privileges that the file of roles does not declare */
export function checkPluginGrants(config: Pick<Config, 'plugins'>, { permissions }: Engine): void {
  const holders = { users: [], keys: [], plugins: pluginHolders(config) }
  const problems = unknownGrantsOf(holders, grants => permissions.unknownIn(grants))
  if (problems.length > 0) throw new ConfigError(problems)
}

/**
 * Problems of users, keys and plugins with roles or privileges that the file of roles does not declare, a sentence each; such grants have no
 * effect.
 * @param unknownIn sentences about unknown rights among those granted
 */
export function unknownGrantsOf(
  { users, keys, plugins = [] }: Holders,
  unknownIn: (grants: Granted) => readonly string[],
): string[] {
  const problems = (kind: string, { name, roles = [], privileges = [] }: Holder): string[] =>
    unknownIn({ roles, privileges }).map(problem => `${kind} ${name}: ${problem}`)
  return [
    ...users.flatMap(user => problems('user', user)),
    ...keys.flatMap(key => problems('key', key)),
    ...plugins.flatMap(plugin => problems('plugin', plugin)),
  ]
}

export function warnOfUnknownGrants(holders: Holders, { permissions }: Engine, log: Pick<Logger, 'warn'>): void {
  for (const problem of unknownGrantsOf(holders, grants => permissions.unknownIn(grants))) log.warn(problem)
}
