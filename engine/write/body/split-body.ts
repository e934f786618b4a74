import { isUtf8 } from 'node:buffer'
import { EngineErrors } from '../../base/engine-errors.ts'
import { ProtocolError } from '../../base/errors.ts'
import { parseJson } from '../../base/json-body.ts'
import { outlineBody } from './body-outline.ts'
import type { BodyParts } from '../contract/requests.ts'
import { describe, WriteErrors } from '../contract/write-errors.ts'
import type { BodyLimits } from '../contract/write-limits.ts'

/** Receiver of the elements of a body. */
interface ElementReader {
  readonly parse: (text: string) => unknown
  add(element: unknown): void
}

/**
 * Finds the elements of a large body and checks all bounds, before anything but the text around its array is parsed.
 * @param between called every few milliseconds; may throw to end the work
 * @throws {EngineErrors.BAD_JSON} {@link WriteErrors.NOT_ENTITIES}; the bound that is exceeded
 */
export function splitBody(body: Uint8Array, limits: BodyLimits, between: () => void): BodyParts {
  if (!isUtf8(body)) throw EngineErrors.BAD_JSON('it is not UTF-8')
  between()
  const { kind, parts, start, end } = outlineBody(body, limits, between)
  if (kind === 'other') throw malformedBody(body, limits)
  const isArray = kind === 'elements'
  // `{"__ENTITIES":[…]}` without its elements.
  if (isArray && end - start < body.length) {
    const around = parseJson(`${textOf(body, 0, start)}[]${textOf(body, end, body.length)}`)
    const { __ENTITIES } = around as { __ENTITIES?: unknown }
    // The name `__ENTITIES` may occur twice.
    if (!Array.isArray(around) && !Array.isArray(__ENTITIES))
      throw WriteErrors.NOT_ENTITIES(`an object whose __ENTITIES is ${describe(__ENTITIES)}`)
  }
  return { many: isArray, ranges: Uint32Array.from(parts) }
}

/**
 * Parses some consecutive parts of a body. All parts are parsed before the first element is saved, so that an error at the end is not found
 * too late.
 * @param ranges ranges of the parts @param first index of their first element
 * @throws {EngineErrors.BAD_JSON} an element is not JSON
 */
export function parseParts(
  body: Uint8Array,
  ranges: Uint32Array,
  first: number,
  between: () => void,
  { parse, add }: ElementReader = { parse: parseJson, add() {} },
): void {
  for (let i = 0, number = first + 1; i < ranges.length; i += 3) {
    between()
    const count = ranges[i + 2]!
    for (const element of parsePart(textOf(body, ranges[i]!, ranges[i + 1]!), count, number, parse)) add(element)
    number += count
  }
}

function parsePart(text: string, count: number, first: number, parse: (text: string) => unknown): readonly unknown[] {
  let elements: unknown[]
  try {
    elements = parse(`[${text}]`) as unknown[]
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const reason = error.message.slice(error.message.indexOf(': ') + 2)
    throw EngineErrors.BAD_JSON(`${reason} (entities ${first} to ${first + count - 1})`)
  }
  // A comma without an element before or after it.
  if (elements.length !== count) throw EngineErrors.BAD_JSON(`entity ${first} is empty`)
  return elements
}

function malformedBody(body: Uint8Array, { maxEntityBytes }: BodyLimits): ProtocolError {
  if (body.length > maxEntityBytes) return EngineErrors.BAD_JSON('its brackets do not match, or it has none')
  return WriteErrors.NOT_ENTITIES(describe(parseJson(textOf(body, 0, body.length))))
}

export const textOf = (body: Uint8Array, start: number, end: number): string =>
  Buffer.from(body.buffer, body.byteOffset + start, end - start).toString('utf8')
