import { prefersPage, type ProtocolError, type Reply, type TransportRequest } from '../../kernel/api.ts'

/** Headers of answers during a login, which keep the address of a callback, with its code, private. */
export const PRIVATE_HEADERS = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' } as const

const PAGE_HEADERS = {
  ...PRIVATE_HEADERS,
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

/** True if a person sees the answer. Call it before the first `await`. */
export const wantsPage = (request: TransportRequest): boolean => prefersPage(request.header('accept'))

/** Page that shows an error to a person. @param again address at which the login is begun again */
export function errorPage({ message, httpStatus, retryAfterSeconds }: ProtocolError, again: string): Reply {
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Login</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem; color-scheme: light dark }</style>
<h1>The login did not succeed</h1>
<p>${escapeHtml(message)}</p>
<p><a href="${escapeHtml(again)}">Log in again</a></p>
</html>
`
  const wait = retryAfterSeconds === undefined ? undefined : { 'Retry-After': String(retryAfterSeconds) }
  return { status: httpStatus, headers: { ...PAGE_HEADERS, ...wait }, body }
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, each => ESCAPES[each]!)
