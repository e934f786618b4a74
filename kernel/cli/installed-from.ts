import { existsSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { readJsonFile } from '../../config/read-json-file.ts'
import packageJson from '../../package.json' with { type: 'json' }

/** File in `node_modules` in which npm keeps where each package came from. */
const LOCK = '.package-lock.json'
/** Address of a package in a registry. */
const OF_REGISTRY = /^https?:\/\/.*\/-\/[^/]+\.tgz$/

/**
 * Dependency on Tesser with which npm installs what is running: a range of versions if it came from a registry, otherwise the file from which
 * it was installed, or its folder.
 * @param installation folder of the package
 * @param target folder of the package that gets the dependency
 */
export function installedFrom(installation: string, target: string): string {
  const source = resolvedIn(dirname(resolve(installation)))
  if (source === undefined) return fileDependency(target, installation)
  if (OF_REGISTRY.test(source)) return `^${packageJson.version}`
  if (!source.startsWith('file:')) return source
  const path = resolve(dirname(dirname(resolve(installation))), source.slice('file:'.length))
  return fileDependency(target, existsSync(path) ? path : installation)
}

/** Source of Tesser in a folder of installed packages: a URL or `file:` with a path; undefined if npm has not noted any. */
function resolvedIn(modules: string): string | undefined {
  const path = join(modules, LOCK)
  if (basename(modules) !== 'node_modules' || !existsSync(path)) return undefined
  const lock = readJsonFile(path, 'package lock') as {
    packages?: Record<string, { resolved?: string }>
  }
  return lock.packages?.['node_modules/tesser']?.resolved
}

const fileDependency = (target: string, path: string): string => `file:${relative(target, path)}`
