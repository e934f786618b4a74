import { readFileSync } from 'node:fs'
import { describeSystemError } from '../engine/base/system-error.ts'
import { ConfigError } from './config-error.ts'

/**
 * Reads a JSON file.
 * @param what kind of file for the message, for example `model`
 * @throws {ConfigError} if it cannot be read or is not JSON
 */
export function readJsonFile(path: string, what: string): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError([
      code === 'ENOENT'
        ? `there is no ${what} file ${path}`
        : `the ${what} file ${path} cannot be read: ${describeSystemError(error)}`,
    ])
  }
  try {
    // Some editors start a file with a byte order mark, which JSON does not allow.
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new ConfigError([`the ${what} file ${path} is not JSON: ${(error as Error).message}`])
  }
}
