import type { Config } from '../config/load-config.ts'
import type { Reply } from './reply.ts'

type CorsOptions = Config['server']['cors']

/** Headers of answers that scripts of other origins may read. */
const EXPOSED =
  'Accept-Ranges, Content-Disposition, Content-Location, Content-Range, ETag, Retry-After, Server-Timing, WWW-Authenticate'

/** Headers for an answer to a page of `origin`; none when that origin is not allowed. Source: Fetch standard, 3.2. */
export function corsHeaders(options: CorsOptions, origin: string): Record<string, string> {
  const isListed = options.origins.includes(origin)
  if (!isListed && !options.origins.includes('*')) return { Vary: 'Origin' }
  const headers: Record<string, string> = {
    // Browsers reject `*` with credentials, and a `*` in the config must not hand them to every site.
    'Access-Control-Allow-Origin': isListed ? origin : '*',
    'Access-Control-Expose-Headers': EXPOSED,
    Vary: 'Origin',
  }
  if (options.credentials && isListed) headers['Access-Control-Allow-Credentials'] = 'true'
  return headers
}

/** Request headers that the server and its plugins read, apart from those that browsers send without a preflight. */
const READ = 'Authorization, Content-Type, If-None-Match, If-Range, Range, traceparent, tracestate'

/**
 * Answer to a preflight, which browsers send before a request that is not simple. All headers that it names are allowed, because plugins
 * may read any header; the origin decides which pages may send requests at all. Source: Fetch standard, 3.2.
 */
export const preflight = (options: CorsOptions, headerNames: string): Reply => ({
  status: 204,
  headers: {
    'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'Access-Control-Allow-Headers': HEADER_NAMES.test(headerNames) ? headerNames : READ,
    'Access-Control-Max-Age': String(options.maxAgeSeconds),
  },
  body: '',
})

const HEADER_NAMES = /^(?=.{1,2000}$)[\w!#$%&'*+.^`|~-]+(?:, ?[\w!#$%&'*+.^`|~-]+)*$/
