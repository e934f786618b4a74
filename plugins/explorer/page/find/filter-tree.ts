/** Filters in the form that the builder shows. */
import { quote as quotedText } from '../base/condition.ts'
import { type Token, tokensOf } from '../base/filter-tokens.ts'

export type Conjunction = 'and' | 'or' | 'except'
export type Comparator = '=' | '!=' | '===' | '!==' | '<' | '<=' | '>' | '>=' | 'begin' | 'in' | '%'

/** A text in a filter, with or without quotes, which matters for attributes with objects. */
interface Literal {
  readonly text: string
  readonly quoted: boolean
}

export type Value =
  | { readonly kind: 'null' }
  | ({ readonly kind: 'literal' } & Literal)
  | { readonly kind: 'list'; readonly items: readonly Literal[] }

export type Condition =
  /** `path` as written, in quotes if necessary. */
  | { readonly kind: 'comparison'; readonly path: string; readonly comparator: Comparator; readonly value: Value }
  /** A boolean attribute without a comparator. */
  | { readonly kind: 'truth'; readonly path: string }
  | { readonly kind: 'group'; readonly terms: readonly Term[] }

export interface Term {
  /** Conjunction with all preceding terms; ignored for the first one. */
  readonly conjunction: Conjunction
  readonly isNegated: boolean
  readonly condition: Condition
}

export interface OrderTerm {
  readonly path: string
  readonly descending: boolean
}

export interface FilterTree {
  readonly terms: readonly Term[]
  readonly order: readonly OrderTerm[]
}

/**
 * The tree of a filter.
 * @returns undefined for filters that the builder cannot show: placeholders, values with backslashes, `not not`, and invalid ones
 */
export function treeOf(text: string): FilterTree | undefined {
  const { tokens, expected } = tokensOf(text)
  if (!ENDS.has(expected) && tokens.length > 0) return undefined
  const reader = new TokenReader(tokens)
  const terms = tokens.length === 0 || reader.peek() === 'orderBy' ? [] : readTerms(reader)
  const order = reader.next('orderBy') ? readOrder(reader) : []
  return terms && order && reader.isAtEnd ? { terms, order } : undefined
}

const ENDS: ReadonlySet<string> = new Set(['comparison', 'connection', 'direction'])

