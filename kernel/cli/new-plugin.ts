import { newPackage } from './new-package.ts'

/**
 * `tesser new plugin`: creates a package with a plugin and a test.
 * @throws {Error} see {@link newPackage}
 */
export const newPlugin = (name: string, cwd = process.cwd()): string => newPackage(name, ['plugin-template'], cwd)
