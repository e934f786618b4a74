/** Completion of filters: proposals for a place in a text. */
import { quote } from '../base/condition.ts'
import { type Expected, type Token, tokensOf } from '../base/filter-tokens.ts'
import { type Attribute, attributeOf, type DataClass, isRelation, isVector, shapeOf } from '../base/model.ts'

export interface Proposal {
  readonly text: string
  readonly kind: 'attribute' | 'relation' | 'comparator' | 'keyword' | 'value'
  /** Type of an attribute, or dataclass of a relation. */
  readonly detail?: string
}

export interface Completion {
  /** Start of the text that is replaced, which ends at the cursor. */
  readonly start: number
  readonly proposals: readonly Proposal[]
  /** Attribute whose values with this prefix may be requested. */
  readonly values?: { readonly dataClass: DataClass; readonly attribute: Attribute; readonly prefix: string }
}

/** Dataclass at the other end of a relation. */
type Target = (relation: Attribute) => DataClass | undefined

/** Attributes that every entity has in addition. */
const HEAD: readonly Attribute[] = ['__KEY', '__STAMP', '__TIMESTAMP', '__GlobalStamp'].map(name => ({
  name,
  kind: 'storage',
  type: name === '__KEY' ? 'string' : name === '__TIMESTAMP' ? 'date' : 'long',
}))

/** @param text text before the cursor */
export function completionAt(text: string, dataClass: DataClass, target: Target): Completion | undefined {
  const { tokens, expected } = tokensOf(text)
  const value = valueAt(text, tokens)
  if (value) return valuesOf(value, dataClass, target)
  const last = tokens.at(-1)
  const isTouching = last?.end === text.length
  if (last?.kind === 'path' && isTouching) return steps(last, expected, dataClass, target)
  if (last?.kind === 'unknown' && isTouching) {
    const before = tokens.slice(0, -1)
    const path = before.at(-1)
    if (last.text === '.' && path?.kind === 'path' && path.end === last.start) {
      return steps({ ...path, text: `${path.text}.` }, expected, dataClass, target)
    }
    return { start: last.start, proposals: following(expected, before, dataClass, target) }
  }
  if (last && isTouching && last.kind !== 'open' && last.kind !== 'comma') return undefined
  return { start: text.length, proposals: following(expected, tokens, dataClass, target) }
}

/** Proposals for the next token. */
function following(
  expected: Expected,
  tokens: readonly Token[],
  dataClass: DataClass,
  target: Target,
): readonly Proposal[] {
  switch (expected) {
    case 'operand':
      return [...names(dataClass), ...words('not')]
    case 'comparison': {
      const attribute = attributeAt(tokens.at(-1)?.text ?? '', dataClass, target)?.attribute
      return [...comparators(attribute), ...(attribute?.type === 'bool' ? connections(tokens) : [])]
    }
    case 'connection':
      return connections(tokens)
    case 'order':
      return names(dataClass)
    case 'direction':
      return words('asc', 'desc')
    case 'value':
      return []
  }
}

const words = (...texts: string[]): Proposal[] => texts.map(text => ({ text, kind: 'keyword' }))

function connections(tokens: readonly Token[]): Proposal[] {
  const depth = tokens.reduce((sum, { kind }) => sum + (kind === 'open' ? 1 : kind === 'close' ? -1 : 0), 0)
  return words('and', 'or', 'except', depth > 0 ? ')' : 'order by')
}

/** Completions for the last step of a path. */
function steps(path: Token, expected: Expected, dataClass: DataClass, target: Target): Completion | undefined {
  const owner = ownerOf(path.text, dataClass, target)
  if (!owner) return undefined
  const mayBeNot = expected === 'comparison' && !path.text.includes('.')
  const start = path.start + path.text.lastIndexOf('.') + 1
  return { start, proposals: [...names(owner), ...(mayBeNot ? words('not') : [])] }
}

