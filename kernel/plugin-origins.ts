import { existsSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileOfFrame } from '../engine/base/stack-frame.ts'
import { outputUrl } from '../engine/index.ts'
import type { Plugin } from './plugin-loader.ts'

/** Part of the program that a stack trace points to; `unknown` if it names only files of Node.js and of packages. */
type Origin = { readonly plugin: string } | 'kernel' | 'unknown'

interface Home {
  readonly plugin: string
  readonly entry: string
  /** Folder of the plugin's package. */
  readonly root: string
}

/** Attributes errors to third-party plugins by the files that their stack traces name. */
export class PluginOrigins {
  /** Names of third-party plugins with code in the kernel thread. */
  readonly names: readonly string[]
  private readonly homes: readonly Home[]
  /** Root of the kernel, and also of the sources that source maps name. */
  private readonly kernelRoot = dirname(fileURLToPath(outputUrl('package.json')))

  constructor(plugins: readonly Plugin[]) {
    const registrants = plugins.filter(({ definition, entry }) => entry && definition.register)
    this.names = registrants.map(({ definition }) => definition.name)
    this.homes = registrants.map(({ definition, entry }) => {
      const file = realpathSync(entry!)
      return { plugin: definition.name, entry: file, root: packageFolder(file) }
    })
  }

  /** Origin of an error. A plugin anywhere in the trace has called the code that threw. */
  of(error: unknown): Origin {
    let isKernels = false
    for (const file of filesOf(error)) {
      const plugin = this.owner(file)
      if (plugin !== undefined) return { plugin }
      isKernels ||= isInside(file, this.kernelRoot)
    }
    return isKernels ? 'kernel' : 'unknown'
  }

  /** Plugin that a file belongs to: if several share a folder, the one with this entry; otherwise the one with the longest path. */
  private owner(file: string): string | undefined {
    const near = this.homes.filter(({ entry }) => isInside(file, dirname(entry)))
    const [nearest] = near.sort((a, b) => dirname(b.entry).length - dirname(a.entry).length)
    const home = near.find(({ entry }) => entry === file) ?? nearest
    if (home || isInside(file, this.kernelRoot)) return home?.plugin
    return this.homes.find(({ root }) => isInside(file, root))?.plugin
  }
}

/** True if a file is in a folder, except in its `node_modules`, because other plugins may use the same packages. */
const isInside = (file: string, folder: string): boolean =>
  file.startsWith(folder + sep) && !file.slice(folder.length).includes(`${sep}node_modules${sep}`)

function packageFolder(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder
  }
  return dirname(file)
}

/** Maximum length of a trace that is read, in characters: code can give an error any `stack`. */
const MAX_STACK = 20_000

/** Absolute paths of the frames, innermost first. Never throws: it is called for uncaught errors. */
const filesOf = (error: unknown): string[] =>
  stackOf(error)
    .split('\n')
    .flatMap(line => fileOfFrame(line) ?? [])

function stackOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.stack).slice(0, MAX_STACK) : ''
  } catch {
    // `stack` may be a getter defined by the plugin.
    return ''
  }
}
