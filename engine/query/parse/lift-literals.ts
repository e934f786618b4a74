import { cachedParser, type ParseCacheLimits } from './parse-cache.ts'
import type { Expression, QuerySyntax, ValueSyntax } from './syntax-tree.ts'

/** A query text without its literals. Texts that differ only in literals have the same shape. */
interface Lifted {
  /** Text with `x`, `""` or `''` in place of each lifted literal. */
  readonly shape: string
  /** Lifted literals in the order of the text. */
  readonly literals: readonly string[]
  /** Positions of the literals in the shape. */
  readonly starts: readonly number[]
}

/** Placeholder of a literal without quotes. */
const BARE = 'x'
/** Maximum length; longer texts are rarely sent twice in one shape, and their parsing time does not matter. */
const MAX_LENGTH = 1_000
/** Escapes, lists and elements, class indexes, formulas, inside which other lexical rules may apply. */
const UNLIFTABLE = /[\\[\]{}$]/
const NEXT = /["']|[<=>!#%&|^]+/g
const COMPARING: ReadonlySet<string> = new Set([
  '=',
  '==',
  '===',
  '!=',
  '!==',
  '#',
  '##',
  '<',
  '<=',
  '>',
  '>=',
  '%',
  '%%',
])
const CONNECTING: ReadonlySet<string> = new Set(['!', '&', '&&', '|', '||', '^'])
/** A value that is not a placeholder and contains no quotes. */
const WORD = /[ \t\n\r]*(?!:)([\w.@*+,/:;?~\u0080-\uffff-]+)(?![^ \t\n\r<>=()#&^|%!])/y
/** Words that may be more than a literal: `= not :1` is a comparator and a placeholder. */
const KEYWORD = /^(?:null$|eval$|not$|not:)/i

/**
 * Lifts the literals out of a text: quoted ones, and words after a comparator that is written as a sign.
 *
 * The lexical rules here are narrower than those of the grammar. A word that is not certainly a literal stays in the text, or the
 * whole text is left unchanged.
 * @returns undefined when nothing can be lifted with certainty
 */
export function liftLiterals(text: string): Lifted | undefined {
  if (text.length > MAX_LENGTH || UNLIFTABLE.test(text)) return undefined
  const literals: string[] = []
  const starts: number[] = []
  let shape = ''
  let end = 0
  const lift = (start: number, literal: string, mark: string, after: number): void => {
    shape += text.slice(end, start)
    starts.push(shape.length)
    literals.push(literal)
    shape += mark
    end = after
  }
  NEXT.lastIndex = 0
  for (let next = NEXT.exec(text); next; next = NEXT.exec(text)) {
    const [sign] = next
    if (sign === '"' || sign === "'") {
      const close = text.indexOf(sign, next.index + 1)
      if (close < 0) return undefined
      lift(next.index, text.slice(next.index + 1, close), sign + sign, close + 1)
      NEXT.lastIndex = close + 1
    } else if (COMPARING.has(sign)) {
      WORD.lastIndex = NEXT.lastIndex
      const word = WORD.exec(text)?.[1]
      if (word === undefined || KEYWORD.test(word)) continue
      lift(WORD.lastIndex - word.length, word, BARE, WORD.lastIndex)
      NEXT.lastIndex = WORD.lastIndex
    } else if (!CONNECTING.has(sign)) return undefined
  }
  return literals.length > 0 ? { shape: shape + text.slice(end), literals, starts } : undefined
}

/**
 * Caches a parser by the shapes of texts: a recent result is found by its shape and its literals are filled in, in about a
 * microsecond instead of the 30 µs and more of the grammar. Texts without literals are found as they are.
 */
export function liftingParser(
  parse: (text: string) => QuerySyntax,
  cacheLimits: ParseCacheLimits,
): (text: string) => QuerySyntax {
  const parseText = cachedParser(parse, cacheLimits)
  const parseShape = cachedParser(shape => usableShape(parse, shape), cacheLimits)
  return text => {
    const liftedText = liftLiterals(text)
    const tree = liftedText && parseShape(liftedText.shape)
    return tree ? withLiterals(tree, liftedText) : parseText(text)
  }
}

/**
 * Syntax tree of a shape, if each of its marks is a literal in it. Then it is one in every text of this shape, because the
 * grammar only looks for the end of a literal. Otherwise the text itself is parsed, which also reports its errors.
 */
function usableShape(parse: (text: string) => QuerySyntax, shape: string): QuerySyntax | undefined {
  try {
    const tree = parse(shape)
    const starts = new Set(liftLiterals(shape)!.starts)
    let markCount = 0
    if (tree.condition) {
      mapValues(tree.condition, value => {
        if (isMark(value, starts)) markCount++
        return value
      })
    }
    return markCount === starts.size ? tree : undefined
  } catch {
    return undefined
  }
}

function withLiterals(tree: QuerySyntax, { literals, starts }: Lifted): QuerySyntax {
  const condition = mapValues(tree.condition!, value => {
    const index = value.kind === 'literal' ? starts.indexOf(value.span.start) : -1
    return index < 0 ? value : ({ ...value, text: literals[index]! } as ValueSyntax)
  })
  return { condition, orderBy: tree.orderBy }
}

const isMark = (value: ValueSyntax, starts: ReadonlySet<number>): boolean =>
  value.kind === 'literal' && starts.has(value.span.start)

/** Replaces the values of an expression, in the order of the text. Recursion is as deep as a short text can be. */
function mapValues(expression: Expression, change: (value: ValueSyntax) => ValueSyntax): Expression {
  switch (expression.kind) {
    case 'comparison':
      return { ...expression, value: change(expression.value) }
    case 'not':
      return { ...expression, operand: mapValues(expression.operand, change) }
    case 'group':
      return { ...expression, inner: mapValues(expression.inner, change) }
    case 'truth':
      return expression
    default: {
      const left = mapValues(expression.left, change)
      return { ...expression, left, right: mapValues(expression.right, change) }
    }
  }
}
