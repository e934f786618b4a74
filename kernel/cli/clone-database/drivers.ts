import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SourceError } from './source.ts'

/** Packages that are installed only by those who need them, with the versions that are known to work. */
const VERSIONS = { pg: 'pg@8', mysql2: 'mysql2@3', libsql: 'libsql@0.5' } as const

/**
 * Loads a driver: installed beside Tesser, or in the working directory.
 * @throws {SourceError} with the command that installs it
 */
export async function driver<T>(name: keyof typeof VERSIONS, reason: string): Promise<T> {
  for (const from of [import.meta.url, pathToFileURL(join(process.cwd(), 'package.json'))]) {
    const path = find(name, from)
    if (path !== undefined) return moduleOf((await import(pathToFileURL(path).href)) as { default?: T })
  }
  throw new SourceError(
    `${reason} the package ${name}, which is not installed; npm install ${VERSIONS[name]} does that`,
  )
}

function find(name: string, from: string | URL): string | undefined {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return undefined
  }
}

const moduleOf = <T>(loaded: { default?: T }): T => loaded.default ?? (loaded as T)
