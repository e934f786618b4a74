/**
 * Single values against single values. Source: design decisions, query semantics; protocol notes, 2.3 to 2.8.
 */
import type { Comparator, Operand } from './condition.ts'
import type { Plain, ScalarType } from './world.ts'

/** True, false, or undefined for unknown. */
export type Truth = boolean | undefined

export const not = (a: Truth): Truth => (a === undefined ? undefined : !a)
export const and = (a: Truth, b: Truth): Truth =>
  a === false || b === false ? false : a === undefined || b === undefined ? undefined : true
export const or = (a: Truth, b: Truth): Truth => not(and(not(a), not(b)))

const folds = new Map<string, string>()

/** Folds letter by letter, whatever the neighbours of a letter: both small sigmas are equal. */
export function fold(text: string): string {
  let folded = folds.get(text)
  if (folded === undefined) {
    const withoutMarks = (each: string) => [...each.normalize('NFD')].filter(letter => !/\p{M}/u.test(letter))
    folded = withoutMarks(
      withoutMarks(text)
        .map(letter => letter.toLowerCase())
        .join(''),
    )
      .join('')
      .replace(/ς/g, 'σ')
    folds.set(text, folded)
  }
  return folded
}

/** True if a folded text matches a folded pattern, in which each `@` stands for any number of characters. */
export function fits(text: string, pattern: string): boolean {
  // reachable[i]: the part of the pattern read so far fits the first i code units.
  let reachable = Array.from({ length: text.length + 1 }, (_, i) => i === 0)
  for (const letter of pattern.split('')) {
    if (letter === '@') {
      const first = reachable.indexOf(true)
      reachable = reachable.map((_, i) => first >= 0 && i >= first)
    } else reachable = reachable.map((_, i) => i > 0 && reachable[i - 1]! && text[i - 1] === letter)
  }
  return reachable[text.length]!
}

const words = (folded: string): string[] => folded.split(/[^\p{L}\p{N}]+/u).filter(word => word !== '')

/** Sign of the difference between a stored number and a decimal text, without rounding for whole numbers. */
export function compareNumber(type: ScalarType, stored: number | bigint, text: string): number {
  if (type === 'number' || type === 'float') return sign(Number(stored), Number(text))
  const [, minus, whole, fraction = '', exponent = '0'] = /^([+-]?)(\d+)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text)!
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(`${whole}${fraction}`) * (minus === '-' ? -1n : 1n)
  return sign(BigInt(stored) * 10n ** BigInt(Math.max(0, scale)), digits * 10n ** BigInt(Math.max(0, -scale)))
}

export const sign = <T extends number | bigint | string>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * A stored value of a typed attribute against an operand made for that type.
 * @param isExact a text is equal to itself alone, unless the operand has wildcards
 */
export function compareTyped(
  type: ScalarType,
  stored: Plain,
  comparator: Comparator,
  operand: Operand,
  isExact = false,
): Truth {
  if (operand.kind === 'null') return againstNull(stored, comparator)
  if (stored === null) return undefined
  if (operand.kind === 'list') {
    return operand.values.some(value => compareTyped(type, stored, 'equal', { kind: 'value', value }, isExact) === true)
  }
  const { value } = operand
  if (type === 'string') {
    const isPattern = EXACT.indexOf(comparator) < 2 && (value as string).includes('@')
    return isExact && EXACT.includes(comparator) && !isPattern
      ? decide(comparator, sign(stored as string, value as string))
      : compareText(stored as string, comparator, value as string)
  }
  if (type === 'uuid')
    return decide(comparator, sign(fold(stored as string), fold((value as string).replaceAll('-', ''))))
  if (type === 'bool') return decide(comparator, sign(Number(stored), Number(value)))
  if (type === 'date' || type === 'duration') return decide(comparator, sign(stored as number, value as number))
  return decide(comparator, compareNumber(type, stored as number | bigint, value as string))
}

/** Comparators for equality; the first two take wildcards. */
const EXACT: readonly Comparator[] = ['equal', 'notEqual', 'is', 'isNot']

/** A JSON value, or undefined for a missing one, against an operand whose type matters; its numbers are decimal texts. */
export function compareJson(stored: unknown, comparator: Comparator, operand: Operand): Truth {
  if (operand.kind === 'null') return againstNull((stored ?? null) as Plain, comparator)
  if (stored === null || stored === undefined) return undefined
  if (operand.kind === 'list') {
    return operand.values.some(value => compareJson(stored, 'equal', { kind: 'value', value }) === true)
  }
  const { value } = operand
  if (typeof value === 'string' && typeof stored === 'string') return compareText(stored, comparator, value)
  if (typeof value === 'number' && typeof stored === 'number') return decide(comparator, sign(stored, value))
  if (typeof value === 'boolean' && typeof stored === 'boolean')
    return decide(comparator, sign(Number(stored), Number(value)))
  return comparator === 'notEqual' || comparator === 'isNot'
}

function againstNull(stored: Plain, comparator: Comparator): Truth {
  return (stored === null) === (comparator === 'equal' || comparator === 'is')
}

function compareText(stored: string, comparator: Comparator, value: string): boolean {
  const text = fold(stored)
  const other = fold(value)
  switch (comparator) {
    case 'equal':
      return fits(text, other)
    case 'notEqual':
      return !fits(text, other)
    case 'begin':
      return text.startsWith(other)
    case 'keyword':
      return words(text).some(word => fits(word, other))
    default:
      return decide(comparator, sign(text, other))
  }
}

function decide(comparator: Comparator, difference: number): boolean {
  switch (comparator) {
    case 'equal':
    case 'is':
      return difference === 0
    case 'notEqual':
    case 'isNot':
      return difference !== 0
    case 'less':
      return difference < 0
    case 'lessOrEqual':
      return difference <= 0
    case 'greater':
      return difference > 0
    case 'greaterOrEqual':
      return difference >= 0
    default:
      throw new Error(`${comparator} is for texts`)
  }
}
