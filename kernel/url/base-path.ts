import { stripRestPrefix } from './parse-path.ts'

/**
 * Path of a request without the base path, for proxies that pass it on and those that strip it. An address of the server
 * stays as it is: a proxy has stripped the base path of `/shop/page` when a route has that name, whatever the base path is.
 */
export function withoutBasePath(path: string, basePath: string, routes: { has(path: string): boolean }): string {
  if (!path.startsWith(basePath) || stripRestPrefix(path) !== undefined || routes.has(path)) return path
  const rest = path.slice(basePath.length)
  return rest === '' ? '/' : rest.startsWith('/') ? rest : path
}
