import type { Config } from '../config/load-config.ts'
import type { EngineOptions } from '../engine/index.ts'
import { directoryFile } from './auth/directory.ts'
import type { Plugin } from './plugin-loader.ts'
import { rolesFile } from './auth/roles-file.ts'

/** Size of the log that is kept for the next backup. */
const LOG_BYTES = 2 ** 30

/** Files that are part of a backup besides the store, by their names in the backup. */
export function besidesOf(config: Config): Readonly<Record<string, string>> {
  const roles = rolesFile(config)
  return {
    ...(config.file && { 'tesser.config.json': config.file }),
    'model.json': config.model,
    ...(roles && { 'roles.json': roles }),
    'tesser.directory.json': directoryFile(config),
  }
}

/** Log of a store, with the plugins that follow it: scheduled backups copy the commits since the last backup, if the log still has them. */
export function keptLog({ storage, backup }: Config, plugins: readonly Plugin[]): EngineOptions['log'] {
  if (storage.log === 'off') return undefined
  const keepBytes = Math.max(storage.logBytes, backup.schedule === '' ? 0 : LOG_BYTES)
  const followers = plugins.flatMap(({ definition, options }) => {
    const bytes = definition.followsLog?.(options) ?? 0
    return bytes > 0 ? [[definition.name, bytes] as const] : []
  })
  return { keepBytes, keepMs: storage.logHours * 3_600_000, followers: Object.fromEntries(followers) }
}
