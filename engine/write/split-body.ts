import { isUtf8 } from 'node:buffer'
import { EngineErrors } from '../base/engine-errors.ts'
import { ProtocolError } from '../base/errors.ts'
import { parseJson } from '../base/json-body.ts'
import { outlineBody } from './body-outline.ts'
import type { BodyParts } from './contract/requests.ts'
import { describe, WriteErrors } from './contract/write-errors.ts'
import type { BodyLimits } from './contract/write-limits.ts'

/** Receiver of the elements of a body. */
interface ElementReader {
  readonly parse: (text: string) => unknown
  add(element: unknown): void
}

/**
 * Checks a large body and splits it into parts that the writer parses one by one. The whole body is verified to be JSON, so that
 * an error at its end is not found after its beginning has been saved.
 * @param between called every few milliseconds; may throw to end the work
 * @param reader receives the elements of each part, as it has parsed them
 * @throws {EngineErrors.BAD_JSON} {@link WriteErrors.NOT_ENTITIES}; the bound that is exceeded
 */
export function splitBody(
  body: Uint8Array,
  limits: BodyLimits,
  between: () => void,
  reader?: ElementReader,
): BodyParts {
  if (!isUtf8(body)) throw EngineErrors.BAD_JSON('it is not UTF-8')
  between()
  const { kind, parts, start, end } = outlineBody(body, limits, between)
  if (kind === 'other') throw malformed(body, limits)
  for (let i = 0, first = 1; i < parts.length; i += 3) {
    between()
    const count = parts[i + 2]!
    const elements = parsePart(textOf(body, parts[i]!, parts[i + 1]!), count, first, reader?.parse ?? parseJson)
    for (const element of elements) reader?.add(element)
    first += count
  }
  if (kind === 'object') return { many: false, ranges: Uint32Array.from(parts) }
  // `{"__ENTITIES":[…]}` without its elements.
  if (end - start < body.length) parseJson(`${textOf(body, 0, start)}[]${textOf(body, end, body.length)}`)
  return { many: true, ranges: Uint32Array.from(parts) }
}

function parsePart(text: string, count: number, first: number, parse: (text: string) => unknown): readonly unknown[] {
  let found: unknown[]
  try {
    found = parse(`[${text}]`) as unknown[]
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw EngineErrors.BAD_JSON(`${error.message} (entities ${first} to ${first + count - 1})`)
  }
  // A comma without an element before or after it.
  if (found.length !== count) throw EngineErrors.BAD_JSON(`entity ${first} is empty`)
  return found
}

function malformed(body: Uint8Array, { maxEntityBytes }: BodyLimits): ProtocolError {
  if (body.length > maxEntityBytes) return EngineErrors.BAD_JSON('its brackets do not match, or it has none')
  return WriteErrors.NOT_ENTITIES(describe(parseJson(textOf(body, 0, body.length))))
}

export const textOf = (body: Uint8Array, start: number, end: number): string =>
  Buffer.from(body.buffer, body.byteOffset + start, end - start).toString('utf8')