/** The dataclass to which the last step of a path belongs. */
function ownerOf(path: string, dataClass: DataClass, target: Target): DataClass | undefined {
  const [, ...relations] = path.split('.').reverse()
  return relations.reverse().reduce<DataClass | undefined>((owner, step) => {
    const relation = owner && attributeOf(owner, step.replace(/[{[].*/, ''))
    return relation && isRelation(relation) ? target(relation) : undefined
  }, dataClass)
}

/** The attribute at the end of a path, with its dataclass. */
export function attributeAt(
  path: string,
  dataClass: DataClass,
  target: Target,
): { readonly dataClass: DataClass; readonly attribute: Attribute } | undefined {
  const plainPath = path.replace(/^["']|["']$/g, '')
  const owner = ownerOf(plainPath, dataClass, target)
  const name = plainPath.slice(plainPath.lastIndexOf('.') + 1).replace(/[{[].*/, '')
  const attribute = owner && attributeNamed(owner, name)
  return attribute && { dataClass: owner, attribute }
}

/** Returns true if the user may see every name of a filter, which another user may have written earlier. */
export const isKnown = (filter: string, dataClass: DataClass, target: Target): boolean =>
  tokensOf(filter).tokens.every(({ kind, text }) => kind !== 'path' || isKnownPath(text, dataClass, target))

function isKnownPath(path: string, dataClass: DataClass, target: Target): boolean {
  let owner: DataClass | undefined = dataClass
  for (const step of path.replace(/^["']|["']$/g, '').split('.')) {
    const name = step.replace(/[{[].*/, '')
    const attribute: Attribute | undefined = owner && attributeNamed(owner, name)
    if (!attribute) return false
    // The rest are properties of objects, which the catalog does not list.
    if (!isRelation(attribute)) return true
    owner = target(attribute)
  }
  return true
}

const attributeNamed = (dataClass: DataClass, name: string): Attribute | undefined =>
  attributeOf(dataClass, name) ?? HEAD.find(each => each.name === name)

function names({ attributes }: DataClass): Proposal[] {
  return [...attributes, ...HEAD].map(attribute => {
    const { name, type } = attribute
    const text = /^[\w$\-\u0080-\uffff]+$/.test(name) ? name : `"${name}"`
    return isRelation(attribute)
      ? { text, kind: 'relation', detail: type }
      : { text, kind: 'attribute', detail: shapeOf(attribute) }
  })
}

const EQUAL = ['=', '!=']
const ORDERED = ['<', '<=', '>', '>=']

/** Comparators that suit an attribute, the most common first. */
export function comparatorsFor(attribute: Attribute | undefined): readonly string[] {
  if (!attribute) return [...EQUAL, ...ORDERED, 'begin', 'in', '%']
  if (isRelation(attribute)) return EQUAL
  if (isVector(attribute)) return [...ORDERED, ...EQUAL]
  switch (attribute.type) {
    case 'bool':
    case 'image':
    case 'blob':
      return EQUAL
    case 'string':
      return [...EQUAL, 'begin', '%', 'in', '===', '!==', ...ORDERED]
    case 'object':
      return [...EQUAL, ...ORDERED, 'begin', 'in', '%']
    default:
      return [...EQUAL, ...ORDERED, 'in']
  }
}

const comparators = (attribute: Attribute | undefined): Proposal[] =>
  comparatorsFor(attribute).map(text => ({ text, kind: 'comparator' }))

interface BegunValue {
  readonly path: string
  readonly start: number
  /** Text so far, without quotes. */
  readonly prefix: string
}

/** The unfinished value at the end of a text, if there is one. */
function valueAt(text: string, tokens: readonly Token[]): BegunValue | undefined {
  const at = tokens.findLastIndex(({ kind }) => kind === 'comparator')
  const path = tokens[at - 1]
  if (at < 0 || path?.kind !== 'path') return undefined
  const [first] = tokens.slice(at + 1)
  if (!first) return tokens[at]!.end < text.length ? { path: path.text, start: text.length, prefix: '' } : undefined
  const valueText = text.slice(first.start)
  // An open quote makes the rest of the text unknown.
  if (first.kind === 'unknown' && /^["'][^"']*$/.test(valueText)) {
    return { path: path.text, start: first.start, prefix: valueText.slice(1) }
  }
  return first.kind === 'word' && first.end === text.length
    ? { path: path.text, start: first.start, prefix: first.text }
    : undefined
}

function valuesOf({ path, start, prefix }: BegunValue, dataClass: DataClass, target: Target): Completion | undefined {
  const match = attributeAt(path, dataClass, target)
  if (!match) return undefined
  const { attribute } = match
  const constants = attribute.type === 'bool' ? ['true', 'false', 'null'] : ['null']
  const proposals = constants.map<Proposal>(text => ({ text, kind: 'value' }))
  const isAsked = attribute.kind === 'storage' && attribute.type === 'string' && attribute.indexed
  return isAsked ? { start, proposals, values: { ...match, prefix } } : { start, proposals }
}

/** Values of an attribute in the form that a filter has. */
export const valueProposals = (values: readonly unknown[]): Proposal[] =>
  values.flatMap(value =>
    typeof value === 'string' && value !== '' ? [{ text: quote(value), kind: 'value' as const }] : [],
  )
