import { Denied, type Source, SourceError } from './source.ts'

export interface Credentials {
  readonly user: string
  readonly password: string
  /** Datastore function that logs in, such as `authentify`; by default the login of users and groups of 4D. */
  readonly loginFunction?: string | undefined
}

/** Password from the environment or the terminal. @throws {Error} there is neither */
export async function passwordOf(user: string): Promise<string> {
  const { TESSER_PASSWORD } = process.env
  if (TESSER_PASSWORD) return TESSER_PASSWORD
  if (!process.stdin.isTTY)
    throw new Error(`there is no terminal to ask for the password of ${user}; set TESSER_PASSWORD`)
  return (await import('@inquirer/password')).default({ message: `Password of ${user}`, mask: true })
}

const LOGIN = '$directory/login'
/** Minutes without a request after which the session may end. */
const SESSION_MINUTES = 60
/** Matches strings that a header can contain unencoded. */
const PLAIN = /^[\x20-\x7e]*$/

/**
 * Logs in: the cookie of the answer is the session.
 * @throws {SourceError} the server refuses
 * Source: protocol notes, 8.2 and 8.3.
 */
export async function logIn(source: Source, { user, password, loginFunction }: Credentials): Promise<void> {
  let answer: unknown
  try {
    answer = await source.json(...requestOf(user, password, loginFunction))
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
    const Kind = error instanceof Denied ? Denied : SourceError
    throw new Kind(`${user} cannot log in: ${error.message}`, { cause: error })
  }
  if ((answer as { result?: unknown } | null)?.result === false)
    throw new Denied(`${user} cannot log in: the server refuses the name or the password`)
}

function requestOf(user: string, password: string, loginFunction: string | undefined): Parameters<Source['json']> {
  const method = 'POST'
  if (loginFunction !== undefined)
    return [
      `$catalog/${encodeURIComponent(loginFunction)}`,
      { method, isLogin: true, body: JSON.stringify([user, password]) },
    ]
  if (!PLAIN.test(user + password))
    return [LOGIN, { method, isLogin: true, body: JSON.stringify([user, password, SESSION_MINUTES * 60]) }]
  const headers = { 'username-4D': user, 'password-4D': password, 'session-4D-length': String(SESSION_MINUTES) }
  return [LOGIN, { method, isLogin: true, headers, body: '' }]
}
