import { isUtf8 } from 'node:buffer'
import { parse } from 'secure-json-parse'
import { EngineErrors } from './engine-errors.ts'

/**
 * The JSON of a request body, whatever its Content-Type says; undefined when the body is empty.
 * Refuses `__proto__` and `constructor.prototype`, with which a client could change objects of the server.
 * @throws {EngineErrors.BAD_JSON} with what the parser says about the place
 */
export function parseJsonBody(body: Uint8Array): unknown {
  const text = bodyText(body)
  return text.trim() === '' ? undefined : parseJson(text)
}

/** @throws {EngineErrors.BAD_JSON} when it is not UTF-8 */
export function bodyText(body: Uint8Array): string {
  if (!isUtf8(body)) throw EngineErrors.BAD_JSON('it is not UTF-8')
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}

/** @throws {EngineErrors.BAD_JSON} */
export function parseJson(text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw EngineErrors.BAD_JSON(error.message)
    throw error
  }
}
