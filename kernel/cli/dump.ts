import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config } from '../../config/load-config.ts'
import { readJsonFile } from '../../config/read-json-file.ts'
import { quantity } from '../../engine/base/counted.ts'
import { undump as makeStore, writeDump } from '../../engine/index.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { directoryFile } from '../auth/directory.ts'
import { rolesFile } from '../auth/roles-file.ts'
import { engineOptions } from '../main.ts'
import { describeSize } from './describe-size.ts'
import { notIncluded } from './not-included.ts'
import { withProgress } from './progress.ts'

/** `tesser dump`. @returns the outcome, for the operator @throws {DumpError} */
export async function dump(
  config: Config,
  { folder, withAccounts }: { folder: string; withAccounts: boolean },
): Promise<string> {
  const { entities, bytes, stamp } = await withProgress(onProgress =>
    writeDump({
      path: config.data,
      mapSizeBytes: config.storage.mapSizeBytes,
      folder,
      version: packageJson.version,
      accounts: withAccounts ? accountFiles(config) : undefined,
      onNote: text => void process.stderr.write(`${text}\n`),
      onProgress,
    }),
  )
  return `${folder} has ${quantity(entities, 'entity', 'entities')}, ${describeSize(bytes)}, stamp ${stamp}${notIncluded(config)}`
}

interface UndumpArguments {
  readonly folder: string
  /** Model file in place of the model of the dump. */
  readonly model?: string | undefined
  readonly leaveOutUnknown: boolean
  readonly withAccounts: boolean
}

/** `tesser undump`. @returns the outcome, for the operator @throws {DumpError} {@link ModelError} */
export async function undump(
  config: Config,
  { folder, model, leaveOutUnknown, withAccounts }: UndumpArguments,
): Promise<string> {
  const { entities, stamp } = await withProgress(onProgress =>
    makeStore({
      path: config.data,
      mapSizeBytes: config.storage.mapSizeBytes,
      wire: engineOptions(config, []).wire,
      folder,
      ...(model !== undefined && { model: readJsonFile(model, 'model') }),
      leaveOutUnknown,
      takeAccounts: withAccounts ? accounts => accountWriter(config, accounts) : undefined,
      onProgress,
    }),
  )
  const count = Object.values(entities).reduce((sum, each) => sum + each, 0)
  const command = `tesser start --model ${model ?? `${folder}/model.json`} --data ${config.data}`
  return `${config.data} has ${quantity(count, 'entity', 'entities')}, stamp ${stamp}; ${command} serves it`
}

const accountFiles = (config: Config): { roles: string; directory: string } => ({
  roles: rolesFile(config) ?? resolve(config.folder, 'roles.json'),
  directory: directoryFile(config),
})

/**
 * Writer of files that do not exist, or already have that content.
 * @throws {Error} for a file with another content
 */
function accountWriter(config: Config, contents: Partial<ReturnType<typeof accountFiles>>): () => void {
  const paths = accountFiles(config)
  const files = (['roles', 'directory'] as const).flatMap(kind =>
    contents[kind] === undefined ? [] : [[paths[kind], contents[kind]] as const],
  )
  const conflicts = files.filter(([path, content]) => existsSync(path) && readFileSync(path, 'utf8') !== content)
  if (conflicts.length > 0) {
    const names = conflicts.map(([path]) => path).join(' and ')
    throw new Error(`${names} would be replaced; move the file, or leave out --with-accounts`)
  }
  return () => {
    for (const [path, content] of files) writeFileSync(path, content, { mode: 0o600 })
  }
}
