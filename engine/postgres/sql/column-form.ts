import type { Value } from '../../catalog/value.ts'
import type { Scalar } from '../../query/bind/predicate.ts'
import { type Domain, presenceTest } from './cut.ts'
import type { Unfit } from './unfit.ts'

/** How the values of an attribute are read from its column, and compared in SQL. */
export interface ColumnForm {
  /** SQL of the value as {@link read} takes it. @param columns SQL of each column, quoted, perhaps with the table */
  select(...columns: readonly string[]): string
  /** Value of a text that the database has sent. A value that the attribute cannot have is treated as null. */
  read(text: string): Value | Unfit
  /**
   * SQL that is true for values that the attribute can have, false or null for others; undefined if it can have all values of the column.
   */
  fits?(column: string): string
  /** False for an operand that can equal only values for which {@link fits} is not true. By default, true for all operands. */
  isValue?(operand: Scalar): boolean
  /** SQL of a value for which {@link fits} is true, which sorts as the attribute does; texts still have to be folded. */
  sorted(...columns: readonly string[]): string
  /** Values are texts, which are tested by their folds. */
  readonly isText: boolean
  /** Order in which {@link compared} is compared with operands; undefined if it is never compared. */
  readonly domain: Domain | undefined
  /** True if different values of the column are read as the same value, such as times without their microseconds. Never true for keys. */
  readonly isCut?: boolean
  /** SQL that is compared, in a form that indexes of the column serve. */
  compared(...columns: readonly string[]): string
  /** Type of parameters that are compared with the column as it is: keys and foreign keys. Undefined: {@link sorted} is compared, as text. */
  readonly identityType: string | undefined
  /** Text of a value for a parameter of {@link identityType}. */
  write(value: Value): string
  /** Value, which is not null, as the JSON that `json_to_record` converts to the type of the column. */
  json(value: Value): unknown
  /** Set if the value is sent as a text, which SQL converts. @param sql SQL of the text, or of null */
  convert?(sql: string): string
  /** Describes the value that is expected in place of one, not null, that the column would change. */
  readonly loss?: Loss<Value> | undefined
}

/**
 * Describes the value that is expected in place of one that the column would change: PostgreSQL rounds numbers and times, truncates texts,
 * drops parts of dates and wraps some integers without an error. Undefined if the column keeps the value, or refuses it.
 */
export type Loss<T> = (value: T) => string | undefined

/** A form whose values are compared and sorted as they are stored. */
export function plainForm(domain: Domain, parts: Pick<ColumnForm, 'read'> & Partial<ColumnForm>): ColumnForm {
  const isLimited = domain.above !== undefined || domain.below !== undefined || domain.also !== undefined
  const asIs = (column?: string): string => column!
  return {
    select: asIs,
    ...(isLimited && { fits: (column: string) => presenceTest(domain, column) }),
    sorted: asIs,
    compared: asIs,
    isText: false,
    domain,
    identityType: domain.type,
    write: value => String(value),
    json: value => (parts.write ?? String)(value),
    ...parts,
  }
}
