import { JSON_BOUNDS } from '../base/json-bounds.ts'

/** Maximum number of members of a row. */
const MAX_MEMBERS = 10_000
/** Maximum number of members of an object in a row. Objects of more than some thousands take V8 ten times as long per member. */
const MAX_INNER_MEMBERS = 100_000
/** A member has at least a name, a colon, a value and a comma: shorter rows exceed no bound. */
const SHORT = 5 * MAX_MEMBERS

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c

/**
 * The bound that a row of JSON exceeds, as a sentence. One pass before anything is parsed: values take a hundred times their length in
 * memory. Text that is not JSON may pass.
 */
export function excessOf(text: string): string | undefined {
  if (text.length < SHORT) return undefined
  const members: number[] = []
  let level = 0
  let values = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i++
    } else if (code === COLON) {
      members[level] = (members[level] ?? 0) + 1
      if (level === 1 && members[1]! > MAX_MEMBERS) return `a row has at most ${MAX_MEMBERS} names`
      if (members[level]! > MAX_INNER_MEMBERS) return `an object in a row has at most ${MAX_INNER_MEMBERS} names`
    } else if (code === COMMA || OPEN.has(code)) {
      if (++values > JSON_BOUNDS.values) return `a row has at most ${JSON_BOUNDS.values} values`
      if (code !== COMMA) members[++level] = 0
    } else if (CLOSE.has(code)) level = Math.max(0, level - 1)
  }
  return undefined
}

const OPEN: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSE: ReadonlySet<number> = new Set([0x5d, 0x7d])
