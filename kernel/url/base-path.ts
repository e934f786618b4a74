import { stripRestPrefix } from './parse-path.ts'

/**
 * Removes the base path from the path of a request, for proxies that pass it on and those that strip it. A path that the server itself
 * serves is unchanged: if a route has the path `/shop/page`, the proxy has already stripped the base path, whatever that is.
 * `X-Forwarded-Prefix` is not read, because rows are stored with links that contain the prefix.
 */
export function withoutBasePath(
  path: string,
  basePath: string,
  routes: { servesBelow(basePath: string, path: string): boolean },
): string {
  if (!path.startsWith(basePath) || stripRestPrefix(path) !== undefined || routes.servesBelow(basePath, path))
    return path
  const subpath = path.slice(basePath.length)
  return subpath === '' ? '/' : subpath.startsWith('/') ? subpath : path
}
