import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/load-config.ts'
import { directoryFile } from './directory.ts'
import { rolesFile } from './roles-file.ts'

/** Mode bits: rights of users other than the owner and the group. */
const READ_OR_WRITE = 0o006
const WRITE = 0o002
const SEARCH = 0o001

/**
 * Warnings about files with data, secrets or rules that every user of this machine can read or change. Files that the server
 * creates are accessible to its owner only; older stores, volumes and files from elsewhere may not be.
 * @param secretFiles files that options of plugins refer to, as they are written there
 */
export function exposureWarnings(config: Config, secretFiles: readonly string[] = []): string[] {
  if (process.platform === 'win32') return []
  const { server, auth } = config
  const { tls } = server
  const warnings: string[] = []
  const check = (path: string | undefined, bits: number): void => {
    const mode = modeOf(path)
    if (mode & bits) warnings.push(exposureWarning(path!, mode & READ_OR_WRITE & bits, 'chmod o='))
  }
  check(directoryFile(config), READ_OR_WRITE)
  check(tls?.keyFile, READ_OR_WRITE)
  check(config.file, tls?.passphrase === undefined ? WRITE : READ_OR_WRITE)
  for (const file of new Set(secretFiles.map(file => resolve(config.pathsFolder, file)))) check(file, READ_OR_WRITE)
  check(rolesFile(config), WRITE)
  check(auth.jwt.keyFile, WRITE)
  const store = storeMode(config.data)
  if (store) warnings.push(exposureWarning(config.data, store, 'chmod -R o='))
  return warnings
}

/** Rights of other users on the files of a store; 0 when they cannot enter its folder. */
function storeMode(folder: string): number {
  const mode = modeOf(folder)
  if (!(mode & SEARCH)) return 0
  // Users who may write to the folder can replace its files.
  const modes = readdirSync(folder).map(name => modeOf(join(folder, name)))
  return [mode & WRITE, ...modes].reduce((all, each) => all | each, 0) & READ_OR_WRITE
}

/** Mode of a file; 0 when it does not exist or cannot be examined. */
function modeOf(path: string | undefined): number {
  try {
    return path === undefined ? 0 : (statSync(path, { throwIfNoEntry: false })?.mode ?? 0)
  } catch {
    return 0
  }
}

const exposureWarning = (path: string, bits: number, command: string): string =>
  `every user of this machine can ${bits & WRITE ? 'change' : 'read'} ${path}; ${command} ${path} would keep them out`
