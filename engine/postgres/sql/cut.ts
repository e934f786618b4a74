import type { Scalar } from '../../query/bind/predicate.ts'
import { arrayText } from './parameters.ts'

type Comparator = '<' | '<=' | '>' | '>='

/** Adds a parameter. @param type to which SQL casts the text @returns SQL such as `$1::int8` */
type Param = (text: string, type: string) => string

/** A place in the order of the values of a column: before or after a value, or at one end. */
export type Cut = { readonly at: string; readonly isBehind: boolean } | 'start' | 'end'

/** Order of the values of a column. */
export interface Domain {
  /** Type of the parameters. */
  readonly type: string
  /**
   * Places before and after the values that are equal to an operand. The same place twice if no value of the column can be equal: operands
   * may be finer than the type, or out of its range.
   */
  around(value: Scalar): readonly [Cut, Cut]
  /**
   * SQL of bounds. Values are greater than the first and less than the second; all others are treated as null: NaN, infinity, a late year.
   */
  readonly above?: string
  readonly below?: string
  /** SQL that is true for values within the bounds, except for those treated as null; undefined without exceptions. */
  also?(column: string): string
}

export const at = (text: string): readonly [Cut, Cut] => [
  { at: text, isBehind: false },
  { at: text, isBehind: true },
]

/** The place twice, for an operand to which nothing is equal. */
export const between = (cut: Cut): readonly [Cut, Cut] => [cut, cut]

/** SQL that is true for values in the given relation to an operand. An index of the column serves it. */
export function compare(domain: Domain, column: string, comparator: Comparator, value: Scalar, param: Param): string {
  const [front, back] = domain.around(value)
  const cut = comparator === '<' || comparator === '>=' ? front : back
  return comparator === '<' || comparator === '<='
    ? within(domain, column, 'start', cut, param)
    : within(domain, column, cut, 'end', param)
}

/** SQL that is true for values that are equal to one of some operands. An index of the column serves it. */
export function compareAny(domain: Domain, column: string, values: Iterable<Scalar>, param: Param): string {
  const points: string[] = []
  const conditions: string[] = []
  for (const value of values) {
    const [front, back] = domain.around(value)
    if (isPoint(front, back)) points.push(front.at)
    else if (!isSame(front, back)) conditions.push(within(domain, column, front, back, param))
  }
  if (points.length === 1) conditions.unshift(`${column} = ${param(points[0]!, domain.type)}`)
  if (points.length > 1) conditions.unshift(`${column} = ANY (${param(arrayText(points), `${domain.type}[]`)})`)
  return conditions.length === 0 ? NEVER : conditions.length === 1 ? conditions[0]! : `(${conditions.join(' OR ')})`
}

/** SQL that is true for all values except null and values treated as null. */
export const presenceTest = (domain: Domain, column: string): string =>
  within(domain, column, 'start', 'end', () => NEVER)

const NEVER = 'false'

type Place = Exclude<Cut, string>

const isPoint = (front: Cut, back: Cut): front is Place =>
  typeof front !== 'string' && typeof back !== 'string' && front.at === back.at && front.isBehind !== back.isBehind

const isSame = (front: Cut, back: Cut): boolean =>
  typeof front === 'string' || typeof back === 'string'
    ? front === back
    : front.at === back.at && front.isBehind === back.isBehind

/** SQL that is true for the values between two places. */
function within({ type, above, below, also }: Domain, column: string, front: Cut, back: Cut, param: Param): string {
  if (front === 'end' || back === 'start') return NEVER
  const conditions: string[] = []
  if (front !== 'start') conditions.push(`${column} ${front.isBehind ? '>' : '>='} ${param(front.at, type)}`)
  else if (above !== undefined) conditions.push(`${column} > ${above}`)
  if (back !== 'end') conditions.push(`${column} ${back.isBehind ? '<=' : '<'} ${param(back.at, type)}`)
  else if (below !== undefined) conditions.push(`${column} < ${below}`)
  if (also) conditions.push(also(column))
  if (conditions.length === 0) return `(${column} IS NOT NULL)`
  return conditions.length === 1 ? conditions[0]! : `(${conditions.join(' AND ')})`
}
