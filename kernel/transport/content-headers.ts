/** Headers of every JSON answer. Source: protocol notes, 11. */
export const JSON_HEADERS = Object.freeze({
  'Content-Type': 'application/json; charset=UTF-8',
  'X-Content-Type-Options': 'nosniff',
  // An answer depends on its caller, and a cache may store it unless forbidden. Source: RFC 9111, 3 and 4.2.2.
  'Cache-Control': 'no-store',
} as const)

/** Headers of a JSON answer with an entity tag: its client may keep it, and revalidates it each time. */
export const TAGGED_JSON_HEADERS = Object.freeze({ ...JSON_HEADERS, 'Cache-Control': 'private, no-cache' } as const)

type Headers = Readonly<Record<string, string | readonly string[]>>

/** Headers of a JSON answer including the headers of its handler, whose names may be in any letter case. */
export function jsonHeaders(headers: Record<string, string> | undefined): Record<string, string> {
  if (!headers) return JSON_HEADERS
  const names = new Set(Object.keys(headers).map(name => name.toLowerCase()))
  const defaults = Object.entries(JSON_HEADERS).filter(([name]) => !names.has(name.toLowerCase()))
  return { ...Object.fromEntries(defaults), ...headers }
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i

/**
 * Headers of all other bodies, which may come from clients: a browser must neither guess the type nor run the body with the rights of
 * this origin (an SVG or an uploaded HTML file can contain scripts).
 */
const ISOLATION = {
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}

/** Adds the headers that protect browsers from a body, and the body from caches, unless a handler has set them. */
export function withContentHeaders(headers: Headers | undefined, hasBody: boolean): Headers | undefined {
  if (headers === JSON_HEADERS || headers === TAGGED_JSON_HEADERS) return headers
  const names = new Map(Object.keys(headers ?? {}).map(name => [name.toLowerCase(), name]))
  const type = headers?.[names.get('content-type') ?? '']
  if (!hasBody && type === undefined) return headers
  const { 'Content-Security-Policy': _, ...ofJson } = ISOLATION
  const requiredHeaders = JSON_TYPE.test(String(type)) ? ofJson : ISOLATION
  const missingHeaders = Object.entries(requiredHeaders).filter(([name]) => !names.has(name.toLowerCase()))
  return missingHeaders.length > 0 ? { ...headers, ...Object.fromEntries(missingHeaders) } : headers
}