class TokenReader {
  #at = 0
  constructor(private readonly tokens: readonly Token[]) {}
  get isAtEnd(): boolean {
    return this.#at === this.tokens.length
  }
  peek(): Token['kind'] | undefined {
    return this.tokens[this.#at]?.kind
  }
  /** Consumes the next token if it is of this kind. */
  next(kind: Token['kind']): Token | undefined {
    return this.peek() === kind ? this.tokens[this.#at++] : undefined
  }
}

function readTerms(reader: TokenReader): readonly Term[] | undefined {
  const terms: Term[] = []
  for (let conjunction: Conjunction | undefined = 'and'; conjunction; ) {
    const isNegated = reader.next('not') !== undefined
    const condition = readCondition(reader)
    if (!condition) return undefined
    terms.push({ conjunction, isNegated, condition })
    const next = reader.next('conjunction')
    conjunction = next && CONJUNCTIONS[next.text.toLowerCase()]
  }
  return terms
}

const CONJUNCTIONS: Readonly<Record<string, Conjunction>> = {
  and: 'and',
  '&': 'and',
  '&&': 'and',
  or: 'or',
  '|': 'or',
  '||': 'or',
  except: 'except',
  '^': 'except',
}

function readCondition(reader: TokenReader): Condition | undefined {
  if (reader.next('open')) {
    const terms = readTerms(reader)
    return terms && reader.next('close') && { kind: 'group', terms }
  }
  const path = reader.next('path')?.text
  if (path === undefined) return undefined
  const comparator = reader.next('comparator')
  if (!comparator) return /^(?:and|or|except)(?:\[|$)/i.test(path) ? undefined : { kind: 'truth', path }
  const value = readValue(reader)
  return value && { kind: 'comparison', path, comparator: comparatorOf(comparator.text), value }
}

const SPELLINGS: Readonly<Record<string, Comparator>> = {
  '==': '=',
  like: '=',
  eq: '=',
  '#': '!=',
  is: '===',
  eqeq: '===',
  '##': '!==',
  isnot: '!==',
  nene: '!==',
  lt: '<',
  lte: '<=',
  lteq: '<=',
  gt: '>',
  gte: '>=',
  gteq: '>=',
  '%%': '%',
}
const NEGATED = { '=': '!=', '===': '!==' } as const

function comparatorOf(spelling: string): Comparator {
  const word = spelling.toLowerCase()
  const baseWord = word.replace(/\s*not$/, '')
  const comparator = SPELLINGS[baseWord] ?? (baseWord as Comparator)
  // `isnot` is in the table, unlike `is not`.
  if (word in SPELLINGS || baseWord === word) return SPELLINGS[word] ?? comparator
  return NEGATED[comparator as keyof typeof NEGATED]
}

function readValue(reader: TokenReader): Value | undefined {
  if (reader.next('null')) return { kind: 'null' }
  const textToken = reader.next('text')
  if (textToken) return { kind: 'literal', text: withoutCodes(textToken.text.slice(1, -1)), quoted: true }
  const word = reader.next('word')
  if (word) return canStandAlone(word.text) ? { kind: 'literal', text: word.text, quoted: false } : undefined
  const list = reader.next('list')
  const items = list && itemsOf(list.text.slice(1, -1))
  return items && { kind: 'list', items }
}

/** Replaces character codes, by which quotes inside a text are written. */
const withoutCodes = (text: string): string => text.replaceAll('\\u0027', "'").replaceAll('\\u0022', '"')

const ITEM = /[ \t\n\r]*(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([^"':,[\]\\ \t\n\r][^,[\]\\]*))[ \t\n\r]*(?:,|$)/sy

/** Items of a list, given without its brackets. */
export function itemsOf(text: string): readonly Literal[] | undefined {
  const items: Literal[] = []
  if (/^[ \t\n\r]*$/.test(text)) return items
  ITEM.lastIndex = 0
  let hasComma = true
  while (ITEM.lastIndex < text.length) {
    const match = ITEM.exec(text)
    if (!match) return undefined
    const [itemText, double, single, bare] = match
    items.push(
      double !== undefined
        ? { text: unescaped(double), quoted: true }
        : single !== undefined
          ? { text: withoutCodes(single), quoted: true }
          : { text: bare!.trimEnd(), quoted: false },
    )
    hasComma = itemText.endsWith(',')
  }
  return hasComma ? undefined : items
}

function unescaped(text: string): string {
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return withoutCodes(text)
  }
}

function readOrder(reader: TokenReader): readonly OrderTerm[] | undefined {
  const terms: OrderTerm[] = []
  do {
    const path = reader.next('path')?.text
    if (path === undefined) return undefined
    terms.push({ path, descending: reader.next('direction')?.text.toLowerCase() === 'desc' })
  } while (reader.next('comma'))
  return terms
}

/** The text of a tree. */
export function textOf({ terms, order }: FilterTree): string {
  const list = order.map(({ path, descending }) => (descending ? `${path} desc` : path)).join(', ')
  return [textOfTerms(terms), list && `order by ${list}`].filter(Boolean).join(' ')
}

const textOfTerms = (terms: readonly Term[]): string =>
  terms
    .map(({ conjunction, isNegated, condition }, index) =>
      [index > 0 && conjunction, isNegated && 'not', textOfCondition(condition)].filter(Boolean).join(' '),
    )
    .join(' ')

function textOfCondition(condition: Condition): string {
  switch (condition.kind) {
    case 'group':
      return `(${textOfTerms(condition.terms)})`
    case 'truth':
      return condition.path
    case 'comparison':
      return `${condition.path} ${condition.comparator} ${textOfValue(condition.value)}`
  }
}

function textOfValue(value: Value): string {
  switch (value.kind) {
    case 'null':
      return 'null'
    case 'literal':
      return value.quoted || !canStandAlone(value.text) ? quotedText(value.text) : value.text
    case 'list':
      return `[${value.items.map(({ text, quoted }) => (quoted || !canBeItem(text) ? JSON.stringify(text) : text)).join(', ')}]`
  }
}

/** Returns true if a value keeps its meaning without quotes. */
const canStandAlone = (text: string): boolean =>
  /^(?!["':[])[^ \t\n\r!#%&()<=>^|\\]+$/.test(text) && !/^(?:null$|not$|not["':])/i.test(text)
const canBeItem = (text: string): boolean => /^[^"':,[\]\\ \t\n\r][^,[\]\\]*$/.test(text) && text === text.trimEnd()
