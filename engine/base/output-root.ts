import { existsSync } from 'node:fs'

/**
 * URL of a built file, for example `outputUrl('engine/threads/writer-thread.js')`.
 *
 * The bundler moves shared modules into chunks, so a path relative to the source file would be wrong in the bundle:
 * the root of the build is the nearest folder above the running code that holds the file.
 * @throws {Error} when no folder above holds it, which only a broken build can cause
 */
export function outputUrl(path: string): URL {
  for (let folder = new URL('./', import.meta.url); ; folder = new URL('../', folder)) {
    const candidate = new URL(path, folder)
    if (existsSync(candidate)) return candidate
    if (folder.pathname === '/' || folder.pathname === new URL('../', folder).pathname)
      throw new Error(`the build has no ${path}`)
  }
}
