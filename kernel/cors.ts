import type { Config } from '../config/load-config.ts'
import type { Reply } from './reply.ts'

type CorsOptions = Config['server']['cors']

/** Headers for an answer to a page of `origin`; none when that origin is not allowed. Source: Fetch standard, 3.2. */
export function corsHeaders(options: CorsOptions, origin: string): Record<string, string> {
  const listed = options.origins.includes(origin)
  if (!listed && !options.origins.includes('*')) return { Vary: 'Origin' }
  const headers: Record<string, string> = {
    // With credentials a browser takes no `*`, and a `*` in the config must not hand them to every site.
    'Access-Control-Allow-Origin': listed ? origin : '*',
    'Access-Control-Expose-Headers': 'Content-Location, Retry-After',
    Vary: 'Origin',
  }
  if (options.credentials && listed) headers['Access-Control-Allow-Credentials'] = 'true'
  return headers
}

/** Answer to the question a browser asks before a request that is not simple. */
export const preflight = (options: CorsOptions): Reply => ({
  status: 204,
  headers: {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE',
    'Access-Control-Allow-Headers': 'Content-Type, Authorization',
    'Access-Control-Max-Age': String(options.maxAgeSeconds),
  },
  body: '',
})
