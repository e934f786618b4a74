import type { StorageAttribute } from '../../catalog/attribute.ts'

/** Maximum number of digits of a decimal. */
const DECIMAL_DIGITS = 18

/** Type of the column of an attribute, as `format_type` writes it. @param hasVectors the database has the type `vector` of pgvector */
export function columnType(
  { type, simpleDate, scale, vector }: Pick<StorageAttribute, 'type' | 'simpleDate' | 'scale' | 'vector'>,
  hasVectors: boolean,
): string {
  switch (type) {
    case 'bool':
      return 'boolean'
    case 'byte':
    case 'word':
      return 'smallint'
    case 'long':
      return 'integer'
    case 'long64':
    // Milliseconds.
    case 'duration':
      return 'bigint'
    case 'number':
    case 'float':
      return 'double precision'
    case 'decimal':
      return `numeric(${DECIMAL_DIGITS},${scale})`
    case 'date':
      return simpleDate ? 'date' : MOMENT
    case 'uuid':
      return 'uuid'
    case 'string':
      return 'text'
    case 'object':
      return 'jsonb'
    case 'vector':
      return hasVectors ? `vector(${vector!.dimension})` : VECTOR
    case 'image':
    case 'blob':
      return 'bytea'
  }
}

/** Type of a column of times, whose values have milliseconds. */
export const MOMENT = 'timestamp(3) with time zone'
const VECTOR = 'real[]'

const INTEGERS = ['smallint', 'integer', 'bigint']
const DIGITS: Readonly<Record<string, number>> = { smallint: 5, integer: 10 }

/** True if a column of one type can stay although another type is wanted: pgvector may have been installed later. */
export const isSameColumn = (from: string, to: string): boolean =>
  from === to || (from === VECTOR && to.startsWith('vector('))

/** SQL that converts every value of a column to another type; undefined if values could be lost or refused. */
export function wideningExpression(column: string, from: string, to: string): string | undefined {
  const digits = DIGITS[from]
  if (INTEGERS.includes(from) && INTEGERS.indexOf(to) > INTEGERS.indexOf(from)) return `${column}::${to}`
  if (digits && to === 'double precision') return `${column}::${to}`
  const [, scale] = /^numeric\(18,(\d+)\)$/.exec(to) ?? []
  if (digits && scale && digits + Number(scale) <= DECIMAL_DIGITS) return `${column}::${to}`
  if (from === 'date' && to === MOMENT) return `(${column}::timestamp AT TIME ZONE 'UTC')`
  if (to !== 'text') return undefined
  if (/^character varying/.test(from) || INTEGERS.includes(from) || from === 'boolean') return `${column}::text`
  return from === 'uuid' ? `upper(replace(${column}::text, '-', ''))` : undefined
}
