import { isUtf8 } from 'node:buffer'
import { parse } from 'secure-json-parse'
import { EngineErrors } from './engine-errors.ts'
import { doubleOf, type KeptDigits, parseExact } from './exact-json.ts'
import { checkJsonBounds, JSON_BOUNDS, type JsonBounds } from './json-bounds.ts'
import { withRightNames } from './read-json.ts'
import { excerpt } from './text/excerpt.ts'

/**
 * Parses a request body as JSON, whatever its Content-Type says; undefined when it is empty. Integers beyond 2^53 become bigints.
 * Refuses `__proto__` and `constructor.prototype`, with which a client could change objects of the server.
 * @param keptDigits as in {@link parseExact}; all other numbers are doubles
 * @throws {EngineErrors.BAD_JSON} with the position that the parser reports
 * @throws {EngineErrors.BEYOND_DOUBLES}
 * @throws {EngineErrors.TOO_DEEP} {@link EngineErrors.TOO_MANY_VALUES} before anything is parsed
 */
export function parseJsonBody(body: Uint8Array, bounds: JsonBounds = JSON_BOUNDS, keptDigits?: 'numbers'): unknown {
  checkJsonBounds(body, bounds)
  const text = bodyText(body)
  return text.trim() === ''
    ? undefined
    : syntaxChecked(() => parseExact(text, keptDigits, keptDigits ? undefined : double))
}

/** @throws {EngineErrors.BAD_JSON} when it is not UTF-8 */
export function bodyText(body: Uint8Array): string {
  if (!isUtf8(body)) throw EngineErrors.BAD_JSON('it is not UTF-8')
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
}

/** @throws {EngineErrors.BAD_JSON} */
export const parseJson = (text: string): unknown => syntaxChecked(() => withRightNames(text, parse(text)))

/** Parses JSON by {@link parseExact}. @throws {EngineErrors.BAD_JSON} */
export const parseExactJson = (text: string, keptDigits: KeptDigits): unknown =>
  syntaxChecked(() => parseExact(text, keptDigits))

/** @throws {EngineErrors.BEYOND_DOUBLES} */
function double(number: string): number {
  const value = doubleOf(number)
  if (!Number.isFinite(value)) throw EngineErrors.BEYOND_DOUBLES(excerpt(number))
  return value
}

function syntaxChecked(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof SyntaxError) throw EngineErrors.BAD_JSON(error.message)
    throw error
  }
}
