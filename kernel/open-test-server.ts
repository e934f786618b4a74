import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { resolve as resolveModule } from 'import-meta-resolve'
import { loadConfig } from '../config/load-config.ts'
import { openTemporaryFolder } from '../engine/base/temporary-folder.ts'
import type { PluginEngine } from '../engine/index.ts'
import { createKey, hashKey, writeDirectory } from './auth/directory.ts'
import { unknownGrantsOf } from './auth/unknown-grants.ts'
import { createServer, type Server } from './main.ts'

export interface TestServerOptions {
  /** Content of a model file, or its location. */
  readonly model: object | string | URL
  /** Entities by dataclass, saved in this order: entities that others refer to come first. */
  readonly data?: Readonly<Record<string, readonly object[]>>
  /** Users by name, with their rights: `server.as('ada')` sends requests as that user. */
  readonly users?: Readonly<Record<string, TestRights>>
  /** Content of a file of roles, or its location. */
  readonly roles?: object | string | URL
  /** Plugins by URL, npm name or path; paths are relative to the working directory. */
  readonly plugins?: readonly TestPlugin[]
  /**
   * All other options, as in `tesser.config.json`. Relative paths start at the working directory, as in a config file there.
   * `plugins` adds to the option of that name.
   */
  readonly config?: Readonly<Record<string, object | string>>
  /** Variables that options of plugins refer to (`{ "env": "ACME_API_KEY" }`), in addition to those of the process. */
  readonly env?: Readonly<Record<string, string>>
  /** Clock for lifetimes: milliseconds since 1970. */
  readonly now?: () => number
  /** Folder of the store, which is kept. By default a temporary folder, removed when the server is closed. */
  readonly folder?: string
}

/** Sections of a config file that the test kit adds to. */
type Section = 'auth' | 'server' | 'log' | 'storage' | 'pool' | 'functions'
type ConfigFile = Partial<Record<Section, object>> & { plugins?: readonly TestPlugin[] }

export type TestPlugin = string | URL | ({ readonly plugin: string | URL; readonly options?: object } & TestRights)

/** Rights by the names that the file of roles uses. */
export interface TestRights {
  readonly roles?: readonly string[]
  readonly privileges?: readonly string[]
}

/** A server with its whole engine, for the tests of this repository. */
interface OpenTestServer {
  readonly server: Server
  /** API keys by user. */
  readonly keys: ReadonlyMap<string, string>
  removeFolder(): void
}

/** Opens a server like {@link createTestServer}. */
export async function openTestServer(options: TestServerOptions): Promise<OpenTestServer> {
  const { model, data = {}, users = {}, roles, now } = options
  const temporaryFolder = options.folder === undefined ? openTemporaryFolder('tesser-test-') : undefined
  const folder = options.folder ?? temporaryFolder!.path
  const {
    plugins = [],
    auth,
    server: serverOptions,
    log,
    storage,
    pool,
    functions,
    ...config
  } = (options.config ?? {}) as ConfigFile
  const removeFolder = (): void => temporaryFolder?.close()
  let server: Server | undefined
  try {
    const directory = usersAsKeys(users)
    if (directory.file.keys.length > 0) writeDirectory(join(folder, 'test-directory.json'), directory.file)
    const file = join(folder, 'tesser.config.json')
    const content = {
      model: givenFile(model, join(folder, 'model.json')),
      data: join(folder, 'store'),
      plugins: [...(options.plugins ?? []), ...plugins].map(reference),
      ...config,
      auth: {
        ...(roles && { rolesFile: givenFile(roles, join(folder, 'test-roles.json')) }),
        ...(directory.file.keys.length > 0 && { directoryFile: join(folder, 'test-directory.json') }),
        ...auth,
      },
      server: { port: 0, graceMs: 1_000, ...serverOptions },
      log: { level: 'error', ...log },
      storage: { mapSizeBytes: '256 MiB', memoryBytes: '64 MiB', ...storage },
      pool: { threads: 1, ...pool },
      functions: { threads: 1, ...functions },
    }
    writeFileSync(file, JSON.stringify(content))
    server = await createServer(
      loadConfig({ file, pathsFrom: process.cwd(), env: variables(options.env), flags: {} }),
      undefined,
      { now },
    )
    const { permissions } = server.engine
    const unknown = unknownGrantsOf({ users: directory.file.keys, keys: [] }, grants => permissions.unknownIn(grants))
    if (unknown.length > 0) throw new Error(unknown.join('\n'))
    for (const [dataClass, entities] of Object.entries(data)) {
      if (!server.engine.catalog.dataClassesByName.has(dataClass))
        throw new Error(`data: there is no dataclass "${dataClass}"`)
      await insertRows(server.engine.saves, dataClass, entities)
    }
    return { server, keys: directory.secrets, removeFolder }
  } catch (error) {
    await server?.close()
    removeFolder()
    throw error
  }
}

/** Variables that options of plugins may refer to; options of the server come only from the test. */
const variables = (env: TestServerOptions['env']): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries({ ...process.env, ...env }).filter(([name]) => !name.startsWith('TESSER_')))

/** Saves entities as `tesser load` does. @throws {Error} if one of them is refused */
export async function insertRows(
  engine: Pick<PluginEngine, 'write'>,
  dataClass: string,
  entities: readonly object[],
): Promise<void> {
  const body = new TextEncoder().encode(JSON.stringify(entities))
  const result = await engine.write({ kind: 'save', dataClass, body, mode: 'update', atomic: false, trusted: true })
  const index = result.entities.findIndex(({ failure }) => failure)
  if (index < 0) return
  const { error } = result.entities[index]!.failure!
  const reasons = error.entries.map(({ message }) => message).join('; ')
  throw new Error(`an entity of ${dataClass} was refused: ${JSON.stringify(entities[index])}: ${reasons}`)
}

/** Directory with an API key for each user, and the keys by user. A key needs neither the slow hash of a password nor a session. */
function usersAsKeys(users: NonNullable<TestServerOptions['users']>) {
  const secrets: ReadonlyMap<string, string> = new Map(Object.keys(users).map(name => [name, createKey()]))
  const keys = Object.entries(users).map(([name, { roles = [], privileges = [] }]) => ({
    name,
    hash: hashKey(secrets.get(name)!),
    roles: [...roles],
    privileges: [...privileges],
  }))
  return { secrets, file: { users: [], keys } }
}

/** Path of a given file, or of `file`, to which given content is written. */
function givenFile(input: object | string | URL, file: string): string {
  if (input instanceof URL) return fileURLToPath(input)
  if (typeof input === 'string') return resolve(input)
  writeFileSync(file, JSON.stringify(input))
  return file
}

function reference(plugin: TestPlugin): object {
  return typeof plugin === 'string' || plugin instanceof URL
    ? { plugin: specifier(plugin) }
    : { ...plugin, plugin: specifier(plugin.plugin) }
}

function specifier(plugin: string | URL): string {
  const name = String(plugin)
  if (name.startsWith('tesser/plugins/')) return name
  try {
    return resolveModule(name, pathToFileURL(`${process.cwd()}/`).href)
  } catch {
    // The loader reports the reason, with all other problems.
    return name
  }
}
