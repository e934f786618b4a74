import { randomUUID } from 'node:crypto'

/** Matches a name with an escape. It also matches some texts in which a quote and a colon follow an escape. */
const ESCAPED_NAME = /\\.[^"\\]*"\s*:/s
const COLON = /\s*:/y
/** Prefix of a text that stands for a name. No client can know it. */
const MARK = `name ${randomUUID()} `
const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * `JSON.parse` for objects with any names. That of Node.js 24 and 26 misreads a name of one escaped character, such as a quote, as a
 * backslash after it has read a backslash as a name (https://github.com/nodejs/node/issues/63785), so it gets no escaped names.
 * @throws {SyntaxError}
 */
export const readJson = (text: string): unknown => withRightNames(text, JSON.parse(text))

/** @param value parsed from the text @returns the value, or a new one with the right names */
export function withRightNames(text: string, value: unknown): unknown {
  if (!text.includes('\\') || !ESCAPED_NAME.test(text)) return value
  const names: string[] = []
  return restoreNames(JSON.parse(markNames(text, names)), names)
}

/** @param json known to be valid @param names receives the names that were replaced */
function markNames(json: string, names: string[]): string {
  const parts: string[] = []
  let copiedTo = 0
  for (let i = 0; i < json.length; i++) {
    if (json.charCodeAt(i) !== QUOTE) continue
    const start = i
    for (i++; json.charCodeAt(i) !== QUOTE; i++) if (json.charCodeAt(i) === BACKSLASH) i++
    COLON.lastIndex = i + 1
    if (!COLON.test(json)) continue
    parts.push(json.slice(copiedTo, start), `"${MARK}${names.length}"`)
    copiedTo = i + 1
    names.push(JSON.parse(json.slice(start, copiedTo)) as string)
  }
  return parts.join('') + json.slice(copiedTo)
}

function restoreNames(value: unknown, names: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(each => restoreNames(each, names))
  const members = Object.entries(value).map(([mark, each]) => {
    return [names[Number(mark.slice(MARK.length))]!, restoreNames(each, names)] as const
  })
  return Object.fromEntries(members)
}
