/**
 * Splits texts of `$filter`, even unfinished ones, into tokens: for colours, completion, and the parser of the filter builder. The server's
 * grammar (`engine/query/parse/filter.ohm`) decides what is valid; text that these rules cannot read is `unknown` here.
 */

export type TokenKind =
  | 'open'
  | 'close'
  | 'not'
  | 'path'
  | 'placeholder'
  | 'comparator'
  /** A value in quotes. */
  | 'text'
  /** A value without quotes. */
  | 'word'
  | 'null'
  | 'list'
  | 'conjunction'
  | 'orderBy'
  | 'comma'
  | 'direction'
  | 'unknown'

export interface Token {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Tokens that may follow. A `comparison` may also be followed by what follows a condition; a `connection` admits only that. */
export type Expected = 'operand' | 'comparison' | 'value' | 'connection' | 'order' | 'direction'

interface Tokens {
  readonly tokens: readonly Token[]
  /** Kinds of tokens that may follow the last one. */
  readonly expected: Expected
}

/** Matches keywords, unless a longer name continues after them. */
const keyword = (words: string): RegExp => new RegExp(`(?:${words})(?![\\w$\\-.{\\u0080-\\uffff])`, 'iy')

const BLANKS = /[ \t\n\r]*/y
const OPERATORS = /[<>=!#%^&|]+/y
const COMPARATOR_SIGNS: ReadonlySet<string> = new Set('= == != # < <= > >= === !== ## % %%'.split(' '))
const COMPARATOR_WORD = keyword('like|eq|lt|lteq|lte|gt|gteq|gte|begin|in|is|eqeq|isnot|nene')
/** Matches `not` after a comparator: `= not x`. */
const NOT_BEHIND = /[ \t\n\r]*not(?=["':]|[ \t\n\r!#%&()<=>^|]|$)/iy
const TAKES_NOT = /^(?:=|==|===|like|eq|is|eqeq)$/i
const NOT = new RegExp(`!|${keyword('not').source}`, 'iy')
const CONJUNCTION = new RegExp(`&&|&|\\|\\||\\||\\^|${keyword('and|or|except').source}`, 'iy')
const ORDER_BY = keyword('order[ \\t\\n\\r]+by')
const DIRECTION = keyword('asc|desc')
const STEP_END = '(?:\\{[1-9]\\d?\\d?\\})?(?:\\[(?:[a-zA-Z]|\\d*)\\])?'
const pathOf = (nameSign: string): string => `${nameSign}+${STEP_END}(?:\\.${nameSign}+${STEP_END})*`
const PLAIN_PATH = new RegExp(pathOf('[\\w$\\-\\u0080-\\uffff]'), 'y')
const PATH = new RegExp(`${PLAIN_PATH.source}|"${pathOf('[^".[\\]{}]')}"|'${pathOf("[^'.[\\]{}]")}'`, 'y')
const PLACEHOLDER = /:[\w$\-\u0080-\uffff]+(?:\.[\w$\-\u0080-\uffff]+)*/y
const WORD_SIGN = '[^ \\t\\n\\r!#%&()<=>^|]'
const NULL = new RegExp(`null(?!${WORD_SIGN})`, 'iy')
/** Quotes after a backslash are left to the server. */
const WORD = new RegExp(`(?![\\\\"':[])${WORD_SIGN}+`, 'y')
const TEXT = /"[^"]*"|'[^']*'/y
const LIST = /\[(?:"(?:\\.|[^"\\])*"|'[^']*'|[^\]"'])*\]/sy
const ANY = /[^ \t\n\r]+/y

export function tokensOf(text: string): Tokens {
  const tokens: Token[] = []
  let expected: Expected = 'operand'
  let depth = 0
  let at = 0
  const matchAt = (pattern: RegExp, from = at): string | undefined => {
    pattern.lastIndex = from
    return pattern.exec(text)?.[0]
  }
  const take = (kind: TokenKind, tokenText: string | undefined, next: Expected): boolean => {
    if (!tokenText) return false
    tokens.push({ kind, start: at, end: at + tokenText.length, text: tokenText })
    expected = next
    at += tokenText.length
    return true
  }
  const comparator = (): string | undefined => {
    const signs = matchAt(OPERATORS)
    const spelling = signs === undefined ? matchAt(COMPARATOR_WORD) : COMPARATOR_SIGNS.has(signs) ? signs : undefined
    if (spelling === undefined || !TAKES_NOT.test(spelling)) return spelling
    return spelling + (matchAt(NOT_BEHIND, at + spelling.length) ?? '')
  }
  const takeConnection = (): boolean => {
    if (depth > 0 && text[at] === ')') {
      depth--
      return take('close', ')', 'connection')
    }
    return take('conjunction', matchAt(CONJUNCTION), 'operand') || takeOrderBy()
  }
  const takeOrderBy = (): boolean => depth === 0 && take('orderBy', matchAt(ORDER_BY), 'order')
  const takeNext = (): boolean => {
    switch (expected) {
      case 'operand':
        if (text[at] === '(') depth++
        return (
          (tokens.length === 0 && takeOrderBy()) ||
          take('open', text[at] === '(' ? '(' : undefined, 'operand') ||
          take('not', matchAt(NOT), 'operand') ||
          take('path', matchAt(PATH), 'comparison') ||
          take('placeholder', matchAt(PLACEHOLDER), 'comparison')
        )
      case 'comparison':
        return take('comparator', comparator(), 'value') || takeConnection()
      case 'value':
        return (
          take('text', matchAt(TEXT), 'connection') ||
          take('placeholder', matchAt(PLACEHOLDER), 'connection') ||
          take('null', matchAt(NULL), 'connection') ||
          take('list', matchAt(LIST), 'connection') ||
          take('word', matchAt(WORD), 'connection')
        )
      case 'connection':
        return takeConnection()
      case 'order':
        return take('path', matchAt(PATH), 'direction')
      case 'direction':
        return (
          take('direction', matchAt(DIRECTION), 'direction') ||
          take('comma', text[at] === ',' ? ',' : undefined, 'order')
        )
    }
  }
  for (;;) {
    at += matchAt(BLANKS)!.length
    if (at >= text.length) return { tokens, expected }
    if (!takeNext()) take('unknown', matchAt(ANY), expected)
  }
}

/** Parts of a filter: its conditions, and the list of an `order by` at its end. */
export function partsOf(filter: string): { readonly conditions: string; readonly order: string } {
  const orderBy = tokensOf(filter).tokens.find(({ kind }) => kind === 'orderBy')
  if (!orderBy) return { conditions: filter.trim(), order: '' }
  return { conditions: filter.slice(0, orderBy.start).trim(), order: filter.slice(orderBy.end).trim() }
}
