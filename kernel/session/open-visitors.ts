import { resolve } from 'node:path'
import { watch } from 'chokidar'
import type { Logger } from 'pino'
import type { Config } from '../../config/load-config.ts'
import type { Engine } from '../../engine/index.ts'
import { Directory, readDirectory } from '../auth/directory.ts'
import { Tokens } from '../auth/tokens.ts'
import { RequestQuota } from './request-quota.ts'
import { Sessions } from './sessions.ts'
import { Visitors } from './visitors.ts'

/** File of users and keys: the option, or `tesser.directory.json` beside the config file. */
export const directoryFile = ({ auth, folder }: Config): string =>
  auth.directoryFile ?? resolve(folder, 'tesser.directory.json')

/**
 * Sessions, users, keys and quotas as the configuration says. The file of users is read again when it changes; one that is
 * wrong then is logged, and what was read before stays.
 * @throws {DirectoryError} {@link ConfigError} the file is wrong
 */
export async function openVisitors(config: Config, engine: Engine, log: Logger, now: () => number): Promise<Visitors> {
  const { session, auth, quota, server } = config
  const file = directoryFile(config)
  const { keyFile, ...checks } = auth.jwt
  const tokens = keyFile === undefined ? undefined : Tokens.open({ keyFile, ...checks }, now)
  const identities = { directory: new Directory(readDirectory(file)), tokens }
  const sessions = await Sessions.open(session, engine.records, {
    now,
    isSecure: server.tls !== undefined,
    onInternalError: text => log.error(text),
  })
  const watcher = watch(file, { ignoreInitial: true, awaitWriteFinish: { stabilityThreshold: 100 } })
  watcher.on('all', () => {
    try {
      identities.directory = new Directory(readDirectory(file))
      log.info({ file }, 'users and keys were read again')
    } catch (error) {
      log.error(`users and keys stay as they were: ${(error as Error).message}`)
    }
  })
  const requestQuota = new RequestQuota(quota, now)
  return new Visitors(sessions, identities, requestQuota, server.cors.origins, now, () => watcher.close())
}
