import type { Logger } from 'pino'
import type { Engine, Granted } from '../../engine/index.ts'

interface Holder extends Partial<Granted> {
  readonly name: string
}

interface Holders {
  readonly users: readonly Holder[]
  readonly keys: readonly Holder[]
}

/**
 * Problems of users and keys with roles or privileges that the file of roles does not declare, a sentence each; such grants have no
 * effect.
 * @param unknownIn sentences about unknown rights among those granted
 */
export function unknownGrantsOf(
  { users, keys }: Holders,
  unknownIn: (granted: Granted) => readonly string[],
): string[] {
  const problems = (kind: string, { name, roles = [], privileges = [] }: Holder): string[] =>
    unknownIn({ roles, privileges }).map(problem => `${kind} ${name}: ${problem}`)
  return [...users.flatMap(user => problems('user', user)), ...keys.flatMap(key => problems('key', key))]
}

export function warnOfUnknownGrants(holders: Holders, { permissions }: Engine, log: Pick<Logger, 'warn'>): void {
  for (const problem of unknownGrantsOf(holders, granted => permissions.unknownIn(granted))) log.warn(problem)
}
