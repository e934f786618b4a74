import { createRequire } from 'node:module'
import type * as Uws from 'uWebSockets.js'

/** Either build: the older one has all functions of the newer one that are used. */
export type UwsModule = typeof Uws & {
  // The types of the module lack this function.
  _cfg?: (option: string) => void
  LIBUS_LISTEN_EXCLUSIVE_PORT: number
}
export type UwsName = 'uws' | 'uws-node20'

const require = createRequire(import.meta.url)

/**
 * Loads a uWebSockets.js build.
 * @param headerBytes limit of a request head. The current build accepts twice as much, so that `guard.ts` can answer a longer one with
 *   an error of the protocol; it reads its limit from the environment, once, when it is loaded
 * @throws {Error} when the package is not installed or its binary does not load here
 */
export function loadUws(name: UwsName, headerBytes: number): UwsModule {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(2 * headerBytes)
  if (name === 'uws') return require('uWebSockets.js')
  // Not the package's entry: if its binary does not load, the entry silently substitutes a server in JavaScript.
  const { platform, arch, versions } = process
  return require(`uws-node20/binaries/uws_${platform}_${arch}_${versions.modules}.node`)
}
