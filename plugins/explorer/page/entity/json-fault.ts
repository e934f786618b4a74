/** Tokens of JSON, and the position of a mistake, since browsers do not always report it. */

const BLANKS = /[ \t\r\n]*/y
const QUOTE = /"/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: texts of JSON do not have them
const PLAIN = /[^"\\\u0000-\u001f]+/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/**
 * Position of the first invalid character; the length of the text if its end is missing.
 * @param onToken called with each sign, string and other value before that position
 */
export function jsonFaultAt(text: string, onToken?: (token: string, at: number) => void): number | undefined {
  let at = 0
  /** Closing brackets of the open arrays and objects. */
  const open: ('}' | ']')[] = []
  const take = (what: RegExp): boolean => {
    what.lastIndex = at
    const isMatch = what.test(text)
    if (isMatch) at = what.lastIndex
    return isMatch
  }
  const sign = (signs: string): boolean => {
    take(BLANKS)
    if (at >= text.length || !signs.includes(text[at]!)) return false
    onToken?.(text[at]!, at)
    at++
    return true
  }
  /** Takes a string by parts, since one pattern may not be able to match a long one. */
  const string = (): boolean => {
    if (!take(QUOTE)) return false
    while (take(PLAIN) || take(ESCAPE));
    return take(QUOTE)
  }
  const token = (read: () => boolean): boolean => {
    take(BLANKS)
    const start = at
    if (read()) onToken?.(text.slice(start, at), start)
    else at = start
    return at > start
  }
  const name = (): boolean => token(string) && sign(':')
  /** Reads a value, or the beginning of an array or object. @returns `inside` if a nested value must follow */
  const value = (): 'wrong' | 'inside' | 'done' => {
    if (sign('[')) {
      if (sign(']')) return 'done'
      open.push(']')
      return 'inside'
    }
    if (sign('{')) {
      if (sign('}')) return 'done'
      open.push('}')
      return name() ? 'inside' : 'wrong'
    }
    return token(() => string() || take(SCALAR)) ? 'done' : 'wrong'
  }
  for (;;) {
    const state = value()
    if (state === 'wrong') return at
    if (state === 'inside') continue
    while (open.length > 0 && sign(open.at(-1)!)) open.pop()
    if (open.length === 0) break
    if (!sign(',') || (open.at(-1) === '}' && !name())) return at
  }
  take(BLANKS)
  return at < text.length ? at : undefined
}
