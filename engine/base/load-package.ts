import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Packages that are installed only by those who need them, with the versions that are known to work. */
const VERSIONS = { pg: 'pg@8', mysql2: 'mysql2@3', libsql: 'libsql@0.5' } as const

export type OptionalPackage = keyof typeof VERSIONS

/** Error for a package that is not installed: a sentence with the command that installs it. */
export class PackageMissing extends Error {
  override readonly name = 'PackageMissing'
}

/**
 * Loads a package that is installed beside Tesser, or in the working directory.
 * @param reason begins the sentence of the error: `reading PostgreSQL needs`
 * @throws {PackageMissing}
 */
export async function loadPackage<T>(name: OptionalPackage, reason: string): Promise<T> {
  for (const from of [import.meta.url, pathToFileURL(join(process.cwd(), 'package.json'))]) {
    const path = find(name, from)
    if (path !== undefined) return moduleOf((await import(pathToFileURL(path).href)) as { default?: T })
  }
  throw new PackageMissing(
    `${reason} the package ${name}, which is not installed; npm install ${VERSIONS[name]} does that`,
  )
}

function find(name: OptionalPackage, from: string | URL): string | undefined {
  try {
    return createRequire(from).resolve(name)
  } catch {
    return undefined
  }
}

const moduleOf = <T>(moduleNamespace: { default?: T }): T => moduleNamespace.default ?? (moduleNamespace as T)
