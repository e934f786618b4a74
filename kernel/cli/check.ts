import type { Config } from '../../config/load-config.ts'
import { describeSystemError } from '../../engine/base/system-error.ts'
import { inspectEngine, type InspectProgress, unknownGrants } from '../../engine/index.ts'
import { type DirectoryFile, DirectoryError, directoryFile, readDirectory } from '../auth/directory.ts'
import { readRoles, rolesFile } from '../auth/roles-file.ts'
import { pluginHolders, unknownGrantsOf } from '../auth/unknown-grants.ts'
import { readParts } from '../main.ts'
import { connectionBound } from '../transport/connection-limit.ts'
import { addressesOf, requireFree } from '../transport/free-address.ts'
import { reachableHost } from '../transport/reachable-host.ts'
import { selectTransport } from '../transport/select.ts'
import { readTls } from '../transport/tls-files.ts'
import { ModuleBundler } from '../module-bundler.ts'
import type { ProgressDisplay } from './progress.ts'

export interface CheckOptions {
  /** The store must exist, because the command names it. */
  mustExist?: boolean
  progress?: ProgressDisplay
  /** Called with each change that a start would make to the store. */
  onPlan?: ((text: string) => void) | undefined
  /** Called with what is valid, but may not be meant. */
  onWarning?: (text: string) => void
}

/**
 * `tesser check`: finds all problems of the model and of the store, and of the two together with the roles, the users and keys, the classes
 * of plugins and the tables of databases. Changes nothing. The configuration was checked when it was loaded.
 * @returns a message for each problem, as it is found
 * @throws {ConfigError} a file cannot be read; {@link PluginError}; {@link Error} unusable classes
 */
export async function* check(
  config: Config,
  { mustExist = false, progress, onPlan, onWarning }: CheckOptions = {},
): AsyncGenerator<string> {
  const bundler = new ModuleBundler()
  try {
    const { engine } = await readParts(config, bundler)
    const places = {
      model: config.model,
      store: config.data,
      roles: rolesFile(config),
      plugins: 'classes',
      databases: 'connections',
    }
    const options = {
      ...engine,
      mustExist,
      ...(onPlan && {
        onPlan: (text: string, of?: 'databases') => onPlan(`a start would change ${of ?? 'the store'}: ${text}`),
      }),
      onRoleWarning: (text: string) => onWarning?.(`warning: ${places.roles}: ${text}`),
      onCheckProgress: (step: InspectProgress) => progress?.show(step.what, step.done, step.total),
    }
    const roles = readRoles(config)
    yield* directoryProblems(directoryFile(config), roles)
    yield* pluginProblems(config, roles)
    for await (const { of, text } of inspectEngine(options, roles)) {
      progress?.stop()
      yield `${places[of]}: ${text}`
    }
  } finally {
    progress?.stop()
    bundler.close()
  }
}

/**
 * Finds reasons why the server could not listen: transport, certificate, address. Opens the port for a moment.
 * @param onPlan called with the address at which the server would listen
 * @returns a message for each problem
 */
export async function* checkAddress(config: Config, onPlan: (text: string) => void): AsyncGenerator<string> {
  const { host, port, tls, transport, headerBytes, basePath, maxConnections } = config.server
  const problems = async (work: () => unknown): Promise<string[]> => {
    try {
      await work()
      return []
    } catch (error) {
      return [describeSystemError(error)]
    }
  }
  yield* await problems(() => {
    const bound = connectionBound(maxConnections, [config.pool.threads, config.functions.threads])
    const { name, warnings } = selectTransport(transport, headerBytes, bound)
    for (const text of warnings) onPlan(text)
    const where =
      port === 0 ? 'a free port' : `${tls ? 'https' : 'http'}://${reachableHost(host)}:${port}${basePath}/rest`
    onPlan(`a start would answer at ${where} (${name})`)
  })
  if (tls) yield* await problems(() => readTls(tls))
  for (const address of addressesOf(config)) yield* await problems(() => requireFree(address))
}

function pluginProblems(config: Config, roles: unknown): string[] {
  if (roles === undefined) return []
  return unknownGrantsOf({ users: [], keys: [], plugins: pluginHolders(config) }, each => unknownGrants(roles, each))
}

/** @param roles content of `roles.json`; undefined: there is no such file, so names of roles cannot be checked */
function directoryProblems(file: string, roles: unknown): string[] {
  let directory: DirectoryFile
  try {
    directory = readDirectory(file)
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error
    return error.message.split('\n')
  }
  if (roles === undefined) return []
  return unknownGrantsOf(directory, grants => unknownGrants(roles, grants)).map(problem => `${file}: ${problem}`)
}
