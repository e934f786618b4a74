import { fileURLToPath, pathToFileURL } from 'node:url'
import { resolve as resolveModule } from 'import-meta-resolve'
import { satisfies, validRange } from 'semver'
import type { Config } from '../config/load-config.ts'
import type { Reference, ReferencedText } from '../config/reference.ts'
import { type ClassModule, type Granted, messageWithPlace, outputUrl, type TaskModule } from '../engine/index.ts'
import { KERNEL_VERSION, type PluginDefinition } from './api.ts'
import type { ModuleBundler } from './module-bundler.ts'
import { hasOnlyDefaults, optionProblems } from './plugin-options.ts'
import { NOTHING_GRANTED } from './session/session.ts'

/** Plugins that cannot be used, with every reason found. The message names the plugins and what they lack. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  constructor(
    readonly problems: readonly string[],
    cause?: unknown,
  ) {
    super(problems.join('\n'), { cause })
  }
}

/** A plugin that has passed the checks. Only its module has run so far. */
export interface Plugin {
  /** The plugin as named in the config. */
  readonly specifier: string
  readonly definition: PluginDefinition
  /** File of its module; undefined for built-in ones. */
  readonly entry: string | undefined
  /** Options including defaults, and the values of references. */
  readonly options: Record<string, unknown>
  /** Files that references in the options name. */
  readonly secretFiles: readonly string[]
  /** Rights of the plugin itself. */
  readonly granted: Granted
  readonly classes: readonly ClassModule[]
  readonly tasks: readonly TaskModule[]
}

/**
 * Imports plugins in the order given and checks the metadata and options of each. Relative paths and npm names are resolved from
 * the folder of the config file.
 * @throws {PluginError}
 */
export async function importPlugins(
  { plugins, folder, readReference }: Pick<Config, 'plugins' | 'folder' | 'readReference'>,
  bundler: ModuleBundler,
): Promise<Plugin[]> {
  const problems: string[] = []
  const importedPlugins = await Promise.all(
    plugins.map(async ({ specifier, options = {}, granted = NOTHING_GRANTED }) => {
      try {
        const { definition, entry } = await importPlugin(specifier, folder, bundler)
        const secretFiles: string[] = []
        return [{ specifier, definition, entry, granted, secretFiles, options: structuredClone(options) }]
      } catch (error) {
        problems.push(`plugin ${specifier} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`)
        return []
      }
    }),
  )
  const candidates = importedPlugins.flat()
  for (const [i, candidate] of candidates.entries()) {
    const { definition, specifier, options, secretFiles } = candidate
    const read = (reference: Reference): ReferencedText => {
      if ('file' in reference) secretFiles.push(reference.file)
      return readReference(reference)
    }
    problems.push(...metadataProblems(candidate, candidates.slice(0, i)))
    const { options: schema } = definition
    // The schemas of built-in plugins need no check.
    if (candidate.entry === undefined && schema && hasOnlyDefaults(schema, options)) continue
    problems.push(...optionProblems(nameOf(definition, specifier), schema, options, read))
  }
  if (problems.length > 0) throw new PluginError(problems)
  return Promise.all(
    candidates.map(async candidate => ({
      ...candidate,
      classes: await classModules(candidate, bundler),
      tasks: await taskModules(candidate, bundler),
    })),
  )
}

type Candidate = Omit<Plugin, 'classes' | 'tasks'>

/** Parts of a plugin, which has at least one of them. */
const PARTS = ['register', 'classes', 'tasks', 'model'] as const

async function importPlugin(
  specifier: string,
  baseFolder: string,
  bundler: ModuleBundler,
): Promise<Pick<Plugin, 'definition' | 'entry'>> {
  const [, builtIn] = /^tesser\/plugins\/([a-z-]+)$/.exec(specifier) ?? []
  if (builtIn !== undefined) {
    const byDefault: { default: Readonly<Record<string, PluginDefinition>> } = await import(
      outputUrl('plugins/built-in.js').href
    )
    if (Object.hasOwn(byDefault.default, builtIn)) return { definition: byDefault.default[builtIn]!, entry: undefined }
  }
  const source = builtIn ? undefined : new URL(resolveModule(specifier, pathToFileURL(`${baseFolder}/`).href))
  const url = source ? await bundler.importable(source) : outputUrl(`plugins/${builtIn}/index.js`)
  const module: { default?: Partial<PluginDefinition> } = await import(url.href).catch(cause => {
    throw new Error(messageWithPlace(cause), { cause })
  })
  const plugin = module.default
  if (typeof plugin !== 'object' || plugin === null || !PARTS.some(part => plugin[part])) {
    throw new Error('its default export is not a plugin; export default definePlugin({ name, kernel, register })')
  }
  return { definition: plugin as PluginDefinition, entry: source && fileURLToPath(source) }
}

function classModules({ definition, options }: Candidate, bundler: ModuleBundler): Promise<ClassModule[]> {
  const { name: plugin, classes = [] } = definition
  const urls = classes instanceof URL ? [classes] : classes
  return Promise.all(
    urls.map(async url => ({ plugin, settings: options, ...(await importable(url, plugin, bundler)) })),
  )
}

function taskModules({ definition }: Candidate, bundler: ModuleBundler): Promise<TaskModule[]> {
  const { name: plugin, tasks = {} } = definition
  return Promise.all(
    Object.entries(tasks).map(async ([name, url]) => ({
      plugin,
      name: `${plugin}/${name}`,
      ...(await importable(url, plugin, bundler)),
    })),
  )
}

async function importable(
  url: URL,
  plugin: string,
  bundler: ModuleBundler,
): Promise<Pick<ClassModule, 'source' | 'url'>> {
  const source = fileURLToPath(url)
  try {
    return { source, url: (await bundler.importable(url)).href }
  } catch (error) {
    throw new PluginError([`plugin ${plugin}: ${source} cannot be loaded: ${(error as Error).message}`], error)
  }
}

function nameOf({ name }: { name: unknown }, specifier: string): string {
  return typeof name === 'string' && name !== '' ? name : specifier
}

/** Problems of a plugin's metadata, found before it registers. */
function metadataProblems({ definition, specifier }: Candidate, earlier: readonly Candidate[]): string[] {
  const problems: string[] = []
  const declaredName: unknown = definition.name
  const name = nameOf(definition, specifier)
  if (name !== declaredName) problems.push(`plugin ${specifier} has no name`)
  const namesake = earlier.find(other => other.definition.name === declaredName)
  if (namesake) problems.push(`plugins ${namesake.specifier} and ${specifier} have the same name, ${name}`)
  if (!validRange(definition.kernel)) {
    problems.push(`plugin ${name} does not say which kernel versions it works with; add kernel: '^${KERNEL_VERSION}'`)
  } else if (!satisfies(KERNEL_VERSION, definition.kernel)) {
    problems.push(`plugin ${name} needs kernel ${definition.kernel}; this is kernel ${KERNEL_VERSION}`)
  }
  for (const need of definition.needs ?? []) {
    if (!earlier.some(other => other.definition.name === need)) {
      problems.push(`plugin ${name} needs plugin ${need}, which is not loaded before it`)
    }
  }
  return problems
}
