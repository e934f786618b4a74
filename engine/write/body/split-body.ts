import { isUtf8 } from 'node:buffer'
import { EngineErrors } from '../../base/engine-errors.ts'
import { ProtocolError } from '../../base/errors.ts'
import { parseJson } from '../../base/json-body.ts'
import { JsonCopier, skipElement } from './json-copier.ts'
import { outlineBody } from './body-outline.ts'
import type { BodyParts } from '../contract/requests.ts'
import { describe, WriteErrors } from '../contract/write-errors.ts'
import type { RowCopier } from './row-copier.ts'
import type { BodyLimits } from '../contract/write-limits.ts'

/** Receiver of the elements of a body. */
interface ElementReader {
  readonly parse: (text: string) => unknown
  add(element: unknown): void
  /** Takes elements that need not be parsed. */
  readonly copier?: RowCopier | undefined
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
  reader: ElementReader = { parse: parseJson, add() {} },
): void {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  const json = reader.copier && new JsonCopier(reader.copier, reader.parse)
  for (let i = 0, number = first + 1; i < ranges.length; i += 3) {
    between()
    const part = { start: ranges[i]!, end: ranges[i + 1]!, count: ranges[i + 2]!, first: number }
    if (json) copyPart(bytes, part, json, reader)
    else for (const element of parsePart(bytes, part, reader.parse)) reader.add(element)
    number += part.count
  }
}

interface Part {
  readonly start: number
  readonly end: number
  /** Number of elements, and number of the first one from 1. */
  readonly count: number
  readonly first: number
}

/** Parses a part only if one of its elements cannot be copied. */
function copyPart(bytes: Buffer, part: Part, json: JsonCopier, { copier, parse, add }: ElementReader): void {
  const { start, end, count } = part
  let elements: readonly unknown[] | undefined
  for (let i = 0, at = start; i < count; i++) {
    let next = copier!.isUseful ? json.copy(bytes, at, end, i === count - 1) : -1
    if (next < 0) {
      elements ??= parsePart(bytes, part, parse)
      add(elements[i])
      next = skipElement(bytes, at, end)
    }
    at = next + 1
  }
}

function parsePart(
  bytes: Buffer,
  { start, end, count, first }: Part,
  parse: (text: string) => unknown,
): readonly unknown[] {
  let elements: unknown[]
  try {
    elements = parse(`[${bytes.toString('utf8', start, end)}]`) as unknown[]
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
