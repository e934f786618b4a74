/** Conditions in the text of a filter. */
import { partsOf, tokensOf } from './filter-tokens.ts'
import { type Attribute, SCORE, shapeOf } from './model.ts'

/** A text as a value: in the quotes that it does not hold, otherwise with their character code. */
export function quoted(value: string): string {
  if (!value.includes('"')) return `"${value}"`
  return value.includes("'") ? `"${value.replaceAll('"', '\\u0022')}"` : `'${value}'`
}

/** `path = "value"`; `===` where `@` would be a wildcard. */
export const equals = (path: string, value: string): string =>
  `${path} ${value.includes('@') ? '===' : '='} ${quoted(value)}`

/** Longer texts are not written into addresses. */
const MAX_VALUE = 500
const BARE: ReadonlySet<string> = new Set([
  'byte',
  'word',
  'long',
  'long64',
  'number',
  'float',
  'decimal',
  'duration',
  'bool',
])

/**
 * A condition on the value of an attribute as an answer holds it; of an N→1 relation the key of the entity.
 * @param path of the attribute, over relations
 * @returns undefined for values that no condition can name: images, objects, vectors, long texts, scores
 */
export function conditionOn(
  path: string,
  attribute: Attribute,
  value: unknown,
  comparator: '=' | '!=' = '=',
): string | undefined {
  if (path === SCORE) return undefined
  if (value === null || value === undefined) return `${path} ${comparator} null`
  if (typeof value === 'object') return undefined
  const text = String(value)
  if (text.length > MAX_VALUE) return undefined
  const shape = shapeOf(attribute)
  if (attribute.kind === 'relatedEntity') return `${path}.__KEY ${comparator} ${quoted(text)}`
  if (BARE.has(shape)) return `${path} ${comparator} ${text}`
  if (shape === 'date') return `${path} ${comparator} ${quoted(text)}`
  if (shape !== 'string' && shape !== 'uuid') return undefined
  // Without the wildcard `@`.
  const exact = text.includes('@') ? (comparator === '=' ? '===' : '!==') : comparator
  return `${path} ${exact} ${quoted(text)}`
}

const literal = (value: string | number): string => (typeof value === 'string' ? quoted(value) : String(value))

/** The condition that an attribute has a value from `from` to below `to`. */
export const within = (path: string, from: string | number, to: string | number): string =>
  `${path} >= ${literal(from)} and ${path} < ${literal(to)}`

/** A filter with a further condition, before its `order by`. */
export function narrowed(filter: string, condition: string): string {
  const { conditions, order } = partsOf(filter)
  // Conjunctions bind from left to right; parentheses only help people to read it.
  const before = conditions && (isAllAnd(conditions) ? conditions : `(${conditions})`)
  return [before && `${before} and`, condition, order && `order by ${order}`].filter(Boolean).join(' ')
}

function isAllAnd(conditions: string): boolean {
  let depth = 0
  return tokensOf(conditions).tokens.every(({ kind, text }) => {
    if (kind === 'open') depth++
    if (kind === 'close') depth--
    return depth > 0 || kind !== 'conjunction' || /^(?:and|&&?)$/i.test(text)
  })
}

/** A filter without the entities that have a value: see {@link conditionOn}. Those with null stay. */
export function narrowedByOther(
  filter: string,
  path: string,
  attribute: Attribute,
  value: unknown,
): string | undefined {
  const { conditions, order } = partsOf(filter)
  const same = conditionOn(path, attribute, value)
  const other = conditionOn(path, attribute, value, '!=')
  if (same === undefined || other === undefined) return undefined
  const without = conditions
    ? `${conditions} except ${same}`
    : value === null || value === undefined || attribute.mandatory
      ? other
      : `${other} or ${path} = null`
  return order ? `${without} order by ${order}` : without
}
