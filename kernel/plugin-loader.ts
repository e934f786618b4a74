import { pathToFileURL } from 'node:url'
import type { TObject, TSchema } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { resolve as resolveModule } from 'import-meta-resolve'
import type { Logger } from 'pino'
import { satisfies, validRange } from 'semver'
import type { Engine } from '../engine/index.ts'
import type { PluginReference } from '../config/option.ts'
import { outputUrl } from '../engine/output-root.ts'
import { suggestion } from '../engine/suggestion.ts'
import { KERNEL_VERSION, type PluginDefinition } from './api.ts'
import type { Lifecycle } from './lifecycle.ts'
import { Registry } from './registry.ts'

export interface LoadedPlugins {
  registry: Registry
  names: string[]
  /** Runs what the plugins gave to `scope.onClose`, the last loaded first. */
  close(): Promise<void>
}

/** A plugin that cannot be used, with every reason found. The message names the plugins and what they lack. */
export class PluginError extends Error {
  override readonly name = 'PluginError'
  constructor(
    readonly problems: readonly string[],
    cause?: unknown,
  ) {
    super(problems.join('\n'), { cause })
  }
}

interface Candidate {
  specifier: string
  plugin: PluginDefinition
  options: Record<string, unknown>
}

/**
 * Loads plugins in the order given: import, check of every one's metadata and options, then registration.
 * @param baseFolder folder that relative paths and npm names are resolved from: where the config file lies
 * @throws {PluginError}
 */
export async function loadPlugins(
  references: readonly PluginReference[],
  { engine, lifecycle, log, baseFolder }: { engine: Engine; lifecycle: Lifecycle; log: Logger; baseFolder: string },
): Promise<LoadedPlugins> {
  const problems: string[] = []
  const candidates: Candidate[] = []
  for (const { specifier, options = {} } of references) {
    try {
      candidates.push({ specifier, options, plugin: await importPlugin(specifier, baseFolder) })
    } catch (error) {
      problems.push(`plugin ${specifier} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  problems.push(...candidates.flatMap((candidate, i) => metadataProblems(candidate, candidates.slice(0, i))))
  if (problems.length > 0) throw new PluginError(problems)

  const registry = new Registry()
  const closing: (() => void | Promise<void>)[] = []
  for (const { specifier, plugin, options } of candidates) {
    const scope = {
      plugin: plugin.name,
      engine,
      lifecycle,
      log: log.child({ plugin: plugin.name }),
      onClose: (callback: () => void | Promise<void>) => void closing.push(callback),
      ...registry.scopeFor(plugin.name),
    }
    try {
      await plugin.register(scope, options)
    } catch (error) {
      const where = specifier === plugin.name ? '' : ` (${specifier})`
      throw new PluginError(
        [`plugin ${plugin.name}${where} failed to register: ${(error as Error)?.message ?? error}`],
        error,
      )
    }
  }
  return {
    registry,
    names: candidates.map(({ plugin }) => plugin.name),
    async close() {
      for (const callback of closing.reverse()) await callback()
    },
  }
}

async function importPlugin(specifier: string, baseFolder: string): Promise<PluginDefinition> {
  const builtIn = /^tesser\/plugins\/([a-z-]+)$/.exec(specifier)
  const url = builtIn
    ? outputUrl(`plugins/${builtIn[1]}/index.js`).href
    : resolveModule(specifier, pathToFileURL(`${baseFolder}/`).href)
  const module = (await import(url)) as { default?: Partial<PluginDefinition> }
  const plugin = module.default
  if (typeof plugin !== 'object' || plugin === null || typeof plugin.register !== 'function') {
    throw new Error('its default export is not a plugin; export default definePlugin({ name, kernel, register })')
  }
  return plugin as PluginDefinition
}

/** What speaks against a plugin before any of its code runs; fills the defaults of its options in. */
function metadataProblems({ plugin, specifier, options }: Candidate, earlier: readonly Candidate[]): string[] {
  const problems: string[] = []
  const name = typeof plugin.name === 'string' && plugin.name !== '' ? plugin.name : specifier
  if (name !== plugin.name) problems.push(`plugin ${specifier} has no name`)
  const namesake = earlier.find(other => other.plugin.name === plugin.name)
  if (namesake) problems.push(`plugins ${namesake.specifier} and ${specifier} have one name, ${name}`)
  if (!validRange(plugin.kernel)) {
    problems.push(`plugin ${name} names no kernel version range; kernel: '^${KERNEL_VERSION}' would do`)
  } else if (!satisfies(KERNEL_VERSION, plugin.kernel)) {
    problems.push(`plugin ${name} needs kernel ${plugin.kernel}, this is ${KERNEL_VERSION}`)
  }
  for (const needed of plugin.needs ?? []) {
    if (!earlier.some(other => other.plugin.name === needed)) {
      problems.push(`plugin ${name} needs plugin ${needed}, which is not loaded before it`)
    }
  }
  return [...problems, ...optionProblems(name, plugin.options, options)]
}

function optionProblems(plugin: string, schema: TObject | undefined, options: Record<string, unknown>): string[] {
  const known = Object.keys(schema?.properties ?? {})
  const unknown = Object.keys(options).filter(option => !known.includes(option))
  const problems = unknown.map(option => `plugin ${plugin} has no option ${option}${suggestion(option, known)}`)
  if (!schema) return problems
  const ajv = new Ajv({ allErrors: true, useDefaults: true })
  const validate = ajv.compile(schema as TSchema)
  if (!validate(options)) {
    for (const error of validate.errors ?? []) {
      problems.push(`plugin ${plugin}: option ${error.instancePath.slice(1).replaceAll('/', '.')} ${error.message}`)
    }
  }
  return problems
}
