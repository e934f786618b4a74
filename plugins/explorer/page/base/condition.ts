/** Conditions in the text of a filter. */
import { partsOf, tokensOf } from './filter-tokens.ts'
import { type Attribute, NUMBERS, SCORE, shapeOf } from './model.ts'

/** A text as a value of a filter: in quotes of the kind that it does not contain, otherwise with their character code. */
export function quote(value: string): string {
  if (!value.includes('"')) return `"${value}"`
  return value.includes("'") ? `"${value.replaceAll('"', '\\u0022')}"` : `'${value}'`
}

/** `path = "value"`; with `===` if `@` would be a wildcard. */
export const equals = (path: string, value: string): string =>
  `${path} ${value.includes('@') ? '===' : '='} ${quote(value)}`

/** Maximum length of a text that is written into an address. */
const MAX_VALUE = 500
const BARE: ReadonlySet<string> = new Set([...NUMBERS, 'duration', 'bool'])

/**
 * Returns a condition on the value of an attribute as an answer has it; for an N→1 relation, the key of the entity.
 * @param path of the attribute, over relations
 * @returns undefined for values that no condition can express: images, objects, vectors, long texts, scores
 */
export function conditionOn(
  path: string,
  attribute: Attribute,
  value: unknown,
  comparator: '=' | '!=' = '=',
): string | undefined {
  if (path === SCORE) return undefined
  if (value == null) return `${path} ${comparator} null`
  if (typeof value === 'object') return undefined
  const text = String(value)
  if (text.length > MAX_VALUE) return undefined
  const shape = shapeOf(attribute)
  if (attribute.kind === 'relatedEntity') return `${path}.__KEY ${comparator} ${quote(text)}`
  if (BARE.has(shape)) return `${path} ${comparator} ${text}`
  if (shape === 'date') return `${path} ${comparator} ${quote(text)}`
  if (shape !== 'string' && shape !== 'uuid') return undefined
  // An exact comparison, in which `@` is not a wildcard.
  const exact = text.includes('@') ? (comparator === '=' ? '===' : '!==') : comparator
  return `${path} ${exact} ${quote(text)}`
}

const literal = (value: string | number): string => (typeof value === 'string' ? quote(value) : String(value))

/** A condition: the attribute's value is at least `from` and less than `to`. */
export const within = (path: string, from: string | number, to: string | number): string =>
  `${path} >= ${literal(from)} and ${path} < ${literal(to)}`

/** A filter with an added condition, before its `order by`. */
export function addCondition(filter: string, condition: string): string {
  const { conditions, order } = partsOf(filter)
  // Conjunctions bind from left to right; the parentheses only help human readers.
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

/** A filter without the entities that have a value: see {@link conditionOn}. Entities with null remain. */
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
    : value == null || attribute.mandatory
      ? other
      : `${other} or ${path} = null`
  return order ? `${without} order by ${order}` : without
}
