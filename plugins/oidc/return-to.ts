import { OidcErrors } from './errors.ts'

/** Maximum length of the address, since the state contains it and providers limit the length of addresses. */
const MAX_LENGTH = 500
/** Visible ASCII without `\`, which browsers treat as `/`; not `//`, which begins a host. */
const PATH = /^\/(?!\/)[!-[\]-~]*$/

/**
 * Address on this server to which a browser goes, from a query string.
 * @param basePath path below which the server answers, and to which the browser goes without one in the query
 * @returns the path as it was sent
 * @throws {OidcErrors.RETURN_TO} 400, for everything that is not a path of this server
 */
export function returnToIn(query: string, basePath: string, publicUrl: string): string {
  const values = new URLSearchParams(query).getAll('returnTo')
  const [path = `${basePath}/`] = values
  const isPath = values.length <= 1 && path.length <= MAX_LENGTH && PATH.test(path)
  if (!isPath || !isBelow(basePath, path, publicUrl)) throw OidcErrors.RETURN_TO(`${basePath}/`, MAX_LENGTH)
  return path
}

/** True if the path stays below the base path, for a browser and for a proxy that decodes slashes. */
function isBelow(basePath: string, path: string, publicUrl: string): boolean {
  const { origin, pathname } = new URL(path, publicUrl)
  const decodedPath = new URL(`${publicUrl}${pathname.replaceAll(/%2f|%5c/gi, '/')}`).pathname
  return origin === publicUrl && [pathname, decodedPath].every(each => `${each}/`.startsWith(`${basePath}/`))
}
