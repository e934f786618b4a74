import { type ClientError, ResponseBodyError } from 'openid-client'

const MAX_LENGTH = 300
/** Texts that could be a token, a code or a secret. */
const OPAQUE = /[\w.~+/=-]{24,}/g

/** True if the provider did not answer, or answered that it cannot. */
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
  const text = parts.filter(part => part !== '').join(': ')
  const [printable, issuer] = [text.replaceAll(/[^ -~]/g, ' '), /https?:\/\/[\w.:/-]+/.exec(error.message)?.[0] ?? '']
  const hidden = clientSecret === '' ? printable : printable.replaceAll(clientSecret, '…')
  return hidden.replaceAll(OPAQUE, each => (issuer.includes(each) ? each : '…')).slice(0, MAX_LENGTH)
}

/** Cause of an error of the library, whose own messages are general. Texts of parsers repeat what they could not read. */
function causeOf({ cause }: Error): string {
  if (cause instanceof Response) return `status ${cause.status}`
  return cause instanceof Error && !(cause instanceof SyntaxError) ? cause.message : ''
}
