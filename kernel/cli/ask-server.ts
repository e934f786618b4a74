import { InputError } from '../../engine/base/input-error.ts'

/** Status codes after which a retry may succeed: too slow, too many requests. */
const LATER: ReadonlySet<number> = new Set([408, 429])
const LOCAL: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]'])

/**
 * Sends a request to a server.
 * @param key API key or token; undefined for a guest
 * @throws {Error} the server cannot be reached, or refuses, with its reason
 */
export async function ask(
  address: URL,
  { key, ...init }: RequestInit & { key?: string | undefined; duplex?: 'half' },
): Promise<Response> {
  let answer: Response
  const headers = {
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
    // Compression takes longer than a connection within this machine.
    ...(LOCAL.has(address.hostname) && { 'accept-encoding': 'identity' }),
  }
  try {
    answer = await fetch(address, { ...init, headers })
  } catch (error) {
    const { cause } = error as Error
    // The message of fetch only says that it failed.
    if (!(cause instanceof Error)) throw error
    const reason = cause.message || (cause as NodeJS.ErrnoException).code
    throw new Error(`${address.origin} cannot be reached: ${reason}`, { cause })
  }
  if (answer.ok) return answer
  const text = await answer.text()
  const message = messageOf(text) ?? `${address.origin} answers with status ${answer.status}: ${text.slice(0, 200)}`
  throw LATER.has(answer.status) || answer.status >= 500 ? new Error(message) : new InputError(message)
}

function messageOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { __ERROR: { message: string }[] }).__ERROR[0]!.message
  } catch {
    return undefined
  }
}
