import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shapeProblems } from '../engine/catalog/shape-problems.ts'
import { outputUrl } from '../engine/base/output-root.ts'
import { suggestion } from '../engine/base/suggestion.ts'
import { ConfigError } from './config-error.ts'
import type { PluginReference } from './option.ts'
import { readJsonFile } from './read-json-file.ts'
import { type Reference, type ReferencedText, readReference, UNREAD } from './reference.ts'
import {
  CONFIG_FILE_SCHEMA,
  CONFIG_KEYS,
  type ConfigKey,
  type ConfigValues,
  environmentNames,
  flagNames,
  optionOf,
} from './schema.ts'

export interface ConfigSources {
  /** Path of the config file; without it `TESSER_CONFIG`, then `tesser.config.json` in `cwd` if there is one. */
  file?: string | undefined
  /** Folder that relative paths in the file refer to; by default the folder of the file. */
  pathsFrom?: string
  /** An empty variable counts as unset. Options of plugins may refer to any of them. */
  env: Readonly<Record<string, string | undefined>>
  /** Text of each flag by its name without dashes: `port`, `server-port`, `log-level`. */
  flags: Readonly<Record<string, string | undefined>>
  cwd?: string
}

/** The configuration as used by all parts: complete, checked, frozen, all paths absolute. */
export interface Config extends Omit<ConfigValues, 'server' | 'model' | 'data'> {
  readonly server: Omit<ConfigValues['server'], 'tls'> & {
    readonly tls: { readonly keyFile: string; readonly certFile: string; readonly passphrase?: string } | undefined
  }
  readonly model: string
  readonly data: string
  /** Built-in plugins first. Their options are not frozen: the plugin loader fills in defaults. */
  readonly plugins: readonly PluginReference[]
  /** Path of the config file. */
  readonly file: string | undefined
  /** Folder of the file, where npm names are resolved and unnamed files are expected; the working directory if there is no file. */
  readonly folder: string
  /** Folder that relative paths in the file refer to; {@link folder} unless a caller chooses another. */
  readonly pathsFolder: string
  /** The embedded demo is served, because no model is configured. */
  readonly demo: boolean
  /** Reads a value that options of plugins refer to. */
  readonly readReference: (reference: Reference) => ReferencedText
}

/**
 * Reads the configuration from flags, environment, file and defaults, in this order of precedence.
 * @throws {ConfigError} with the problems of all of them
 */
export function loadConfig({ file, pathsFrom, env, flags, cwd = process.cwd() }: ConfigSources): Config {
  const { path, content } = readConfigFile(file ?? (env.TESSER_CONFIG || undefined), cwd)
  const folder = path === undefined ? cwd : dirname(path)
  const problems = shapeProblems(CONFIG_FILE_SCHEMA, content, '').map(problem => `${path}: ${problem}`)

  const valuesByKey = new Map<ConfigKey, { value: unknown; folder: string }>()
  for (const key of CONFIG_KEYS) {
    const option = optionOf(key)
    const texts = [
      ...flagNames(key).map(name => ({ source: `--${name}`, text: flags[name] })),
      // Docker Compose sets a variable without a value to an empty text.
      ...environmentNames(key).map(name => ({ source: name, text: env[name] || undefined })),
    ]
    const first = texts.find(({ text }) => text !== undefined)
    const value = first ? option.fromText(first.text!) : valueAt(content, key)
    if (first) problems.push(...shapeProblems(option.schema, value, first.source))
    if (value !== undefined) valuesByKey.set(key, { value, folder: first ? cwd : (pathsFrom ?? folder) })
  }
  problems.push(...contradictions(valuesByKey, path))
  if (problems.length > 0) throw new ConfigError(problems)

  const values = Object.create(null) as Record<string, unknown>
  for (const key of CONFIG_KEYS) {
    const option = optionOf(key)
    const entry = valuesByKey.get(key)
    setAt(values, key, entry ? option.read(entry.value, entry.folder) : option.default)
  }
  const configValues = values as unknown as ConfigValues
  const { keyFile, certFile, passphrase } = configValues.server.tls
  const demo = configValues.model === undefined
  return freeze<Config>({
    ...configValues,
    server: {
      ...configValues.server,
      tls: keyFile && certFile ? { keyFile, certFile, ...(passphrase !== undefined && { passphrase }) } : undefined,
    },
    model: configValues.model ?? DEMO_MODEL(),
    data: configValues.data ?? resolve(folder, demo ? 'data/demo' : 'data/store'),
    plugins: withBuiltIn([...(demo ? [DEMO_PLUGIN()] : []), ...configValues.plugins], configValues),
    file: path,
    folder,
    pathsFolder: pathsFrom ?? folder,
    demo,
    readReference: reference => readReference(reference, env, pathsFrom ?? folder),
  })
}

