import { OidcErrors } from './errors.ts'

/** The state carries it, and providers limit the length of addresses. */
const MAX_LENGTH = 500
/** Visible ASCII without `\`, which browsers take for `/`; not `//`, which begins a host. */
const PATH = /^\/(?!\/)[!-[\]-~]*$/

/**
 * Address on this server to which a browser goes, from a query string.
 * @param otherwise path if there is none in the query
 * @returns the path as it was sent
 * @throws {OidcErrors.RETURN_TO} 400, for everything that is not a path of this server
 */
export function returnToIn(query: string, otherwise: string, publicUrl: string): string {
  const given = new URLSearchParams(query).getAll('returnTo')
  const [path = otherwise] = given
  const isPath = given.length <= 1 && path.length <= MAX_LENGTH && PATH.test(path)
  if (!isPath || new URL(path, publicUrl).origin !== publicUrl) throw OidcErrors.RETURN_TO(MAX_LENGTH)
  return path
}
