import { parseExact } from '../../base/exact-json.ts'
import { exceededBound, type JsonBounds } from '../../base/json-bounds.ts'
import { type TextLimits, TEXT_LIMITS } from './limits.ts'
import { ParseErrors } from './parse-errors.ts'
import { excerpt } from './syntax-failure.ts'

/**
 * Reads JSON in an address: `["Smith",42]`. A text that is not JSON is parsed again, with rules that allow names without quotes
 * and texts in single quotes: `[{vector:[1,2,3],metric:'cosine'}]`. Linear in the length.
 * @throws {ParseErrors.PARAMS} 1806 for anything else, for names that would reach a prototype, and beyond the limits
 * Source: protocol notes, 1.3.
 */
export function parseRelaxedJson(text: string, limits: TextLimits = TEXT_LIMITS): unknown {
  const value = parseStrict(text, text, limits)
  if (value) return value.content
  // Only people write relaxed JSON; longer texts come from programs.
  const result = text.length <= limits.maxTextLength ? parseStrict(toStrictJson(text), text, limits) : undefined
  if (!result) throw ParseErrors.PARAMS(excerpt(text), 'this is not JSON')
  return result.content
}

/** Returns undefined if the text is not JSON, or contains `__proto__` or `constructor.prototype`. @param originalText for messages */
function parseStrict(text: string, originalText: string, limits: TextLimits): { content: unknown } | undefined {
  const { maxParams, maxParamsDepth, maxTextLength } = limits
  const bound = exceededBound(Buffer.from(text), { depth: maxParamsDepth, values: maxParams })
  // Invalid JSON may only seem to exceed the bounds, so a short text is parsed first.
  if (bound && text.length > maxTextLength) throw beyondLimits(bound, originalText, limits)
  let content: unknown
  try {
    content = parseExact(text, 'numbers')
  } catch {
    return undefined
  }
  if (bound) throw beyondLimits(bound, originalText, limits)
  return { content }
}

function beyondLimits(bound: keyof JsonBounds, originalText: string, { maxParams, maxParamsDepth }: TextLimits) {
  const problem =
    bound === 'depth'
      ? `it is nested deeper than ${maxParamsDepth} levels (query.maxParamsDepth)`
      : `it has more than ${maxParams} values (query.maxParams)`
  return ParseErrors.PARAMS(excerpt(originalText), problem)
}

/** Quotes names before a colon and turns single quotes into double ones; everything else is unchanged. */
function toStrictJson(text: string): string {
  const parts: string[] = []
  let copiedEnd = 0
  for (let i = 0; i < text.length; ) {
    const start = i
    const first = text[i]!
    if (first === '"' || first === "'") {
      i = endOfString(text, start)
      if (i < 0) return text
      if (first === "'") {
        parts.push(text.slice(copiedEnd, start), requote(text.slice(start + 1, i - 1)))
        copiedEnd = i
      }
      continue
    }
    NAME.lastIndex = i
    const word = NAME.exec(text)?.[0]
    if (word === undefined) {
      i++
      continue
    }
    i += word.length
    let behind = i
    while (text[behind] === ' ') behind++
    if (text[behind] === ':') {
      parts.push(text.slice(copiedEnd, start), `"${word}"`)
      copiedEnd = i
    }
    i = behind
  }
  return parts.join('') + text.slice(copiedEnd)
}

/** Index after the closing quote of the string that opens at `start`, or -1. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === text[start]) return i + 1
  }
  return -1
}

function requote(inside: string): string {
  return `"${inside.replaceAll("\\'", "'").replaceAll('\\"', '"').replaceAll('"', '\\"')}"`
}

/** A word. Digits, signs and dots are included, so that a number is one word. */
const NAME = /[\w$.+\u0080-\uffff-]+/y
