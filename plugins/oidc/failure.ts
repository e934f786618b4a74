import { type ClientError, ResponseBodyError } from 'openid-client'

const MAX_LENGTH = 300
/** Texts that could be a token, a code or a secret. */
const OPAQUE = /[\w.~+/=-]{24,}/g

/** The metadata of a provider name another issuer. */
export class WrongIssuer extends Error {
  constructor(readonly issuer: string) {
    super('the issuer in the metadata of the provider is another one; if it is the address of one tenant, configure it')
  }
}

/** True if the provider did not answer, or answered that it is unavailable. */
export function isOutage(error: unknown): boolean {
  if (error instanceof TypeError) return true
  if (error instanceof ResponseBodyError) return error.status >= 500
  const { code, cause } = error as ClientError
  return code === 'OAUTH_TIMEOUT' || (cause instanceof Response && cause.status >= 500)
}

/** Reason of a failure for the log, without anything that gives access. */
export function describeFailure(error: unknown, clientSecret = ''): string {
  if (!(error instanceof Error)) return 'unknown'
  const parts: string[] =
    error instanceof ResponseBodyError
      ? [`the provider answered ${error.status}`, error.error, error.error_description ?? '']
      : [error.message, causeOf(error)]
  const text = [...new Set(parts)].filter(part => part !== '').join(': ')
  const safeText = clientSecret === '' ? text : text.replaceAll(clientSecret, '…')
  const issuer = issuerOf(error)
  return printable(safeText.replaceAll(OPAQUE, '…')) + (issuer === undefined ? '' : `: ${printable(issuer)}`)
}

/**
 * Cause of an error of the library, whose own messages are general. Messages of parsers are left out, since they repeat the unreadable
 * input.
 */
function causeOf({ cause }: Error): string {
  if (cause instanceof Response) return `status ${cause.status}`
  return cause instanceof Error && !(cause instanceof SyntaxError) ? cause.message : ''
}

/** Issuer in the metadata of the provider, which are public, if this issuer is the problem. */
function issuerOf(error: Error): string | undefined {
  if (error instanceof WrongIssuer) return error.issuer
  const { attribute, body } = (error.cause ?? {}) as { attribute?: unknown; body?: { issuer?: unknown } }
  return attribute === 'issuer' ? String(body?.issuer) : undefined
}

/** A text in visible ASCII, of a bounded length. */
export const printable = (text: string): string => text.replaceAll(/[^ -~…]/g, ' ').slice(0, MAX_LENGTH)
