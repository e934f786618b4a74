/** Places in a filter that the server's messages name. */
import { type Token, tokensOf } from '../base/filter-tokens.ts'

export interface ErrorPlace {
  /** Offsets into the text, in UTF-16 code units. */
  readonly start: number
  readonly end: number
  /** Replacement that the message proposes. */
  readonly proposal: string | undefined
}

/**
 * The place in a text that a message is about: `… at character 12, near "York"`, counted from 1 in code points, or the first
 * quoted name that occurs in the text: `attribute "nme" not found in class "City"; did you mean "name"?` Otherwise the whole text.
 */
export function errorPlace(message: string, text: string): ErrorPlace {
  const proposal = /did you mean "([^"]+)"/.exec(message)?.[1]
  const character = /\bat character (\d+)/.exec(message)?.[1]
  const { tokens } = tokensOf(text)
  if (character !== undefined) return { ...aroundCharacter(Number(character), text, tokens), proposal }
  for (const [, name = ''] of message.matchAll(/"([^"]+)"/g)) {
    const range = placeOf(name, tokens)
    if (range) return { ...range, proposal: name === proposal ? undefined : proposal }
  }
  return { start: 0, end: text.length, proposal: undefined }
}

function aroundCharacter(character: number, text: string, tokens: readonly Token[]): { start: number; end: number } {
  const start = [...text].slice(0, character - 1).join('').length
  // At the end of the text: something is missing after the last token.
  if (start >= text.length) return { start: tokens.at(-1)?.start ?? 0, end: text.length }
  const token = tokens.find(each => each.start <= start && start < each.end)
  return { start, end: token?.end ?? start + 1 }
}

function placeOf(name: string, tokens: readonly Token[]): { start: number; end: number } | undefined {
  for (const { kind, start, end, text } of tokens) {
    if (text === name || text === `"${name}"` || text === `'${name}'`) return { start, end }
    if (kind !== 'path') continue
    const at = stepAt(name, text)
    if (at >= 0) return { start: start + at, end: start + at + name.length }
  }
  return undefined
}

/** Index in a path at which one or more steps have this name, or -1. */
function stepAt(name: string, path: string): number {
  for (let at = path.indexOf(name); at >= 0; at = path.indexOf(name, at + 1)) {
    const before = path[at - 1] ?? '.'
    const behind = path[at + name.length] ?? '.'
    if (/["'.]/.test(before) && /["'.[{]/.test(behind)) return at
  }
  return -1
}