/** The configuration of a command that only reads the model and the declarations of code, and therefore no secrets. */
export const withoutReferences = (config: Config): Config => ({ ...config, readReference: () => UNREAD })

const DEMO_MODEL = (): string => fileURLToPath(outputUrl('config/demo/model.json'))
const DEMO_PLUGIN = (): PluginReference => ({ specifier: outputUrl('plugins/examples/semantic/index.ts').href })

function readConfigFile(file: string | undefined, cwd: string): { path: string | undefined; content: unknown } {
  const path = resolve(cwd, file ?? 'tesser.config.json')
  if (file === undefined && !existsSync(path)) return { path: undefined, content: {} }
  return { path, content: readJsonFile(path, 'config') }
}

/** Contradictions between options. */
function contradictions(valuesByKey: ReadonlyMap<ConfigKey, { value: unknown }>, path: string | undefined): string[] {
  const problems: string[] = []
  if (path !== undefined && !valuesByKey.has('model')) {
    problems.push(`${path}: "model" is missing; it names the file of the data model`)
  }
  if (valuesByKey.has('server.tls.keyFile') !== valuesByKey.has('server.tls.certFile')) {
    problems.push('server.tls: keyFile and certFile are needed together')
  }
  const proxies = valuesByKey.get('server.trustedProxies')?.value
  const mayUseTls = valuesByKey.has('server.tls.keyFile') || (Array.isArray(proxies) && proxies.length > 0)
  if (valuesByKey.get('session.sameSite')?.value === 'none' && !mayUseTls) {
    problems.push(
      'session.sameSite: browsers take "none" over TLS only; set server.tls, or server.trustedProxies when a proxy speaks TLS',
    )
  }
  const basePath = valuesByKey.get('server.basePath')?.value
  if (/^\/rest(?:\/|$)/.test(String(basePath))) {
    problems.push(`server.basePath: ${JSON.stringify(basePath)} begins as the addresses of data do; name another one`)
  }
  const cookieName = valuesByKey.get('session.cookieName')?.value
  if (basePath && /^__Host-/i.test(String(cookieName))) {
    problems.push('session.cookieName: browsers take the prefix "__Host-" without server.basePath only')
  }
  const disabledPlugins = valuesByKey.get('disablePlugins')?.value
  const builtInNames = builtInPlugins().map(nameOf)
  for (const name of Array.isArray(disabledPlugins) ? disabledPlugins.map(String) : []) {
    if (!builtInNames.includes(name)) {
      problems.push(
        `disablePlugins: there is no built-in plugin "${name}"${suggestion(name, builtInNames) || `; they are ${builtInNames.join(', ')}`}`,
      )
    }
  }
  return problems
}

/** Specifiers of the built-in plugins, in the order of loading. */
const builtInPlugins = (): readonly string[] =>
  (readJsonFile(fileURLToPath(outputUrl('config/default.json')), 'default config') as { plugins: string[] }).plugins

const nameOf = (specifier: string): string => specifier.slice(specifier.lastIndexOf('/') + 1)

/** Sections of the configuration that a built-in plugin gets as its own options. */
const OPTIONS_OF: Readonly<Record<string, (values: ConfigValues) => Record<string, unknown>>> = {
  metrics: ({ metrics }) => ({ ...metrics }),
  mcp: ({ mcp }) => ({ ...mcp }),
  backup: ({ backup: { folder, endpoint, ...others } }) => ({
    ...others,
    ...(folder !== undefined && { folder }),
    ...(endpoint !== undefined && { endpoint }),
  }),
}

/** Built-in plugins, with the options that `plugins` gives them, then the other plugins in `plugins`. */
function withBuiltIn(plugins: readonly PluginReference[], values: ConfigValues): PluginReference[] {
  const references = new Map<string, PluginReference>()
  for (const specifier of builtInPlugins()) {
    const name = nameOf(specifier)
    if (values.disablePlugins.includes(name)) continue
    const options = OPTIONS_OF[name]?.(values)
    references.set(specifier, { specifier, ...(options && { options }) })
  }
  for (const plugin of plugins) references.set(plugin.specifier, plugin)
  return [...references.values()]
}

function valueAt(content: unknown, key: string): unknown {
  let value = content
  for (const part of key.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return value
}

function setAt(object: Record<string, unknown>, key: string, value: unknown): void {
  const [head, ...rest] = key.split('.') as [string, ...string[]]
  if (rest.length === 0) object[head] = value
  else {
    object[head] ??= {}
    setAt(object[head] as Record<string, unknown>, rest.join('.'), value)
  }
}

function freeze<T extends object>(value: T): T {
  for (const [key, child] of Object.entries(value)) {
    if (typeof child === 'object' && child !== null && key !== 'options') freeze(child)
  }
  return Object.freeze(value)
}
