import type { Logger } from 'pino'
import type { Config } from '../../config/load-config.ts'
import type { Engine } from '../../engine/index.ts'
import { Directory, directoryFile, missingDirectory, readDirectory } from '../auth/directory.ts'
import { warnOfUnknownGrants } from '../auth/unknown-grants.ts'
import { FamiliarNetworks } from '../auth/familiar-networks.ts'
import { Logins } from '../auth/logins.ts'
import { LOOK_MS } from '../auth/roles-file.ts'
import { FileWatch } from '../base/file-watch.ts'
import { PagePolicy } from './page-policy.ts'
import { RequestQuota } from './request-quota.ts'
import { Sessions } from './sessions.ts'
import { type Identities, Visitors } from './visitors.ts'

/**
 * Opens sessions, users, keys and quotas as configured. The file of users is read again when it changes; if it is invalid then, that is
 * logged, and the previous content stays in force.
 * @throws {DirectoryError} {@link ConfigError} the file is invalid
 */
export async function openVisitors(config: Config, engine: Engine, log: Logger, now: () => number): Promise<Visitors> {
  const { session, auth, quota, server } = config
  const file = directoryFile(config)
  const { keyFile, ...checks } = auth.jwt
  // Most servers accept no tokens, and the modules that verify them take 50 ms to load.
  const tokens =
    keyFile === undefined ? undefined : (await import('../auth/tokens.ts')).Tokens.open({ keyFile, ...checks }, now)
  const read = (): Directory => {
    const directory = readDirectory(file)
    warnOfUnknownGrants(directory, engine, log)
    return new Directory(directory)
  }
  const warnIfMissing = (): void => {
    const warning = missingDirectory(file)
    if (warning) log.warn(warning)
  }
  // Tokens of another issuer need no file, and a server without the option may need none.
  if (auth.directoryFile !== undefined && !tokens) warnIfMissing()
  let ofFile = read()
  const identities: Identities = { directory: ofFile, tokens }
  /** False if a plugin has installed its own directory. */
  const isOfFile = (): boolean => identities.directory === ofFile
  const replace = (): void => {
    identities.directory = ofFile = read()
    log.info({ file }, 'users and keys were read again')
    warnIfMissing()
  }
  const readAgain = (): void => {
    try {
      if (isOfFile()) replace()
    } catch (error) {
      log.error(`users and keys stay as they were: ${(error as Error).message}`)
    }
  }
  const watch = new FileWatch([file], readAgain, LOOK_MS)
  const refresh = async (): Promise<void> => {
    if (isOfFile()) await watch.readEarly(replace)
  }
  const { sharedSessions: table } = engine
  const sessions = await Sessions.open({ ...session, basePath: server.basePath }, engine.records, {
    now,
    onInternalError: text => log.error(text),
    shared: table && { table, copySeconds: config.nodes.sessionSeconds },
  })
  const familiar = new FamiliarNetworks(engine.records, now, error =>
    log.error({ err: error }, 'logins were not recorded'),
  )
  const logins = new Logins(identities, familiar, auth.login, now, refresh)
  return new Visitors({
    sessions,
    identities,
    logins,
    quota: new RequestQuota(quota, now),
    pages: new PagePolicy(server),
    now,
    refresh,
    stopWatching: async () => {
      watch.close()
      await familiar.close()
    },
  })
}
