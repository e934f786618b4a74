import { loadPackage, type OptionalPackage, PackageMissing } from '../../../engine/base/load-package.ts'
import { SourceError } from './source.ts'

/** Loads the driver of a database. @throws {SourceError} with the command that installs it */
export async function driver<T>(name: OptionalPackage, reason: string): Promise<T> {
  try {
    return await loadPackage<T>(name, reason)
  } catch (error) {
    throw error instanceof PackageMissing ? new SourceError(error.message) : error
  }
}
