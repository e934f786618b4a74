import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../../config/load-config.ts'
import { readJsonFile } from '../../config/read-json-file.ts'
import type { Engine } from '../../engine/index.ts'
import { FileWatch } from '../base/file-watch.ts'
import { directoryFile, readDirectory } from './directory.ts'
import { pluginHolders, warnOfUnknownGrants } from './unknown-grants.ts'

/** Interval between checks of a file of roles or of users: a change is in force after at most twice this time. */
export const LOOK_MS = 500

/**
 * Path of the file of roles: the option, or `roles.json` in the folder of the config file. The demo uses such a file only if the option
 * names it.
 */
export const rolesFile = ({ auth, folder, demo }: Config): string | undefined =>
  auth.rolesFile ?? (demo ? undefined : resolve(folder, 'roles.json'))

/**
 * Content of the file; undefined when it does not exist and the option does not name it.
 * @throws {ConfigError} the file is named and missing, or is not JSON
 */
export function readRoles(config: Config): unknown {
  const file = rolesFile(config)
  if (file === undefined || (config.auth.rolesFile === undefined && !existsSync(file))) return undefined
  return readJsonFile(file, 'roles')
}

/**
 * Puts the roles of the file in force. When the file changes it is read again; if it is invalid or missing then, that is logged and
 * the present roles stay in force.
 * @returns a watch on the file, until it is closed
 * @throws {ConfigError} the file is named and missing, or is not JSON; {@link RolesError} it is invalid
 */
export function openRoles(config: Config, engine: Engine, log: Logger): { close(): void } {
  const { permissions } = engine
  const file = rolesFile(config)
  if (file === undefined) return { close: () => {} }
  const atStart = readRoles(config)
  if (atStart !== undefined) permissions.replace(atStart)
  const readAgain = (): void => {
    try {
      permissions.replace(readJsonFile(file, 'roles'))
      log.info({ file }, 'roles were read again')
    } catch (error) {
      log.error(`roles stay as they were: ${(error as Error).message}`)
      return
    }
    try {
      warnOfUnknownGrants({ ...readDirectory(directoryFile(config)), plugins: pluginHolders(config) }, engine, log)
    } catch (error) {
      log.error(`users and keys were not compared with the roles: ${(error as Error).message}`)
    }
  }
  return new FileWatch([file], readAgain, LOOK_MS)
}
