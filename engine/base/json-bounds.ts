import { EngineErrors } from './engine-errors.ts'

/** Limits of a JSON text besides its length in bytes. Both are options of the server. */
export interface JsonBounds {
  /** Nesting levels of arrays and objects. */
  readonly depth: number
  /** Values of every kind, counted by the commas and opening brackets of the text. */
  readonly values: number
}

export const JSON_BOUNDS: JsonBounds = { depth: 100, values: 4_000_000 }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const BRACKET_OPEN = 0x5b
const BRACKET_CLOSE = 0x5d
const BRACE_OPEN = 0x7b
const BRACE_CLOSE = 0x7d

/**
 * Checks the bounds of a JSON text in one pass over its bytes, before anything is parsed: parsing nested arrays takes a hundred times their
 * length in memory, and deep nesting causes deep recursion. Text that is not JSON may pass; the parser refuses it afterwards.
 * @throws {EngineErrors.TOO_DEEP} {@link EngineErrors.TOO_MANY_VALUES} both 400, with the bound
 */
export function checkJsonBounds(json: Uint8Array, bounds: JsonBounds): void {
  const bound = exceededBound(json, bounds)
  if (bound === 'depth') throw EngineErrors.TOO_DEEP(bounds.depth)
  if (bound === 'values') throw EngineErrors.TOO_MANY_VALUES(bounds.values)
}

/** The bound that is exceeded first, as {@link checkJsonBounds} finds it. */
export function exceededBound(json: Uint8Array, { depth, values }: JsonBounds): keyof JsonBounds | undefined {
  let level = 0
  let separators = 0
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]!
    if (byte === QUOTE) {
      for (i++; i < json.length && json[i] !== QUOTE; i++) if (json[i] === BACKSLASH) i++
    } else if (byte === COMMA) {
      if (++separators > values) return 'values'
    } else if (byte === BRACKET_OPEN || byte === BRACE_OPEN) {
      if (++level > depth) return 'depth'
      if (++separators > values) return 'values'
    } else if (byte === BRACKET_CLOSE || byte === BRACE_CLOSE) level--
  }
  return undefined
}
