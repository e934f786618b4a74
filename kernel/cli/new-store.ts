import { existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Removes a store that a command has created, so that a command that saved nothing leaves nothing.
 * @param path of the store, before the command opens it
 * @returns a function that removes it, after it is closed; it does nothing to a store that existed before
 */
export function newStore(path: string): () => void {
  const created = firstMissing(path)
  return () => {
    if (created !== undefined) rmSync(created, { recursive: true, force: true })
  }
}

/** The topmost folder of a path that does not exist. */
function firstMissing(path: string): string | undefined {
  if (existsSync(path)) return undefined
  return firstMissing(dirname(path)) ?? path
}
