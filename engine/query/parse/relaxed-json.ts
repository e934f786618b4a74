import secureJson from 'secure-json-parse'
import { isDeeper } from '../../json-depth.ts'
import { limits } from './limits.ts'
import { ParseErrors } from './parse-errors.ts'
import { excerpt } from './syntax-failure.ts'

/**
 * Reads JSON that a client put into an address: `["Smith",42]`. What is not JSON gets a second reading, in which names
 * may stand without quotes and texts in single quotes: `[{vector:[1,2,3],metric:'cosine'}]`.
 * @throws {ParseErrors.PARAMS} 1806 for anything else, for names that would reach a prototype, and for deep nesting
 * Source: protocol notes, 1.3.
 */
export function parseRelaxedJson(text: string): unknown {
  const value = parseStrict(text) ?? parseStrict(toStrictJson(text))
  if (!value) throw ParseErrors.PARAMS(excerpt(text), 'this is not JSON')
  if (isDeeper(value.parsed, limits.paramsNesting)) {
    throw ParseErrors.PARAMS(excerpt(text), `it is nested deeper than ${limits.paramsNesting} levels`)
  }
  return value.parsed
}

/** Nothing when the text is not JSON, or has `__proto__` or `constructor.prototype` in it. */
function parseStrict(text: string): { parsed: unknown } | undefined {
  try {
    return { parsed: secureJson(text) }
  } catch {
    return undefined
  }
}

/** Quotes the names that stand before a colon and turns single quotes into double ones; all else stays as it is. */
function toStrictJson(text: string): string {
  const out: string[] = []
  for (let i = 0; i < text.length; ) {
    const start = i
    const first = text[i]!
    if (first === '"' || first === "'") {
      i = endOfString(text, start)
      if (i < 0) return text
      out.push(first === '"' ? text.slice(start, i) : requoted(text.slice(start + 1, i - 1)))
    } else if (isNameCharacter(first)) {
      while (i < text.length && isNameCharacter(text[i]!)) i++
      const word = text.slice(start, i)
      let behind = i
      while (text[behind] === ' ') behind++
      out.push(text[behind] === ':' ? `"${word}"` : word)
      out.push(text.slice(i, behind))
      i = behind
    } else {
      out.push(first)
      i++
    }
  }
  return out.join('')
}

/** Index behind the quote that closes the string which opens at `start`, or -1. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === text[start]) return i + 1
  }
  return -1
}

function requoted(inside: string): string {
  return `"${inside.replaceAll("\\'", "'").replaceAll('\\"', '"').replaceAll('"', '\\"')}"`
}

/** Digits, signs and dots count too, so that a number is one word. */
function isNameCharacter(character: string): boolean {
  return /[\w$.+-]|[^\0-\x7f]/.test(character)
}
