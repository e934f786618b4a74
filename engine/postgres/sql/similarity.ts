import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { SortKey } from '../../query/bind/bind-order-by.ts'
import type { SimilarityPredicate } from '../../query/bind/bind-scores.ts'
import { lengthOf, type ScoreTest, type Similarity, wantsAbove } from '../../vector/math/similarity.ts'
import { quoteName } from './quote.ts'
import type { RemoteTable } from './remote-table.ts'
import type { Parameters } from './parameters.ts'

/** A table in a statement. */
interface Place {
  readonly table: RemoteTable
  readonly alias: string
}

interface VectorColumn {
  readonly sql: string
  /** True if the column is a `vector` of pgvector, not an array of numbers. */
  readonly isVector: boolean
  /** SQL that is true for values that the attribute can have, and perhaps for numbers that are not finite. */
  readonly fits: string | undefined
}

/** Operators of pgvector, whose results are distances: smaller ones are nearer. */
const OPERATORS = { cosine: '<=>', euclidean: '<->', dot: '<#>' } as const
/** Lengths of vectors between which pgvector, which calculates in single precision, neither overflows nor underflows. */
const MIN_LENGTH = 1e-15
const MAX_LENGTH = 1e15

/** SQL that is true for the rows of a condition on a vector. The score is exactly that of the store. */
export function similarityTest(
  { attribute, similarity, test }: SimilarityPredicate,
  place: Place,
  parameters: Parameters,
): string {
  const column = columnOf(attribute, place)
  const score = scoreSql(column, similarity, parameters)
  if (!test) return `${score} IS NOT NULL`
  const comparator = { less: '<', lessOrEqual: '<=', greater: '>', greaterOrEqual: '>=' }[test.comparator]
  const passes = `${score} ${comparator} ${parameters.add(String(test.threshold), 'float8')}`
  const near = column.isVector ? nearSql(column, similarity, test, parameters) : undefined
  // The planner tests the cheap condition first.
  if (near === undefined) return passes
  return column.fits === undefined
    ? `(${near} AND ${passes})`
    : `(CASE WHEN ${column.fits} THEN ${near} END AND ${passes})`
}

/** SQL of an order by score. A missing score is lowest. */
export function similarityOrder(
  { attribute, similarity, descending }: SortKey,
  place: Place,
  parameters: Parameters,
): string {
  const column = columnOf(attribute as StorageAttribute, place)
  return `${scoreSql(column, similarity!, parameters)} ${descending ? 'DESC NULLS LAST' : 'ASC NULLS FIRST'}`
}

function columnOf(attribute: StorageAttribute, { table, alias }: Place): VectorColumn {
  const { name, type } = table.columns.get(attribute)![0]!
  const sql = `${alias}.${quoteName(name)}`
  const isVector = type === 'vector'
  if (type !== '_float4') return { sql, isVector, fits: table.forms.get(attribute)!.fits?.(sql) }
  // The score tells whether all numbers are finite.
  const isWhole = `array_ndims(${sql}) = 1 AND cardinality(${sql}) = ${attribute.vector!.dimension} AND CASE WHEN array_ndims(${sql}) = 1 THEN array_position(${sql}, NULL) IS NULL END`
  return { sql, isVector, fits: isWhole }
}

/** SQL of a score in double precision, with the same operations in the same order as `scoreOf`. Null without a vector or a score. */
function scoreSql({ sql, fits }: VectorColumn, { metric, vector }: Similarity, parameters: Parameters): string {
  const other = parameters.once(`{${vector.join(',')}}`, 'float8[]')
  const pairs = `FROM unnest(${sql}::float4[]::float8[], ${other}) AS u (a, b)`
  const score = (condition: string, value: string): string => {
    const sql = `(SELECT CASE WHEN ${condition} THEN ${value} END ${pairs})`
    return fits === undefined ? sql : `CASE WHEN ${fits} THEN ${sql} END`
  }
  const finite = (sum: string): string => `abs(${sum}) < 'Infinity'`
  if (metric === 'euclidean') return score(finite('sum((a - b) * (a - b))'), 'sqrt(sum((a - b) * (a - b)))')
  if (metric === 'dot') return score(finite('sum(a * b)'), 'sum(a * b)')
  return score(
    `sum(a * a) > 0 AND ${finite('sum(a * a)')} AND sum(b * b) > 0`,
    'greatest(-1, least(1, sum(a * b) / sqrt(sum(a * a) * sum(b * b))))',
  )
}

const distanceSql = ({ sql }: VectorColumn, { metric, vector }: Similarity, parameters: Parameters): string =>
  `${sql} ${OPERATORS[metric]} ${parameters.once(`[${vector.join(',')}]`, 'vector')}`

/**
 * SQL of a condition by distances of pgvector, with a margin for rounding errors: it is true for all rows that pass, and for few others. A
 * sum of d products in single precision differs from the exact sum by at most (d + 3) · 2^-24 of the sum of their absolute values, in any
 * order.
 * @returns undefined if pgvector cannot narrow the rows
 */
function nearSql(
  column: VectorColumn,
  similarity: Similarity,
  test: ScoreTest,
  parameters: Parameters,
): string | undefined {
  const { metric, vector } = similarity
  const { threshold } = test
  const length = lengthOf(vector)
  if (length < MIN_LENGTH || length > MAX_LENGTH || Math.abs(threshold) > MAX_LENGTH) return undefined
  const error = 4 * (vector.length + 8) * 2 ** -24
  const { add } = parameters
  const distance = `(${distanceSql(column, similarity, parameters)})`
  const norm = `vector_norm(${column.sql})`
  const isOrdinary = `${norm} BETWEEN ${MIN_LENGTH} AND ${MAX_LENGTH}`
  const number = (value: number): string => add(String(value), 'float8')
  const room =
    metric === 'cosine'
      ? number(error)
      : metric === 'dot'
        ? `${number(error * length)} * ${norm}`
        : number(error * Math.abs(threshold) + MIN_LENGTH)
  const limit = number(metric === 'cosine' ? 1 - threshold : metric === 'dot' ? -threshold : threshold)
  const isBelow = wantsAbove(test) !== (metric === 'euclidean')
  const near = isBelow ? `${distance} <= ${limit} + ${room}` : `${distance} >= ${limit} - ${room}`
  return `((${isOrdinary}) IS NOT TRUE OR ${near})`
}
